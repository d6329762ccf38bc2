"""SIGKILL while a file is written: the old file or the new one, whole."""

import contextlib
import io
import os
import random
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
from cli.fruit import NAMES, frame_of, rows

import nearlinear
from nearlinear.cli import main

from .apart import call
from .report import Count


def run(count):
    """``count`` kills, half of them of a save and half of ``nearlinear predict --out``."""
    half = count // 2
    return [
        *call(saves, half, what="kills of nearlinear.save", timeout=300),
        *call(predictions, half, what="kills of nearlinear predict --out", timeout=300),
    ]


def saves(count):
    """A model is saved in place of another."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nlm"
        X = np.random.default_rng(0).standard_normal((400, 1500))  # files of some megabytes
        models = [nearlinear.UniformMKLClassifier(C=C).fit(X, X[:, 0] > 0) for C in (1.0, 2.0)]
        states = []
        for model in models:
            nearlinear.save(model, path)
            states.append(path.read_bytes())
        found = Count("kills of nearlinear.save")
        return _killed(found, count, path, states, lambda: nearlinear.save(models[1], path))


def predictions(count):
    """Labels are written in place of others."""
    with tempfile.TemporaryDirectory() as folder:
        model, table, path = (Path(folder) / name for name in ("model.nlm", "new.csv", "out.csv"))
        X, y = rows(n_rows=20_000)
        frame_of(X, y)[NAMES].to_csv(table, index=False)
        small = nearlinear.LLSVMClassifier(4, 2, random_state=0).fit(X[:100], y[:100])
        nearlinear.save(small, model)
        words = ["predict", model, table, "--out", path, "--force", "--scores", "--rows", 500]

        def predict():
            with contextlib.redirect_stderr(io.StringIO()):
                return main([*map(str, words)])

        found = Count("kills of nearlinear predict --out")
        whole = _forked(predict)
        os.waitpid(whole, 0)
        states = [b"old labels\n" * 1000, path.read_bytes()]
        return _killed(found, count, path, states, predict)


def _killed(found, count, path, states, write):
    """Kill ``write`` at random moments; what is there then is one of the two states."""
    chance, strays = random.Random(0), Count("parts that a killed writer left, cleaned by the next")
    took = _duration(write)
    for number in range(count):
        path.write_bytes(states[0])
        child, moment = _forked(write), chance.uniform(0.0, 1.2 * took)
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        is_there = path.read_bytes() if path.exists() else None
        if is_there in states:
            found.add(("the old file", "the new file")[states.index(is_there)])
        else:
            found.add("a half", f"kill {number} after {moment:.4f} s")
        if left := _parts(path.parent):
            os.waitpid(_forked(write), 0)
            still = _parts(path.parent)
            strays.add("still there" if still else "cleaned", f"kill {number}" if still else None)
            strays.tried += len(left) - 1
    return [found, strays]


def _parts(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def _duration(write):
    start = time.perf_counter()
    os.waitpid(_forked(write), 0)
    return time.perf_counter() - start


def _forked(work):
    """The number of a process that does the work and ends."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child
