"""Threads that share a model or fit at once, and Ctrl-C in the midst of a fit."""

import importlib
import os
import pickle
import random
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from grids import in_one_test
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from threadpoolctl import threadpool_info, threadpool_limits

import nearlinear
from nearlinear.kernels import bank

N_THREADS = 32
ANCHORED = {"n_anchors": 8, "n_neighbors": 3, "random_state": 0}
# One of every kind of predictor, and those that learn step by step.
KINDS = {
    "soft anchors": ("LLCSAPLClassifier", {**ANCHORED, "max_iter": 8}),
    "inverse distances": ("LLSVMClassifier", {**ANCHORED, "coding": "inverse"}),
    "reconstruction": ("LCCSVMClassifier", ANCHORED),
    "clusters": ("ClusteredSVMClassifier", {"n_clusters": 5, "random_state": 0}),
    "neighborhoods": ("SVMKNNClassifier", {"n_neighbors": 12}),
    "tree": ("LDKLClassifier", {"depth": 2, "max_iter": 8, "random_state": 0}),
    "forest": ("LDKLClassifier", {"depth": 2, "max_iter": 4, "n_trees": 2, "random_state": 0}),
    "leaves": (
        "LDKLClassifier", {"depth": 2, "max_iter": 8, "node_gate": "indicator", "random_state": 0}
    ),
    "local kernels": ("MLLKMClassifier", {"n_anchors": 25, "random_state": 0}),
    "kernel weights": ("SimpleMKLClassifier", {}),
    "kernel bank": ("SequentialMKLClassifier", {"kernels": bank(widths=3, degrees=(2,))}),
    "multiplicative weights": ("MWUMKLClassifier", {}),
    "gated lines": ("LMKLClassifier", {"n_copies": 3, "random_state": 0}),
    "gated machines": ("LMKLClassifier", {"kernels": "gaussian", "random_state": 0}),
    "clustered gate": ("ConvexLMKLClassifier", {"random_state": 0}),
    "gated rows": ("SwMKLClassifier", {}),
    "votes": ("LDMKLClassifier", {}),
    "selection": ("SAMKLClassifier", {"max_rounds": 3}),
    "row by row": ("LaSVMClassifier", {"random_state": 0}),
    "cells": ("DCPredClassifier", {"n_clusters": 3, "random_state": 0}),
    "learned basis": ("CPSPClassifier", {"n_basis": 8, "max_iter": 10, "random_state": 0}),
}  # fmt: skip
each_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind, **settings):
    name, small = KINDS[kind]
    return getattr(nearlinear, name)(**{**small, **settings})


