"""Invalid rows, labels, weights and parameters: a clear error or a finite model."""

import linecache
import os
import signal
import traceback
from pathlib import Path

import numpy as np
import pytest
from estimators.conftest import SMALL, SMALL_REGRESSORS
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons

import nearlinear

pytestmark = [
    pytest.mark.only_all,
    pytest.mark.skipif(os.name != "posix", reason="needs SIGALRM"),
    pytest.mark.filterwarnings("ignore"),
]
ESTIMATORS = {**SMALL, **SMALL_REGRESSORS}
PACKAGE = Path(nearlinear.__file__).parent
# A fit of 40 rows that takes longer has parameters that ask for it, such as 1e9 iterations.
TIME_LIMIT = 2
EXPECTED = (ValueError, TypeError, MemoryError)
VALUES = [
    None, True, "text", b"bytes", "", -1, 0, 1, 10**9, 2**63, -(2**70), 0.0, -0.5, 1e-308, 1e308,
    -1e308, float("nan"), float("inf"), -float("inf"), [], [1, 2], {}, {"a": 1}, (), object(),
    np.arange(3), np.float32(1e38), 1j,
]  # fmt: skip


class _TimeLimit(BaseException):
    """The time limit of one case; no ``except Exception`` may catch it."""


class Alarm:
    """Raises _TimeLimit in this thread again and again: compiled code may ignore it once."""

    has_rung = False

    def ring(self, number, frame):
        self.has_rung = True
        raise _TimeLimit

    def start(self):
        self.has_rung = False
        signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT, TIME_LIMIT)

    def stop(self):
        signal.setitimer(signal.ITIMER_REAL, 0)


ALARM = Alarm()


@pytest.fixture(autouse=True)
def handle_alarm():
    before = signal.signal(signal.SIGALRM, ALARM.ring)
    with np.errstate(all="ignore"):
        yield
    ALARM.stop()
    signal.signal(signal.SIGALRM, before)


def data(name):
    """40 rows and their targets."""
    X, y = make_moons(40, noise=0.15, random_state=0)
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] if name in SMALL_REGRESSORS else y


def make(name):
    return getattr(nearlinear, name)(**ESTIMATORS[name])


def defect(call):
    """What is wrong with the error or the scores of a call; None if nothing is.

    A case that reaches the time limit is not judged.
    """
    ALARM.start()
    try:
        scores, labels = call()
    except _TimeLimit:
        return None
    except Exception as error:
        if ALARM.has_rung or (isinstance(error, EXPECTED) and is_clear(error)):
            return None
        return "".join(traceback.format_exception(error))
    finally:
        ALARM.stop()
    if len(labels) != len(scores):
        return "predictions and scores differ in length"
    return None if np.all(np.isfinite(scores)) else "scores are not finite"


def is_clear(error):
    """Whether an error has one line and is raised on purpose.

    Errors of the validation of scikit-learn and of scipy.sparse are clear by definition.
    """
    frame = traceback.extract_tb(error.__traceback__)[-1]
    path = Path(frame.filename)
    if path.is_relative_to(PACKAGE):
        line = linecache.getline(frame.filename, frame.lineno).strip()
        is_sentence = line.startswith("raise") and "\n" not in str(error) and len(str(error)) < 400
        return is_sentence or "inhomogeneous shape" in str(error)  # of NumPy
    return "sklearn" in path.parts or {"scipy", "sparse"} <= set(path.parts)


def outputs(model, X):
    return getattr(model, "decision_function", model.predict)(X), model.predict(X)


def fit_outputs(model, X, y, weight=None):
    model.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
    return outputs(model, X)


def _set(value, dtype=float):
    """Set one entry."""

    def change(X, y):
        X = X.astype(dtype)
        X[3, 1] = value
        return X, y, None

    return change


def _rows(change):
    return lambda X, y: (change(X), y, None)


def _sparse(change):
    """Corrupt a CSR matrix after its construction."""

    def corrupted(X):
        X = csr_matrix(X)
        change(X)
        return X

    return _rows(corrupted)


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


@pytest.mark.parametrize("name", ESTIMATORS)
def test_invalid_rows_labels_and_weights_in_fit(name, capsys):
    defects = {}
    for kind, change in {**ROWS, **LABELS, **WEIGHTS}.items():
        defects[kind] = defect(lambda change=change: fit_outputs(make(name), *change(*data(name))))
    assert {kind: text for kind, text in defects.items() if text} == {}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_invalid_rows_in_predict(name):
    X, y = data(name)
    model, defects = make(name).fit(X, y), {}
    for kind, change in ROWS.items():
        defects[kind] = defect(lambda change=change: outputs(model, change(X, y)[0]))
    assert {kind: text for kind, text in defects.items() if text} == {}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_invalid_parameters(name, capsys):
    X, y = data(name)
    defects = {}
    for parameter in make(name).get_params():
        for value in VALUES:
            model = make(name).set_params(**{parameter: value})
            key = f"{parameter}={str(value)[:20]}"
            defects[key] = defect(lambda model=model: fit_outputs(model, X, y))
    assert {key: text for key, text in defects.items() if text} == {}
