"""What a model scores and costs: on test rows, in time per row, in bytes, in time to fit."""

import warnings
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from sklearn.base import clone

from ..._cpu_time import process_time
from ...search.budgets import measured_us
from .contenders import Contender

_WARM_UP_ROWS = 200
_RAREST = 1e-4  # no probability is held against a model as if it were smaller
_SINGLE_CALLS = 200
_PREDICT_SECONDS = 0.3


@dataclass(frozen=True)
class Split:
    """A training part and a test part."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    is_regression: bool


@dataclass(frozen=True, eq=False)
class Measurement:
    """One row of the table; ``gains`` are those of single test rows, whose mean is the score."""

    name: str
    ours: bool
    gains: np.ndarray
    loss: float | None
    us_per_row: float
    single_us: float
    n_bytes: int
    fit_seconds: float

    @property
    def score(self):
        """The share of right labels, or R²."""
        return float(np.mean(self.gains))

    def lead_over(self, other):
        """By how much the score is higher, and the standard error over the test rows."""
        apart = self.gains - other.gains
        return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))


def measure(contender: Contender, split: Split) -> Measurement:
    """Fit on the training part; score on the test part; time ``predict`` on the test rows."""
    with warnings.catch_warnings():
        # A model that ran out of iterations is judged by its answers like any other; others have
        # their own opinions of arrays without names.
        warnings.simplefilter("ignore")
        _warm_up(contender.model, split)
        start = perf_counter()
        model = clone(contender.model).fit(split.X_train, split.y_train)
        fit_seconds = perf_counter() - start
        return measured(
            contender.name, model, split, fit_seconds, contender.count_bytes(model), model.predict
        )


def measured(name, model, split, fit_seconds, n_bytes, one_row, ours=False):
    """The figures of a fitted model; ``one_row`` answers a single row."""
    row = split.X_test[:1]
    return Measurement(
        name=name,
        ours=ours,
        gains=_gains(model, split),
        loss=_loss(model, split),
        us_per_row=measured_us(model.predict, split.X_test, _PREDICT_SECONDS, process_time),
        single_us=1e6 * _median_seconds(one_row, row[0] if ours else row),
        n_bytes=n_bytes,
        fit_seconds=fit_seconds,
    )


def _gains(model, split):
    answers = np.asarray(model.predict(split.X_test))
    answers = answers.reshape(split.y_test.shape)
    if not split.is_regression:
        return (answers == split.y_test).astype(np.float64)
    spread = float(np.mean((split.y_test - split.y_test.mean()) ** 2)) or 1.0
    return 1.0 - (answers - split.y_test) ** 2 / spread


def _loss(model, split):
    """The log loss; None where there are no probabilities. For values, the root of the error."""
    if split.is_regression:
        return float(np.sqrt(np.mean((model.predict(split.X_test) - split.y_test) ** 2)))
    if not hasattr(model, "predict_proba"):
        return None
    places = np.searchsorted(model.classes_, split.y_test)
    said = model.predict_proba(split.X_test)[np.arange(len(places)), places]
    return float(-np.mean(np.log(np.clip(said, _RAREST, 1.0))))


def _warm_up(model, split):
    # First-use imports happen here, for every model alike, and are not timed.
    rows = slice(_WARM_UP_ROWS)
    clone(model).fit(split.X_train[rows], split.y_train[rows]).predict(split.X_test)


def _median_seconds(predict, row, budget=0.2):
    taken, end = [], perf_counter() + budget
    while len(taken) < 3 or (len(taken) < _SINGLE_CALLS and perf_counter() < end):
        start = process_time()
        predict(row)
        taken.append(process_time() - start)
    return float(np.median(taken))
