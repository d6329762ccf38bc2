"""Scores of single rows in microseconds: no threads, no work memory per call.

Every kind of model has one compiled pass that takes a row to its scores, and scratch memory that a
thread keeps.
"""

import threading
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from .._hints import Rows
from ..runtime.columns.names import (
    column_names,
    column_positions,
    select_columns,
    warn_of_extra_columns,
)
from ..runtime.columns.read_rows import loose_numbers, raw_sources, read_before
from ..runtime.scores import overflow_error
from .makers import Scratch, pass_for
from .outcome import row_place, row_probabilities
from .preparation import preparing


class RowScorer:
    """A function of one row, made by ``compile()`` of a fitted model.

    ``scorer(x)`` takes a one-dimensional contiguous array of ``n_features`` numbers of type
    ``dtype`` and gives its score, or an array of scores if there are several outputs.
    ``scorer.predict(x)`` gives the label (or value), ``scorer.predict_proba(x)`` the probabilities
    of the classes, where the model has some, and ``scorer.batch(X)`` the scores of a few rows.
    A row of another length, or with a number that is not finite, is refused (a forest takes NaN);
    the check is part of the compiled pass and takes a tenth of a microsecond. Lists are
    converted. The columns of a dictionary or a pandas Series, and in ``batch`` those of a data
    frame, are matched by name: extra ones are ignored with a warning, missing ones are errors.
    Where columns hold text or dates, a row is no array of numbers, and reading it takes
    microseconds more. An array of another type, or one that may not be written to, makes
    its first call compile anew. Several threads may use one scorer; it can be pickled.
    """

    def __init__(
        self, predictor, n_features, dtype, classes=None, preparation=None, names=None, outcome=None
    ):
        self.predictor, self.n_features, self.dtype = predictor, n_features, np.dtype(dtype)
        self.classes, self.preparation = classes, preparation
        self.names = None if names is None else list(names)
        self.outcome = outcome
        self._width = n_features if preparation is None else preparation.width
        self._row = pass_for(predictor, self._width)
        self._scratch = threading.local()
        takes_missing = getattr(predictor, "takes_missing", False)
        self._prepare = None if preparation is None else preparing(
            preparation, self.dtype, takes_missing
        )  # fmt: skip
        self._takes_numbers = preparation is None or not (
            read_before(preparation) + loose_numbers(preparation)
        )
        self.n_outputs = self._row(np.zeros(self._width, dtype=self.dtype), Scratch()).size

    def __call__(self, x: Any) -> np.ndarray | Any:
        scores = self._scores(x)
        return float(scores[0]) if self.n_outputs == 1 else scores.copy()

    def predict(self, x: Any) -> np.ndarray | Any:
        """The label of a row, or its value."""
        scores = self._scores(x)
        if self.classes is None:
            return float(scores[0]) if self.n_outputs == 1 else scores.copy()
        if self.outcome is not None and self.outcome.is_of_each_label:
            return (scores > 0).astype(int)
        return self.classes[int(scores[0] > 0) if self.n_outputs == 1 else int(scores.argmax())]

    def predict_proba(self, x: Any) -> np.ndarray | Any:
        """Probabilities of the classes of a row, in the order of ``classes``."""
        if self.outcome is None or not self.outcome.gives_probabilities:
            raise AttributeError("The model of this scorer gives no probabilities.")
        return row_probabilities(self.outcome, [self._scores(x).tolist()])

    def batch(self, X: Rows, out: np.ndarray | None = None) -> np.ndarray:
        """Scores of a few rows, shape (n_rows, n_outputs)."""
        given = column_names(X)
        if self.names is not None and given is not None:
            X = select_columns(X, self.names, self._optional_names)
            warn_of_extra_columns(self.names, given)
        out = np.empty((len(X), self.n_outputs), dtype=self.dtype) if out is None else out
        for i in range(len(X)):
            out[i] = self._scores(X[i])
        return out

    def _scores(self, x):
        """Scores in memory of this thread, which the next call writes over."""
        scratch = self._scratch
        try:
            memory = scratch.memory
        except AttributeError:
            memory = scratch.memory = Scratch()
        if type(x) is not np.ndarray or x.ndim != 1:
            x = self._as_row(x)
        row = x
        if self._prepare is not None:
            row = memory.get("row", self._width, self.dtype)
            if not self._prepare(x, row):
                raise self._refusal(x)
        scores = self._row(row, memory)
        if scores is None:
            raise self._refusal(x)
        return scores

    def _as_row(self, x):
        x = self._select(x)
        try:
            row = np.asarray(x, dtype=self.dtype if self._takes_numbers else object)
        except OverflowError as error:
            raise ValueError(
                f"A number of the row is too large for {self.dtype}: give finite numbers."
            ) from error
        if row.ndim != 1:
            raise ValueError(
                f"A scorer takes one row of {self.n_features} numbers, not an array of shape "
                f"{row.shape}; batch takes several rows."
            )
        return row

    @property
    def _optional_names(self):
        """Names of the columns that predictions do not read: a row may lack them."""
        used = range(self.n_features) if self.preparation is None else raw_sources(self.preparation)
        return {name for place, name in enumerate(self.names) if place not in used}

    def _select(self, x):
        """The cells of a row, with the columns of the fit by name if both have names."""
        given, cells = _names_and_cells(x)
        if self.names is None and isinstance(x, Mapping):
            raise ValueError("The model has no feature names: give the row as an array or a list.")
        if self.names is None or given in (None, self.names):
            return cells
        expected = self.names
        if len(expected) < self.n_features:  # the names of a gate's columns are not known
            expected = [*expected, *(name for name in given if name not in set(expected))]
        positions = column_positions(expected, given, self._optional_names)
        warn_of_extra_columns(expected, given)
        return [np.nan if position is None else cells[position] for position in positions]

    def _refusal(self, x):
        """What is wrong with a row that a pass has refused."""
        if len(x) != self.n_features:
            return ValueError(f"The row has {len(x)} numbers, not {self.n_features}.")
        if self.preparation is not None and not self.preparation.only_scales:
            return self._unprepared(x)
        takes_missing = getattr(self.predictor, "takes_missing", False)
        strange = np.flatnonzero(np.isinf(x) if takes_missing else ~np.isfinite(x))
        if len(strange):
            place = int(strange[0])
            return ValueError(f"Feature {place} of the row is {x[place]}: give finite numbers.")
        kind = type(self.predictor).__name__
        return overflow_error("scores of the row", x, self.dtype, kind)

    def _unprepared(self, x):
        try:
            keeps = getattr(self.predictor, "takes_missing", False)
            self.preparation(x[None], self.names, keeps)
        except ValueError as error:  # the plain formula says what it does not take
            return error
        values = np.array([v for v in x if isinstance(v, Real)], dtype=np.float64)
        kind = type(self.predictor).__name__
        return overflow_error("scores of the row", values, self.dtype, kind)

    def __getstate__(self):
        own = self.predictor, self.n_features, self.dtype
        return *own, self.classes, self.preparation, self.names, self.outcome

    def __setstate__(self, state):
        self.__init__(*state)


class WrappedScorer:
    """Labels and probabilities of one row, for a calibrated or threshold-tuned model.

    ``scorers`` are those of the models that it averages; rows are checked as they do.
    """

    def __init__(self, scorers, outcome, classes):
        self.scorers, self.outcome, self.classes = tuple(scorers), outcome, classes

    def predict(self, x: Any) -> np.ndarray | Any:
        """The label of a row."""
        return self.classes[row_place(self.outcome, self._scores(x))]

    def predict_proba(self, x: Any) -> np.ndarray | Any:
        """Probabilities of the classes of a row, in the order of ``classes``."""
        if not self.outcome.gives_probabilities:
            raise AttributeError("The model of this scorer gives no probabilities.")
        return row_probabilities(self.outcome, self._scores(x))

    def _scores(self, x):
        x = self.scorers[0]._select(x)
        return [scorer._scores(x).tolist() for scorer in self.scorers]


def _names_and_cells(x):
    """Names and cells of a mapping or a series of pandas; None and x for any other row."""
    if isinstance(x, Mapping):
        return list(x), list(x.values())
    if hasattr(x, "to_frame") and hasattr(x, "index"):
        names = list(x.index)
        return names if all(isinstance(name, str) for name in names) else None, x.to_numpy()
    return None, x
