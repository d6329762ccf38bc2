"""Stages one after another, of which the first that is sure answers."""

from dataclasses import dataclass

import numpy as np

from .base import check_width, leads, stopping_cost


@dataclass(frozen=True)
class Cascaded:
    """Stages one after another: a row stops at the first whose lead reaches its threshold.

    The lead is |score|, or with several outputs the best score less the second. ``thresholds`` has
    one number for each stage but the last; with infinity a stage is passed over. A row has the
    scores of the stage that it stops at. ``shares`` of held-out rows stopped at each stage.
    """

    stages: tuple
    thresholds: tuple
    shares: tuple

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        return self._answers(X, lambda stage, rows: stage(rows, n_jobs=n_jobs))[0]

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        return self._answers(X, lambda stage, rows: stage.plain(rows))[0]

    def stops(self, X, n_jobs=None):
        """The number of the stage that answers for each row."""
        return self._answers(X, lambda stage, rows: stage(rows, n_jobs=n_jobs))[1]

    def _answers(self, X, score):
        check_width(X, self.n_features)
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)
        stops = np.full(X.shape[0], len(self.stages) - 1)
        rows = np.arange(X.shape[0])
        for number, (stage, threshold) in enumerate(self.steps):
            if not len(rows):
                break
            here = X if len(rows) == X.shape[0] else X[rows]
            found = score(stage, here.astype(stage.dtype, copy=False))
            stay = leads(found) >= threshold if threshold is not None else slice(None)
            scores[rows[stay]], stops[rows[stay]] = found[stay], number
            rows = rows[~stay] if threshold is not None else rows[:0]
        return scores, self._numbers[stops]

    @property
    def steps(self):
        """Stages that answer, each with its threshold; None of the last."""
        inner = zip(self.stages, self.thresholds, strict=False)
        kept = [(stage, threshold) for stage, threshold in inner if threshold < np.inf]
        return [*kept, (self.stages[-1], None)]

    @property
    def _numbers(self):
        """Their numbers among all stages; beside them, that of the last for rows of no stage."""
        kept = [k for k, threshold in enumerate(self.thresholds) if threshold < np.inf]
        last = len(self.stages) - 1
        return np.array([*kept, *[last] * (len(self.stages) - len(kept))])

    @property
    def n_features(self):
        return self.stages[0].n_features

    @property
    def n_outputs(self):
        return self.stages[0].n_outputs

    @property
    def dtype(self):
        return np.result_type(*(stage.dtype for stage in self.stages))

    @property
    def takes_missing(self):
        return all(getattr(stage, "takes_missing", False) for stage in self.stages)

    @property
    def cost(self):
        """The mean over held-out rows, and how far they spread."""
        costs = [stage.cost for stage in self.stages]
        is_used = np.append(np.isfinite(self.thresholds), True)
        paid = np.cumsum([c.multiply_adds * used for c, used in zip(costs, is_used, strict=True)])
        # the rows of a stage are its own and those that go on
        variance = sum(
            c.spread**2 * share
            for c, share in zip(costs, np.cumsum(self.shares[::-1])[::-1] * is_used, strict=True)
        )
        linear = self.n_features * self.n_outputs
        return stopping_cost(linear, paid, self.shares, sum(c.n_bytes for c in costs), variance)
