"""The one model that every target is measured with: digits of 8 × 8 pixels, twenty anchors."""

import ctypes
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.report import Result
from nearlinear import LLSVMClassifier
from nearlinear.export.c.source import to_c

BOARD = Path(__file__).parents[1] / "examples" / "microcontroller"
# What is compiled for, and the board of QEMU that has it.
CHIPS = {
    "Cortex-M4F": ("mps2-an386", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mthumb"),
    "Cortex-M3": ("mps2-an385", "-mcpu=cortex-m3 -mthumb"),
}


def c_results(task, folder):
    for dtype in ("float32", "int8"):
        written = c_sources(task, folder, dtype)
        if shutil.which("gcc"):
            yield from _host(task, written, dtype)
        if shutil.which("arm-none-eabi-gcc"):
            for chip in CHIPS:
                yield from _chip(written, chip, dtype)


def _host(task, written, dtype):
    library = shared_library(written)
    scores = scores_of(library, task.rows, task.scores.shape[1])
    case = f"C, {dtype}"
    yield Result(case, "size", library.stat().st_size / 1e3, "kB", note="shared library")
    yield Result(case, "difference", task.difference(scores), "%", note="of the largest score")
    yield Result(case, "labels", task.agreement(scores.argmax(axis=1)), "%")
    program, speed = written.source.with_name("speed"), Path(__file__).with_name("deploy_speed.c")
    words = ["gcc", "-O2", "-std=c99", f"-I{written.source.parent}", "-o", program]
    subprocess.run([*words, written.source, speed, "-lm"], check=True)
    nanoseconds = _printed([program]).splitlines()[-1]
    yield Result(case, "one row", float(nanoseconds) / 1e3, "µs")


def _chip(written, chip, dtype):
    board, options = CHIPS[chip]
    folder, case = written.source.parent, f"{chip}, {dtype}"
    compiler = ["arm-none-eabi-gcc", *options.split(), "-Os", "-std=c99", "-ffunction-sections"]
    made = folder / "model.o"
    subprocess.run([*compiler, "-c", written.source, "-o", made], check=True)
    sections = re.findall(r"^\.(text|rodata|data|bss)\S*\s+(\d+)", _printed(
        ["arm-none-eabi-size", "-A", made]), re.M)  # fmt: skip
    for name in ("text", "rodata", "data", "bss"):
        n_bytes = sum(int(size) for section, size in sections if section == name)
        yield Result(case, f".{name}", n_bytes, "bytes", note=f"to_c says {written.flash_bytes}")
    if shutil.which("qemu-system-arm") is None:
        return
    image = folder / "model.elf"
    libraries = ["--specs=rdimon.specs", "-nostartfiles", "-Wl,--gc-sections"]
    sources = [BOARD / "startup.c", written.source, BOARD / "count.c", "-lm"]
    where = [f"-I{folder}", "-T", BOARD / "cortex_m.ld", "-o", image]
    subprocess.run([*compiler, *libraries, *where, *sources], check=True)
    qemu = ["qemu-system-arm", "-M", board, "-nographic", "-semihosting", "-icount", "shift=0"]
    agree, count = _printed([*qemu, "-kernel", image]).splitlines()
    yield Result(case, "one row", int(count.split()[0]), "instructions", note=agree)


def _printed(words):
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )
    return done.stdout


@dataclass(frozen=True)
class Task:
    """A fitted pipeline, its test rows in float32, and many rows like them for timing."""

    model: object
    rows: np.ndarray
    labels: np.ndarray
    many: np.ndarray

    @property
    def scores(self):
        return self.model.decision_function(self.rows)

    def difference(self, scores):
        """The largest difference of scores, in percent of the largest score."""
        away = np.abs(np.asarray(scores, dtype=float) - self.scores).max()
        return float(100 * away / np.abs(self.scores).max())

    def agreement(self, labels):
        """The share of rows whose label is the model's, in percent."""
        return float(100 * np.mean(np.asarray(labels) == self.model.predict(self.rows)))


def made_task(n_many):
    X, y = load_digits(return_X_y=True)
    split = train_test_split(X.astype(np.float32), y, test_size=0.3, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = split
    model = make_pipeline(StandardScaler(), LLSVMClassifier(20, random_state=0))
    many = np.random.default_rng(0).choice(X_test, n_many)
    return Task(model.fit(X_train, y_train), X_test, y_test, many)


def per_call(work, n_rows=1, seconds=0.5):
    """Processor microseconds a row of ``work()``: the median of calls for so many seconds."""
    work()
    found, until = [], time.perf_counter() + seconds
    while len(found) < 3 or time.perf_counter() < until:
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return 1e6 * float(np.median(found)) / n_rows


def c_sources(task, folder, dtype):
    return to_c(task.model, folder / dtype, dtype, sample=task.rows, sample_labels=task.labels)


def shared_library(written):
    """The C source as a library that any program loads; None without gcc."""
    path = written.source.with_suffix(".so")
    words = ["gcc", "-O2", "-std=c99", "-shared", "-fPIC", "-s", "-o", path, written.source, "-lm"]
    subprocess.run(words, check=True)
    return path


def scores_of(library, rows, n_outputs):
    """Scores by a library, with ctypes."""
    found = np.empty((len(rows), n_outputs), dtype=np.float32)
    call, pointer = ctypes.CDLL(str(library)).model_scores, ctypes.POINTER(ctypes.c_float)
    for row, scores in zip(np.ascontiguousarray(rows, dtype=np.float32), found):
        call(row.ctypes.data_as(pointer), scores.ctypes.data_as(pointer))
    return found
