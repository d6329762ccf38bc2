"""Ctrl-C at any moment: passed on, and models, streams and files stay whole."""

import contextlib
import io
import os
import random
import signal
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from cli.fruit import METHOD, settings, table
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from test_concurrency import STEPS, make

from nearlinear.cli import main

from .apart import call
from .examples import three_classes, two_classes
from .report import Count

_LAST_WORDS = ": interrupted\n"  # before the command is read, of nearlinear alone
STREAMS = ("tree", "local kernels", "soft anchors", "row by row")


def run(count):
    """``count`` presses into each kind of work, dealt to the kinds of models."""
    works = (fits, refits, searches, streams, commands)
    return [line for work in works for line in call(work, count, what=work.__doc__, timeout=240)]


def fits(count):
    """Ctrl-C in a first fit"""
    X, y = two_classes()

    def answer(model):
        if not hasattr(model, "predictor_"):
            return "no model", None
        return "the best model so far", _fault(model, X, y)

    return [_pressed(fits.__doc__, count, STEPS, lambda model: model.fit(X, y), answer)]


def refits(count):
    """Ctrl-C in a fit of a model that had learned other rows"""
    (X, y), (wide, labels) = two_classes(), three_classes()
    labels = labels + 5

    def answer(model):
        if model.n_features_in_ == X.shape[1]:
            same = np.array_equal(model.decision_function(X), model.before)
            fault = None if same and list(model.classes_) == [0, 1] else "the old model changed"
            return "the old model", fault
        return "the best new model so far", _fault(model, wide, labels)

    def learn(model):
        model.fit(wide, labels)

    def begin(model):
        model.before = model.fit(X, y).decision_function(X)
        return model

    return [_pressed(refits.__doc__, count, STEPS, learn, answer, begin)]


def searches(count):
    """Ctrl-C in cross_val_score"""
    X, y = two_classes()

    def answer(model):
        return "the search ended", None

    return [
        _pressed(searches.__doc__, count, STEPS, lambda model: cross_val_score(model, X, y), answer)
    ]


def streams(count):
    """Ctrl-C in partial_fit"""
    X, y = two_classes()

    def begin(model):
        return model.partial_fit(X[:60], y[:60], classes=[0, 1])

    def learn(model):
        for _ in range(5):
            model.partial_fit(X, y)

    def answer(model):
        learn(model)
        score = model.score(X, y)  # a line has 0.87
        return "the stream went on", None if score > 0.8 else f"accuracy {score}"

    return [_pressed(streams.__doc__, count, STREAMS, learn, answer, begin)]


def commands(count):
    """Ctrl-C in nearlinear fit"""
    found, chance = Count(commands.__doc__), random.Random(4)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model.nlm"
        words = ["fit", table(Path(folder)), "--target", "kind", "--out", str(out), "--force"]
        words += METHOD
        words += settings(n_anchors=6, n_neighbors=3, max_iter=100)
        start = time.perf_counter()
        status, _ = _command(words, None)
        took, whole = time.perf_counter() - start, out.read_bytes()
        if status != 0:
            found.add("failed", f"without Ctrl-C: status {status}")
            return [found]
        for number in range(count):
            out.write_bytes(b"old")
            moment = chance.uniform(0.0, took)
            status, said = _command(words, moment)
            is_there = out.read_bytes()
            wrong = f"press {number} after {moment:.3f} s: status {status}, {said.strip()!r}"
            if (status, is_there) == (130, b"old"):
                found.add("130, the old file", None if said.endswith(_LAST_WORDS) else wrong)
            elif (status, is_there) == (130, whole):
                found.add("130, after the new file was whole")
            elif (status, is_there) == (0, whole):
                found.add("ended before")
            else:
                found.add("wrong", wrong)
    return [found]


def _command(words, moment):
    """Status and words of a command in a fork, which gets Ctrl-C after ``moment`` seconds."""
    ear, mouth = os.pipe()
    child = os.fork()
    if child == 0:
        status, said = 1, io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            try:
                if moment is not None:
                    threading.Timer(moment, os.kill, (os.getpid(), signal.SIGINT)).start()
                status = main(words)
            except KeyboardInterrupt:
                said.write("KeyboardInterrupt was raised")
        os.write(mouth, said.getvalue().encode()[:4000])
        os._exit(status)
    os.close(mouth)
    with os.fdopen(ear) as heard:
        said = heard.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def _pressed(what, count, kinds, work, answer, begin=lambda model: model):
    """Press Ctrl-C in ``work`` on models of every kind, then look at each model."""
    found, chance = Count(what), random.Random(3)
    warnings.simplefilter("ignore")
    for place, kind in enumerate(kinds):
        numbers = range(place, count, len(kinds))
        if not numbers:
            break
        plain = make(kind, **STEPS.get(kind, {}))
        work(begin(clone(plain)))  # what is compiled once
        model = begin(clone(plain))
        start = time.perf_counter()
        work(model)
        took = time.perf_counter() - start
        for number in numbers:
            model, moment = begin(clone(plain)), chance.uniform(0.0, took)
            outcome = _press(work, model, moment)
            fault = None
            if outcome == "passed on":
                outcome, fault = answer(model)
            elif outcome == "swallowed":
                fault = "swallowed"
            found.add(outcome, fault and f"{kind}, press {number} after {moment:.4f} s: {fault}")
    return found


def _press(work, model, moment):
    """One of "passed on", "swallowed", "ended before"."""
    pressed = threading.Event()

    def press():
        pressed.set()
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(moment, press)
    try:
        timer.start()
        work(model)
        was_pressed = pressed.is_set()
        timer.cancel()
        timer.join()
        time.sleep(0.001)  # a late signal comes here
    except KeyboardInterrupt:
        timer.join()
        return "passed on"
    return "swallowed" if was_pressed else "ended before"


def _fault(model, X, y):
    """What is wrong with a model of these rows, or None."""
    if not np.all(np.isfinite(model.decision_function(X))):
        return "scores are not finite"
    if not set(model.predict(X)) <= set(y):
        return "labels are not those of the rows"
    return None
