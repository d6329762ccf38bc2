"""Bad rows, labels and parameters: one sentence, or a finite model.

Every case has a number: an estimator, what is wrong, and whether fit or predict sees it.
"""

import contextlib
import io
import json
import linecache
import os
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from estimators.conftest import SMALL, SMALL_REGRESSORS
from scipy.sparse import csr_matrix

import nearlinear

from .apart import numbered
from .examples import two_classes, wave

# A fit of a few rows that is still at work then was asked for too much (a billion steps).
_PATIENCE = 2
# Compiled code that hears nothing for so long is ended, and a finding.
_DEAF = 20
_CHILD = """
import sys
from attack.inputs import answer_all
first, count, work = sys.argv[1:]
answer_all(int(first), int(count), work)
"""
_VALUES = [
    None, True, "text", b"bytes", "", -1, 0, 1, 10**9, 2**63, -(2**70), 0.0, -0.5, 1e-308, 1e308,
    -1e308, float("nan"), float("inf"), -float("inf"), [], [1, 2], {}, {"a": 1}, (), object(),
    np.arange(3), np.float32(1e38), 1j,
]  # fmt: skip


def run(count):
    """``count`` cases, drawn from all."""
    with tempfile.TemporaryDirectory() as work:
        found = numbered(
            _CHILD, "bad rows, labels and parameters", 0, count, Path(work), timeout=900
        )
    return [found]


def answer_all(first, count, work):
    """Try cases; prints those that were answered badly, then what came of all."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    signal.signal(signal.SIGALRM, _too_long)
    cases, outcomes, models = _cases(), Counter(), {}
    last = os.open(Path(work) / "last", os.O_CREAT | os.O_RDWR)
    for number in range(first, first + count):
        os.pwrite(last, b"%20d" % number, 0)
        name, kind, when, change = cases[number % len(cases)]
        signal.setitimer(signal.ITIMER_PROF, _DEAF)
        with contextlib.redirect_stdout(io.StringIO()):  # what verbose prints
            outcome, fault = _answered(name, when, change, models)
        outcomes[outcome] += 1
        if fault is not None:
            fault = " ".join(fault.split())[-400:]
            print(f"case {number}, {name}, {kind}, {when}: {fault}", flush=True)
    print(json.dumps(outcomes))


def _cases():
    """All cases in a random order that is the same every time."""
    found = []
    for name in (*SMALL, *SMALL_REGRESSORS):
        for kind, change in {**ROWS, **LABELS, **WEIGHTS}.items():
            found.append((name, kind, "fit", change))
        found += [(name, kind, "predict", change) for kind, change in ROWS.items()]
        found += [
            (name, f"{parameter}={str(value)[:20]}", "fit", (parameter, value))
            for parameter in getattr(nearlinear, name)().get_params()
            for value in _VALUES
        ]
    return [found[place] for place in np.random.default_rng(0).permutation(len(found))]


class _TooLong(BaseException):
    """A case that takes longer than this attack has patience."""


def _too_long(number, frame):
    raise _TooLong


def _answered(name, when, change, models):
    """What came of a case, and what was wrong with that."""
    X, y = (wave if name in SMALL_REGRESSORS else two_classes)(40)
    model = getattr(nearlinear, name)(**{**SMALL, **SMALL_REGRESSORS}[name])
    weight = None
    signal.alarm(_PATIENCE)
    try:
        if isinstance(change, tuple):
            model.set_params(**dict([change]))
        elif when == "fit":
            X, y, weight = change(X, y)
        if when == "fit":
            model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
        else:
            if name not in models:
                models[name] = model.fit(X, y)
            model, (X, _, _) = models[name], change(X, y)
        scores = getattr(model, "decision_function", model.predict)(X)
        labels = model.predict(X)
    except _TooLong:
        return f"at work after {_PATIENCE} s", None
    except (ValueError, TypeError, MemoryError) as error:
        return "refused", _unclear(error)
    except Exception as error:
        return "other error", "".join(traceback.format_exception(error))
    finally:
        signal.alarm(0)
    is_finite = np.all(np.isfinite(scores)) and len(labels) == len(scores)
    return ("finite", None) if is_finite else ("not finite", "scores are not finite")


def _unclear(error):
    """The trace of an error that is not a sentence written for the user; None of others.

    Ours are raised by a line of our own and are one line. Those of scikit-learn's validation and
    scipy's are taken as they are.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    path = Path(frame.filename)
    if path.is_relative_to(Path(nearlinear.__file__).parent):
        line = linecache.getline(frame.filename, frame.lineno).strip()
        if line.startswith("raise") and "\n" not in str(error) and len(str(error)) < 400:
            return None
    elif "sklearn" in path.parts or {"scipy", "sparse"} <= set(path.parts):
        return None
    return "".join(traceback.format_exception(error))


def _set(value, dtype=float):
    """One entry is ``value``."""

    def change(X, y):
        X = X.astype(dtype)
        X[3, 1] = value
        return X, y, None

    return change


