"""SIGKILL while a file is written, or while a model is fitted to rows in blocks.

A file is the old one or the new one, whole. A fit goes on from its checkpoint to the same bits.
"""

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
from nearlinear.streams import from_arrays
from nearlinear.streams.checkpoint import Checkpoint

from .apart import call
from .report import Count


def run(count):
    """``count`` kills, half of them of a save and half of ``predict --out``; half as many fits."""
    half = count // 2
    return [
        *call(saves, half, what="kills of nearlinear.save", timeout=300),
        *call(predictions, half, what="kills of nearlinear predict --out", timeout=300),
        *call(fits, half, what="kills of fits with a checkpoint", timeout=900),
        *call(doors, min(6, half), what="kills of front doors in blocks", timeout=900),
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


def fits(count):
    """Models are fitted to rows in blocks, and killed again and again until they are done."""
    models = [
        nearlinear.LLCSAPLClassifier(12, max_iter=6, random_state=0),
        nearlinear.LDKLClassifier(4, max_iter=8, random_state=0),
        nearlinear.LocalForestClassifier(10, max_leaves=8, pairs=0, random_state=0),
    ]
    return _killed_fits("fits with a checkpoint", count, count, models, 6000)


def doors(count):
    """Front doors with a search, three kills of each; 4 MB leave a sample of the rows."""
    families = ["piecewise linear", "boosted trees", "oblique trees", "decision tree"]
    door = nearlinear.NearLinearClassifier(families=families, max_times_linear=12, random_state=0)
    with nearlinear.config_context(max_memory=4e6):
        with tempfile.TemporaryDirectory() as folder:  # compiled before anything is timed
            _duration(lambda: door.fit(_source(20_000)[2], checkpoint=Path(folder) / "fit.npz"))
        return _killed_fits("front doors in blocks", count, 3, [door], 20_000)


def _source(n_rows):
    X = np.random.default_rng(0).standard_normal((n_rows, 6)).astype(np.float32)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)
    return X, y, from_arrays(X, y, block_rows=300)


def _killed_fits(name, count, most, models, n_rows):
    """``count`` kills, at most so many of one fit; what is fitted in the end has the same bits."""
    found, whole = Count(f"kills of {name}"), Count(f"{name} that were killed, at their end")
    X, _, source = _source(n_rows)
    chance, number = random.Random(0), 0
    with tempfile.TemporaryDirectory() as folder:
        path, end = Path(folder) / "fit.npz", Path(folder) / "scores.npy"

        def fit(model):
            model.fit(source, checkpoint=path, every=0.0)
            np.save(end, model.decision_function(X))

        def forget():
            for one in (end, *path.parent.glob(f"{path.name}*")):
                one.unlink(missing_ok=True)

        while found.tried < count:
            model, number = models[number % len(models)], number + 1
            forget()
            took = _duration(lambda model=model: fit(model))
            wanted, n_kills = np.load(end), 0
            forget()
            while not end.exists():
                child = _forked(lambda model=model: fit(model))
                if found.tried < count and n_kills < most:
                    time.sleep(chance.uniform(0.0, took))
                    os.kill(child, signal.SIGKILL)
                    found.add(*_state_of(path, found.tried))
                    n_kills += 1
                os.waitpid(child, 0)
            same = np.array_equal(np.load(end), wanted)
            fault = f"{type(model).__name__} after {n_kills} kills"
            whole.add("the same bits" if same else "other bits", None if same else fault)
    return [found, whole]


def _state_of(path, number):
    if not path.exists():
        return "no checkpoint yet", None
    try:
        Checkpoint(path, 0.0)
    except ValueError as error:
        return "a half", f"kill {number}: {error}"
    return "a whole checkpoint", None


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