@pytest.fixture
def quick_switches():
    """Threads change places as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def together(*calls):
    """Results of calls on threads that begin at one time."""
    begin = threading.Barrier(len(calls), timeout=60)

    def run(call):
        begin.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(run, call) for call in calls]]


@pytest.mark.parametrize(
    ("kind", "n_jobs"), [*((kind, None) for kind in KINDS), ("soft anchors", 2), ("votes", 2)]
)
def test_threads_that_share_a_model_see_what_one_would(kind, n_jobs, blobs, quick_switches):
    X, y = blobs
    model = make(kind, n_jobs=n_jobs).fit(X, y)
    X = X[:60]
    expected = model.decision_function(X), model.predict(X)
    # what a model works out at its first prediction is not in a pickle
    fresh = pickle.loads(pickle.dumps(model))
    found = together(*[lambda: (fresh.decision_function(X), fresh.predict(X))] * N_THREADS)
    for scores, labels in found:
        np.testing.assert_array_equal(scores, expected[0])
        np.testing.assert_array_equal(labels, expected[1])


@each_kind
def test_two_fits_at_once_give_what_each_gives_alone(kind, moons, blobs, quick_switches):
    problems = [moons, blobs]
    alone = [make(kind).fit(X, y).decision_function(X) for X, y in problems]

    def fit(X, y):
        return lambda: make(kind).fit(X, y).decision_function(X)

    for scores, expected in zip(together(*(fit(X, y) for X, y in problems)), alone, strict=True):
        np.testing.assert_array_equal(scores, expected)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def release():
    """Leave a block of limits: since threadpoolctl 3.8 a thread that has set some shuts others out
    until then."""
    with threadpool_limits(None):
        pass


@pytest.fixture
def two_blas_threads():
    """Matrix products have two threads, whatever the machine has."""
    outer = threadpool_limits(2, user_api="blas")
    release()
    yield
    outer.restore_original_limits()
    release()


@pytest.mark.usefixtures("two_blas_threads")
def test_a_fit_that_ends_leaves_another_its_one_thread(moons, monkeypatch):
    """The first fit begins and ends while the second is at work."""
    X, y = moons
    has_begun, may_end, seen = threading.Event(), threading.Event(), []
    learn = nearlinear.LLSVMClassifier._learn

    def watched(self, rows):
        seen.append(blas_threads())
        if threading.current_thread() is slow:
            has_begun.set()
            assert may_end.wait(60)
        learned = learn(self, rows)
        seen.append(blas_threads())
        return learned

    monkeypatch.setattr(nearlinear.LLSVMClassifier, "_learn", watched)
    model = make("inverse distances")
    slow = threading.Thread(target=lambda: make("inverse distances").fit(X, y))
    model.fit(X, y)
    assert blas_threads() == {2}
    slow.start()
    assert has_begun.wait(60)
    try:
        model.fit(X, y)
        assert blas_threads() == {1}  # the other one goes on
    finally:
        may_end.set()
        slow.join()
    assert blas_threads() == {2}
    assert seen == [{1}] * 6


@pytest.mark.usefixtures("two_blas_threads")
def test_a_fit_that_begins_last_keeps_its_one_thread(moons, monkeypatch):
    """The second fit begins while the first is at work, and ends after it."""
    X, y = moons
    first_begun, second_begun = threading.Event(), threading.Event()
    first_ended, seen = threading.Event(), []
    learn = nearlinear.LLSVMClassifier._learn

    def watched(self, rows):
        if threading.current_thread() is first:
            first_begun.set()
            assert second_begun.wait(60)
        else:
            second_begun.set()
            assert first_ended.wait(60)
            seen.append(blas_threads())
        return learn(self, rows)

    def fit_first():
        make("inverse distances").fit(X, y)
        first_ended.set()

    monkeypatch.setattr(nearlinear.LLSVMClassifier, "_learn", watched)
    first = threading.Thread(target=fit_first)
    first.start()
    assert first_begun.wait(60)
    make("inverse distances").fit(X, y)
    first.join()
    assert seen == [{1}]
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_the_last_of_many_fits_gives_the_threads_back(moons, quick_switches):
    X, y = moons
    with ThreadPoolExecutor(4) as pool:  # whose threads live on
        for _ in range(5):
            fits = [pool.submit(make("inverse distances").fit, X, y) for _ in range(8)]
            for fit in fits:
                fit.result()
            assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_a_fit_that_fails_gives_the_threads_back(moons, monkeypatch):
    def failing(self, rows):
        raise ZeroDivisionError

    monkeypatch.setattr(nearlinear.LLSVMClassifier, "_learn", failing)
    with pytest.raises(ZeroDivisionError):
        make("inverse distances").fit(*moons)
    assert blas_threads() == {2}


# Kinds of fits that say "Interrupted" and keep the best they have found, with what is asked of
# them: progress lines are where Ctrl-C comes in.
STEPS = {
    "soft anchors": {"max_iter": 30},
    "tree": {"max_iter": 30},
    "forest": {"max_iter": 30},
    "leaves": {"max_iter": 30},
    "local kernels": {"tol": 1e-6},
    "gated lines": {"C": 10.0, "max_iter": 30},
    "gated machines": {"C": 10.0, "max_iter": 30},
}
each_search = pytest.mark.parametrize("kind", STEPS)


@pytest.fixture
def ctrl_c(monkeypatch):
    """Ctrl-C at a progress line of a fit; gives the lines until then."""
    importlib.import_module("numba")  # which looks at print when it is loaded

    def arrange(at_line):
        lines = []

        def interrupted(*words, **options):
            lines.append(" ".join(map(str, words)))
            if len(lines) == at_line:
                raise KeyboardInterrupt

        monkeypatch.setattr("builtins.print", interrupted)
        return lines

    return arrange


@each_search
def test_ctrl_c_keeps_the_best_model_and_is_passed_on(kind, moons, ctrl_c):
    X, y = moons
    lines = ctrl_c(at_line=3)
    model = make(kind, verbose=1, **STEPS[kind])
    with pytest.raises(KeyboardInterrupt, match=r"the .* kept"):
        model.fit(X, y)
    assert len(lines) == 3
    assert model.score(X, y) > 0.8  # a line has 0.87
    scores = model.decision_function(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), scores)


@each_search
def test_a_model_that_ctrl_c_left_can_be_fitted_again(kind, moons, ctrl_c, monkeypatch):
    X, y = moons
    ctrl_c(at_line=3)
    model = make(kind, verbose=1, **STEPS[kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        monkeypatch.undo()
        model.set_params(verbose=0).fit(X, y)
        whole = make(kind, **STEPS[kind]).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))


@each_search
@pytest.mark.usefixtures("two_blas_threads")
def test_ctrl_c_gives_the_threads_of_matrix_products_back(kind, moons, ctrl_c):
    ctrl_c(at_line=3)
    with pytest.raises(KeyboardInterrupt):
        make(kind, verbose=1, **STEPS[kind]).fit(*moons)
    assert blas_threads() == {2}


def test_ctrl_c_ends_a_search(moons, ctrl_c):
    lines = ctrl_c(at_line=3)
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(make("tree", verbose=1, **STEPS["tree"]), *moons)
    assert len(lines) == 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@each_kind
def test_a_fit_that_fails_leaves_the_model_as_it_was(kind, error, moons, blobs, monkeypatch):
    X, y = moons
    model = make(kind)
    if "warm_start" in model.get_params():
        model.set_params(warm_start=True)
    model.fit(X, y)
    before, scores = dict(vars(model)), model.decision_function(X)
    learn = type(model)._learn

    def fails_at_the_end(self, rows):
        learn(self, rows)
        raise error

    monkeypatch.setattr(type(model), "_learn", fails_at_the_end)
    # rows like those before, which a warm start takes up; then others, of more columns and classes
    for rows, labels in ((X[::2], y[::2]), (blobs[0], blobs[1] + 5)):
        with pytest.raises(error):
            model.fit(rows, labels)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[name] is value for name, value in before.items())
        np.testing.assert_array_equal(model.decision_function(X), scores)


def interrupt_after(seconds, work):
    """Send SIGINT to this process while ``work`` runs; returns whether it was raised."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        work()
        timer.join()
        time.sleep(0.001)  # a late signal is raised here
    except KeyboardInterrupt:
        timer.join()
        return True
    return False


