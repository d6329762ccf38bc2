"""What a bundle for AWS Lambda weighs, and how long a new process takes to its first answer.

Folders are made by ``pip install --target`` and run by a Python that sees nothing else. Start is
everything from the start of the interpreter to the first label; what Lambda adds (a sandbox, the
download of the bundle) is not in it. The model is that of ``python -m benchmarks deploy``.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from benchmarks.bench_start import started_command
from benchmarks.deploy_model import c_sources, made_task, shared_library
from benchmarks.report import Result, publish
from nearlinear import save, to_onnx
from nearlinear.export.js import module_text

ROOT = Path(__file__).parents[1]
REPEATS = 7
RUNTIME = """
import numpy
from nearlinear.runtime import load
print(load("model.nlm").predict(numpy.zeros((1, 64), dtype=numpy.float32)))
"""
PACKAGE = """
import numpy
from nearlinear import load
print(load("model.nlm").predict(numpy.zeros((1, 64), dtype=numpy.float32)))
"""
ONNX = """
import numpy, onnxruntime
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
print(session.run(["label"], {"X": numpy.zeros((1, 64), dtype=numpy.float32)}))
"""
CTYPES = """
import ctypes
row = (ctypes.c_float * 64)()
print(ctypes.CDLL("./model.so").model_predict(row))
"""
NODE = """
import { readFileSync } from "node:fs";
import { load } from "./nearlinear.mjs";
console.log(load(readFileSync("model.nlm")).predict([new Array(64).fill(0)]));
"""


def run():
    with tempfile.TemporaryDirectory(prefix="nearlinear-bundles-") as place:
        return list(_results(Path(place)))


def _results(place):
    task, given = made_task(1), place / "given"
    given.mkdir()
    save(task.model, given / "model.nlm")
    to_onnx(task.model, given / "model.onnx")
    shutil.copy(shared_library(c_sources(task, given, "float32")), given / "model.so")
    (given / "nearlinear.mjs").write_text(module_text(), "utf-8")

    def made(title, program, files, *requirements):
        folder = place / title
        folder.mkdir()
        for file in files:
            shutil.copy(given / file, folder)
        for words in requirements:
            pip = [sys.executable, "-m", "pip", "-qq", "install", "--target", folder]
            subprocess.run([*pip, *words], check=True)
        (folder / "first.py").write_text(program)
        return folder

    python = [sys.executable, "-S", "first.py"]
    ours = ["--no-deps", str(ROOT)]
    folder = made("NumPy and nearlinear", RUNTIME, ["model.nlm"], ["numpy"], ours)
    yield from _measured(folder, python)
    yield from _measured(_trimmed(folder), python)
    folder = made("all of nearlinear", PACKAGE, ["model.nlm"], [str(ROOT)])
    yield from _measured(folder, python)
    folder = made("ONNX Runtime", ONNX, ["model.onnx"], ["onnxruntime"])
    yield from _measured(folder, python)
    yield from _measured(made("C, by ctypes", CTYPES, ["model.so"]), python)
    folder = made("JavaScript", "", ["model.nlm", "nearlinear.mjs"])
    (folder / "first.mjs").write_text(NODE)
    if shutil.which("node"):
        yield from _measured(folder, ["node", "first.mjs"])


def _trimmed(folder):
    """The runtime alone, and NumPy without its tests."""
    small = folder.with_name("NumPy and nearlinear.runtime")
    leave = shutil.ignore_patterns("tests", "*.dist-info", "bin")
    shutil.copytree(folder, small, ignore=leave)
    for part in (small / "nearlinear").iterdir():
        if part.is_dir() and part.name != "runtime":
            shutil.rmtree(part)
    return small


def _measured(folder, words):
    files = [path for path in folder.rglob("*") if path.is_file()]
    n_bytes = sum(path.stat().st_size for path in files)
    packed = folder.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder))
    yield Result(folder.name, "unpacked", n_bytes / 1e6, "MB")
    yield Result(folder.name, "zipped", packed.stat().st_size / 1e6, "MB")
    with (
        tempfile.TemporaryDirectory() as cache
    ):  # of compiled code, as `nearlinear warmup` fills it
        environment = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
        words = [*words[:-1], str(folder / words[-1])]
        runs = [started_command(words, environment, folder) for _ in range(REPEATS + 1)][1:]
    yield Result(folder.name, "start", statistics.median(one.seconds for one in runs), "s")
    cpu = statistics.median(one.cpu_seconds for one in runs)
    yield Result(folder.name, "start, processor", cpu, "s")


if __name__ == "__main__":
    publish("bundles", run())
