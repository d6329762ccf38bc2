"""What a model scores and costs: accuracy, time per row, bytes, time to fit."""

import warnings
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ._contenders import Contender

_WARM_UP_ROWS = 200


@dataclass(frozen=True)
class Split:
    """A training part, a test part and the rows whose prediction is timed."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    X_timed: np.ndarray


@dataclass(frozen=True)
class Measurement:
    """One row of the table."""

    name: str
    ours: bool
    accuracy: float
    us_per_row: float
    n_bytes: int
    fit_seconds: float


def measure(contender: Contender, split: Split) -> Measurement:
    """Fit on the training part; score on the test part; time ``predict`` on the timed rows."""
    with warnings.catch_warnings():
        # A model that ran out of iterations is judged by its accuracy like any other.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _warm_up(contender.model, split)
        start = perf_counter()
        model = clone(contender.model).fit(split.X_train, split.y_train)
        fit_seconds = perf_counter() - start
    return Measurement(
        name=contender.name,
        ours=contender.ours,
        accuracy=model.score(split.X_test, split.y_test),
        us_per_row=1e6 * _best_seconds(model.predict, split.X_timed) / len(split.X_timed),
        n_bytes=contender.count_bytes(model),
        fit_seconds=fit_seconds,
    )


def _warm_up(model, split):
    # Compilation and first-use imports happen here, for every model alike, and are not timed.
    rows = slice(_WARM_UP_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).fit(split.X_train[rows], split.y_train[rows]).predict(split.X_test)


def _best_seconds(predict, X, at_least=3, budget=0.5):
    # The minimum: other work on the machine only ever adds time.
    best, spent, runs = np.inf, 0.0, 0
    while runs < at_least or spent < budget:
        start = perf_counter()
        predict(X)
        taken = perf_counter() - start
        best, spent, runs = min(best, taken), spent + taken, runs + 1
    return best