@pytest.mark.only_all
@pytest.mark.skipif(os.name != "posix", reason="needs SIGINT for one process")
@pytest.mark.filterwarnings("ignore")
@each_search
def test_ctrl_c_at_a_random_moment_leaves_a_complete_model(kind, moons, blobs):
    """The refit has other features and classes: the model is the old one or a new one."""
    (X, y), (wide, labels) = moons, blobs
    model, chance = make(kind, **STEPS[kind]).fit(wide, labels), random.Random(0)
    old = model.fit(X, y).decision_function(X)
    start = time.perf_counter()
    clone(model).fit(wide, labels)
    seconds = time.perf_counter() - start
    for _ in range(10):
        model.fit(X, y)
        moment = chance.uniform(0.0, seconds)
        assert interrupt_after(moment, lambda: model.fit(wide, labels))
        if model.n_features_in_ == X.shape[1]:
            np.testing.assert_array_equal(model.decision_function(X), old)
        else:
            assert np.all(np.isfinite(model.decision_function(wide)))
            assert set(model.predict(wide)) <= set(labels)


@in_one_test("kind", ["tree", "local kernels", "soft anchors", "row by row"])
def test_a_refit_on_one_class_is_refused_and_changes_nothing(kind, moons, rng):
    X, y = moons
    model = make(kind).fit(X, y)
    wide = rng.standard_normal((50, 60))
    with pytest.raises(ValueError, match="one class"):
        model.fit(wide, np.zeros(50))
    with pytest.raises(ValueError, match="60 features"):
        model.predict(wide)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("kind", ["tree", "local kernels", "soft anchors", "row by row"])
@pytest.mark.parametrize("at", range(1, 60, 7))
def test_ctrl_c_leaves_a_stream_that_goes_on(kind, at, moons):
    """Ctrl-C at a random line of Python below ``partial_fit``."""
    X, y = moons
    model = make(kind, n_anchors=8) if kind == "soft anchors" else make(kind)
    model.partial_fit(X[:60], y[:60], classes=[0, 1])
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        lines += ".solvers." in frame.f_globals.get("__name__", "") and event == "line"
        if lines == at * 10:
            lines += 1
            signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        with suppress(KeyboardInterrupt):
            model.partial_fit(X[60:], y[60:])
    finally:
        sys.settrace(None)
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.8  # a line has 0.87


@pytest.mark.parametrize("kind", ["reconstruction", "clusters", "row by row", "learned basis"])
def test_elsewhere_ctrl_c_is_passed_on(kind, moons, monkeypatch):
    def interrupted(self, rows):
        raise KeyboardInterrupt

    model = make(kind)
    monkeypatch.setattr(type(model), "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*moons)
    assert not hasattr(model, "predictor_")
