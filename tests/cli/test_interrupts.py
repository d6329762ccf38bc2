"""Ctrl-C in a process of its own: exit code 130, one sentence, files complete or absent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.fruit import METHOD, SMALL, settings, table
from cli.raw import raw_frame, raw_table

import nearlinear

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGINT of another process")
SOURCE = Path(nearlinear.__file__).parent.parent
SECONDS = 120
# Shells start background processes with SIGINT ignored, and their children inherit that.
MAIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from nearlinear.cli import main
sys.exit(main())
"""


@pytest.fixture
def start(tmp_path):
    """Starts a command in ``tmp_path``; gives the process."""
    processes = []

    def run(*words, **options):
        command = [sys.executable, "-c", MAIN, *map(str, words)]
        environment = os.environ | {"PYTHONPATH": str(SOURCE)} | options.pop("environment", {})
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        processes.append(
            subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes)
        )
        return processes[-1]

    yield run
    for process in processes:
        process.kill()
        process.communicate()


def wait_for_line(stream, word):
    """Read lines until one contains ``word``."""
    for line in stream:
        if word in line:
            return
    raise AssertionError(f"the process ended without a line with {word!r}")


def wait_for_file(path):
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def interrupt(process, n_times=1):
    """Send SIGINT; return the exit code and the last line of standard error."""
    for _ in range(n_times):
        process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=SECONDS)[1]
    return process.returncode, errors.splitlines()[-1]


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_fit_writes_the_best_model_so_far(start, tmp_path):
    raw_table(tmp_path)
    process = start("fit", "raw.csv", "--target", "heavy", "--out", "best.nlm")
    wait_for_line(process.stderr, "best on the first part")
    code, sentence = interrupt(process)
    assert code == 130
    assert sentence == (
        "nearlinear fit: interrupted; the best model so far was written to best.nlm"
    )
    assert files_in(tmp_path) == ["best.nlm", "raw.csv"]
    assert hasattr(nearlinear.load(tmp_path / "best.nlm"), "predict")


def test_a_second_interrupt_ends_a_fit_with_a_whole_model_or_none(start, tmp_path):
    raw_table(tmp_path)
    process = start("fit", "raw.csv", "--target", "heavy")
    wait_for_line(process.stderr, "best on the first part")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    code, sentence = interrupt(process)
    assert code == 130
    assert sentence.startswith("nearlinear fit: interrupted")
    if "model.nlm" in sentence:
        nearlinear.load(tmp_path / "model.nlm")
    assert set(files_in(tmp_path)) <= {"model.nlm", "raw.csv"}


def test_fit_in_blocks_writes_the_best_model_so_far(start, tmp_path):
    (tmp_path / "parts").mkdir()
    # A search of few rows can end before a first result is shown.
    raw_frame(5000).to_csv(tmp_path / "parts" / "raw.csv", index=False)
    process = start("fit", "parts", "--target", "heavy")
    wait_for_line(process.stderr, "best on the first part")
    code, sentence = interrupt(process)
    assert (code, sentence.split("; ")[0]) == (130, "nearlinear fit: interrupted")
    nearlinear.load(tmp_path / "model.nlm")


def test_fit_of_one_method_writes_nothing(start, tmp_path):
    table(tmp_path)
    slow = settings(**{**SMALL, "max_iter": 10**9})
    process = start("fit", "train.csv", "--target", "kind", *METHOD, *slow, "--hold-out", 0)
    wait_for_line(process.stderr, "fitting")
    assert interrupt(process) == (130, "nearlinear fit: interrupted")
    assert files_in(tmp_path) == ["train.csv"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["compare", "raw.csv", "--target", "heavy", "--report", "page.html"], "best on the first"),
        (["compare", "raw.csv", "--target", "heavy", "--families", "linear"], "] "),
        (["demo", "--quick", "--out", "demo"], "best on the first"),
        (["warmup"], "[1/"),
    ],
)
def test_commands_without_a_result_so_far_write_nothing(words, line, start, tmp_path):
    raw_table(tmp_path)
    process = start(*words)
    wait_for_line(process.stderr, line)
    assert interrupt(process, n_times=2) == (130, f"nearlinear {words[0]}: interrupted")
    assert files_in(tmp_path) == ["raw.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "model.nlm", "-", "--out", "answers.csv", "--rows", "10"],
        ["score", "model.nlm", "-", "--target", "kind"],
    ],
)
def test_a_stream_of_rows_is_interrupted(words, fit, start, tmp_path):
    data = Path(table(tmp_path))
    fit(data, "--target", "kind")
    header, *lines = data.read_text().splitlines(keepends=True)
    process = start(*words)
    # a pipe holds less than this, so that the command has begun to read when it is written
    process.stdin.write(header + "".join(lines) * 200)
    assert interrupt(process) == (130, f"nearlinear {words[0]}: interrupted")
    assert files_in(tmp_path) == ["model.nlm", "train.csv"]


def test_an_export_that_is_checked_is_complete(fit, start, tmp_path):
    fit(table(tmp_path), "--target", "kind")
    compiler = tmp_path / "bin" / "cc"
    compiler.parent.mkdir()
    compiler.write_text("#!/bin/sh\ntouch started\nexec sleep 600\n")
    compiler.chmod(0o755)
    path = f"{compiler.parent}{os.pathsep}{os.environ['PATH']}"
    process = start("export", "model.nlm", "out/model.c", environment={"PATH": path})
    wait_for_file(tmp_path / "started")
    assert interrupt(process) == (130, "nearlinear export: interrupted")
    names = ["model.c", "model.h", "model_cost.txt", "model_test.c"]
    assert files_in(tmp_path / "out") == names