def _rows(change):
    return lambda X, y: (change(X), y, None)


def _sparse(change):
    """CSR rows that ``change`` breaks after they were made."""

    def broken(X):
        X = csr_matrix(X)
        change(X)
        return X

    return _rows(broken)


def _starts(*values):
    def change(X):
        X.indptr[1 : 1 + len(values)] = values

    return _sparse(change)


def _entry(part, value):
    def change(X):
        getattr(X, part)[2] = value

    return _sparse(change)


def _scaled(size, dtype):
    return _rows(lambda X: (X / np.abs(X).max() * size).astype(dtype))


ROWS = {
    **{f"an entry {value}": _set(value) for value in (np.nan, np.inf, -np.inf, 1e308, 1e200)},
    **{f"an object {value!r}": _set(value, object) for value in (None, "a", [1], {}, 1j, b"b")},
    **{f"{dtype} at {size}": _scaled(size, dtype) for dtype, size in (
        ("f8", 1e308), ("f8", 1e154), ("f8", 1e-308), ("f8", 1e-160), ("f8", 5e-324),
        ("f4", 3e38), ("f4", 1e19), ("f4", 1e-38), ("f4", 1e-45), ("f2", 6e4),
    )},
    **{f"CSR starts {values}": _starts(*values) for values in (
        (2**31 - 1, -(2**31), -1), (5, 3, 5), (0, 0, 10**6), (-1,), (81,),
    )},
    **{f"CSR columns {value}": _entry("indices", value) for value in (-1, 2, 2**31 - 1, -(2**31))},
    **{f"CSR values {value}": _entry("data", value) for value in (np.nan, np.inf, 1e308)},
    "one column more": _rows(lambda X: np.hstack([X, X[:, :1]])),
    "one column": _rows(lambda X: X[:, :1]),
    "no columns": _rows(lambda X: X[:, :0]),
    "no rows": _rows(lambda X: X[:0]),
    "one row": lambda X, y: (X[:1], y[:1], None),
    "two rows": lambda X, y: (X[:2], y[:2], None),
    "one axis": _rows(lambda X: X[:, 0]),
    "three axes": _rows(lambda X: X[None]),
    "text": _rows(lambda X: np.full(X.shape, "word")),
    "dates": _rows(lambda X: np.full(X.shape, np.datetime64("2020-01-01"))),
    "complex": _rows(lambda X: X + 1j),
    "truth": _rows(lambda X: X > 0),
    "all the same": _rows(np.ones_like),
    "nothing": _rows(lambda X: None),
    "a word": _rows(lambda X: "rows"),
    "a dict": _rows(lambda X: {"a": X}),
    "ragged lists": _rows(lambda X: [[1.0], *X[1:].tolist()]),
    "masked": _rows(lambda X: np.ma.masked_greater(X, 0)),
    "records": _rows(lambda X: np.zeros(len(X), dtype=[("a", "f8"), ("b", "f8")])),
    "unsigned": _rows(lambda X: np.full(X.shape, 2**64 - 1, dtype=np.uint64)),
}  # fmt: skip


def _labels(change):
    return lambda X, y: (X, change(y), None)


LABELS = {
    "one class": _labels(np.zeros_like),
    "labels too short": _labels(lambda y: y[:-1]),
    "no labels": _labels(lambda y: None),
    "labels NaN": _labels(lambda y: np.full(len(y), np.nan)),
    "labels infinite": _labels(lambda y: np.where(y > 0, np.inf, 0.0)),
    "labels at 1e308": _labels(lambda y: np.where(y > 0, 1e308, -1e308)),
    "labels at 5e-324": _labels(lambda y: np.where(y > 0, 5e-324, 0.0)),
    "labels of two columns": _labels(lambda y: np.column_stack([y, y])),
    "labels of mixed types": _labels(lambda y: np.array([1, "a"], dtype=object)[(y > 0) * 1]),
    "objects as labels": _labels(lambda y: np.array([object() for _ in y])),
    "a class of each row": _labels(lambda y: np.arange(len(y))),
    "lists as labels": _labels(lambda y: [[v] for v in y] + [[1, 2]]),
    "a class of one row": _labels(lambda y: np.arange(len(y)) == 0),
    "complex labels": _labels(lambda y: y + 1j),
}  # fmt: skip


def _weights(change):
    return lambda X, y: (X, y, change(np.ones(len(y))))


WEIGHTS = {
    "weights zero": _weights(np.zeros_like),
    "weights negative": _weights(np.negative),
    "weights NaN": _weights(lambda w: w * np.nan),
    "weights infinite": _weights(lambda w: w * np.inf),
    "weights at 1e308": _weights(lambda w: w * 1e308),
    "weights at 1e-308": _weights(lambda w: w * 1e-308),
    "weights too short": _weights(lambda w: w[:-1]),
    "weights of text": _weights(lambda w: np.full(len(w), "a")),
    "weights of two columns": _weights(lambda w: np.column_stack([w, w])),
}
