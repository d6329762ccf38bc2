"""Commands as a user would type them."""

import warnings

import pytest
from cli.fruit import METHOD, SMALL, settings

import nearlinear
from nearlinear.cli import main


@pytest.fixture
def fit(tmp_path):
    """Fits a small model of a table; gives what is loaded from its file."""

    def run(data, *arguments, **values):
        out = tmp_path / "model.nlm"
        words = ["fit", str(data), "--out", str(out), *settings(**(values or SMALL)), *arguments]
        words += [] if "--method" in arguments else METHOD
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert main(words) == 0
        return nearlinear.load(out)

    return run


@pytest.fixture
def refused_command(capsys, tmp_path):
    """Runs a command that must fail with one line, and leaves no trace; gives that line."""

    def run(command, *arguments):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        assert main([command, *map(str, arguments)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        assert line.startswith(f"nearlinear {command}: ")
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        return line

    return run


@pytest.fixture
def refused_fit(refused_command, tmp_path):
    """A ``fit`` that must fail, of a table to a file."""

    def run(data, *arguments, out="model.nlm"):
        return refused_command("fit", data, "--out", tmp_path / out, "--json", *arguments)

    return run
