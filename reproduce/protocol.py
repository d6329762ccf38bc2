"""Measuring and recording: one model on one split becomes one row of a results file.

Times are taken on one thread. A prediction time means little on another machine, so the same rows
also go through a linear SVM in the same run, in turns with the model, and the row keeps the ratio.
"""

import csv
import json
import time
import warnings
from functools import partial
from math import isnan, nan
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, mean_squared_error
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import nearlinear
from reproduce.memory import forget_peak, peak_bytes, present_bytes
from reproduce.model_cost import model_bytes, multiply_adds, n_kernels, n_support

KEY = ("dataset", "method", "seed", "parameters")
MEASURED = (
    "accuracy",
    "fit_seconds",
    "predict_us_per_row",
    "times_linear",
    "model_bytes",
    "n_train",
    "n_test",
    "version",
)
# Test parts with fewer rows are repeated until there are so many to predict.
_TIMED_ROWS = 5000
_warm = set()


def one_thread():
    """Context in which BLAS and OpenMP use one thread."""
    return threadpool_limits(1)


def best_seconds(calls, budget=1.0, max_repeats=15):
    """Shortest duration of each of several calls, made in turns until each has used its budget.

    Taking turns lets a busy moment of the machine hit all of them. A call slower than the budget
    is made once.
    """
    durations = {name: [] for name in calls}
    for _ in range(max_repeats):
        for name in calls:
            if durations[name] and sum(durations[name]) >= budget:
                continue
            start = time.perf_counter()
            calls[name]()
            durations[name].append(time.perf_counter() - start)
    return {name: min(taken) for name, taken in durations.items()}


def linear_yardstick(split, max_rows=2000):
    """A linear model to time predictions against; they cost the same however few rows trained it.

    A linear SVM, or ridge regression.
    """
    X, y = split.X_train, split.y_train
    rows = np.random.default_rng(0).permutation(len(y))[:max_rows]
    if split.is_regression:
        return Ridge().fit(X[rows], y[rows])
    # One row of every class, so that the yardstick computes as many scores as the model.
    rows = np.union1d(rows, np.unique(y, return_index=True)[1])
    return LinearSVC(C=0.01, tol=1e-2).fit(X[rows], y[rows])


def score_of(predicted, split):
    """``accuracy`` in percent, or the ``mse`` of a regression in the target's own unit."""
    if split.is_regression:
        return {"mse": split.target_scale**2 * mean_squared_error(split.y_test, predicted)}
    return {"accuracy": 100 * accuracy_score(split.y_test, predicted)}


def measure(model, split, yardstick=None, timed_rows=_TIMED_ROWS, repeats=15):
    """Fit on the training part, predict the test part; all columns that a row may have.

    ``fit_bytes`` is the most memory that the fit held beyond what was there before it: in a fresh
    process, beyond the data. ``predict_ms`` is one call for the test part as it is; ``chosen``
    counts the candidates of a search inside the training part. With one repeat the times mean
    little, and the fit pays for what it compiles.
    """
    yardstick = yardstick or linear_yardstick(split)
    # a call has a cost of its own, which a few hundred rows would be charged for
    rows = _repeated(split.X_test, -(-timed_rows // len(split.y_test)))
    n_timed = rows.shape[0]
    with one_thread():
        if repeats > 1:
            _warm_up(model, split)
        held = present_bytes()
        forget_peak()
        start = time.perf_counter()
        model.fit(split.X_train, split.y_train)
        fit_seconds = time.perf_counter() - start
        fit_bytes = peak_bytes() - held
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=1)  # several threads may fit
        predicted = model.predict(split.X_test)
        calls = {"model": lambda: model.predict(rows), "linear": lambda: yardstick.predict(rows)}
        if n_timed > len(split.y_test):
            calls["test part"] = lambda: model.predict(split.X_test)
        seconds = best_seconds(calls, max_repeats=repeats)
    return score_of(predicted, split) | {
        "fit_seconds": fit_seconds,
        "fit_bytes": fit_bytes,
        "predict_us_per_row": 1e6 * seconds["model"] / n_timed,
        "predict_ms": 1e3 * seconds.get("test part", seconds["model"]),
        "times_linear": seconds["model"] / seconds["linear"],
        "multiply_adds": multiply_adds(model),
        "model_bytes": model_bytes(model),
        "n_kernels": n_kernels(model),
        "n_support": n_support(model),
        "chosen": getattr(model, "best_index_", nan),
        "n_train": len(split.y_train),
        "n_test": len(split.y_test),
        "version": nearlinear.__version__,
    }


# For smoke runs, which ask whether all goes through.
measure_once = partial(measure, timed_rows=1, repeats=1)


def _repeated(X, times):
    return vstack([X] * times, format="csr") if issparse(X) else np.tile(X, (times, 1))


def _warm_up(model, split):
    """Compile what the fit compiles, so that the first row of a run is not charged for it."""
    model = getattr(model, "estimator", model)  # of a search: one of its fits is enough
    options = {k: value for k, value in model.get_params().items() if type(value) in (str, bool)}
    n_classes = 0 if split.is_regression else len(np.unique(split.y_train))
    is_sparse = issparse(split.X_train)
    signature = (type(model), split.X_train.dtype, is_sparse, n_classes, *sorted(options.items()))
    if signature in _warm:
        return
    _warm.add(signature)
    rows = np.random.default_rng(0).standard_normal((400, 4)).astype(split.X_train.dtype)
    labels = np.arange(len(rows)) % n_classes if n_classes else rows[:, 0]
    rows = csr_array(rows) if is_sparse else rows
    small = clone(model)
    if "max_iter" in small.get_params():
        small.set_params(max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small.fit(rows, labels).predict(rows)


class RowStore:
    """Rows in a CSV file that is appended to; what it already holds is not measured again."""

    def __init__(self, path, columns=MEASURED, key=KEY):
        self.path = Path(path)
        self.key = key
        self.columns = (*key, *columns)
        self._rows = {self._name(row): row for row in self._read()}

    def rows(self):
        """All rows as dictionaries, numbers as numbers and parameters as a dictionary."""
        return list(self._rows.values())

    def get_or_add(self, key, make):
        """The row with this key, and whether it had to be made: ``key | make()``, then written."""
        if self._name(key) in self._rows:
            return self._rows[self._name(key)], False
        row = key | make()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists()
        with open(self.path, "a", newline="") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerow({name: _written(row.get(name, nan)) for name in self.columns})
        self._rows[self._name(key)] = row
        return row, True

    def _name(self, row):
        return tuple(_written(row[column]) for column in self.key)

    def _read(self):
        if not self.path.exists():
            return []
        with open(self.path, newline="") as file:
            return [_parsed(row) for row in csv.DictReader(file)]


def _written(value):
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True)
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:.6g}"
    return str(value)


def _parsed(row):
    texts = {"dataset": str, "method": str, "version": str, "parameters": json.loads}
    whole = ("seed", "tuned_on", "n_train", "n_test", "model_bytes", "n_support")
    counts = dict.fromkeys(whole, _count)
    return {name: (texts | counts).get(name, _number)(text) for name, text in row.items()}


def _number(text):
    return float(text or nan)


def _count(text):
    return int(text) if text else nan
