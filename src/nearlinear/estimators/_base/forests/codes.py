"""Columns as numbers of bins, so that a grower of histograms need not find bins again and again.

With weights, HistGradientBoosting looks for weighted quantiles one by one, which takes longer than
to grow the trees. Columns of at most 255 values it takes as they are: such are the numbers of bins.
"""

from dataclasses import dataclass, replace

import numpy as np

_BINS = 255
_MOST_ROWS = 200_000  # that quantiles are taken of


@dataclass(frozen=True)
class Codes:
    """``borders`` has for each column those of its bins, in order; None for a column as it is."""

    borders: tuple

    @classmethod
    def of(cls, A, categorical, n_features):
        some = A[:: -(-len(A) // _MOST_ROWS)]
        is_set = np.zeros(A.shape[1], dtype=bool)
        if categorical is not None:
            is_set[:n_features] = categorical
        columns = zip(some.T, is_set, strict=True)
        return cls(tuple(None if keep else _borders(column) for column, keep in columns))

    def __call__(self, A):
        """Numbers of bins; missing values stay so."""
        found = np.empty_like(A)
        for place, (column, borders) in enumerate(zip(A.T, self.borders, strict=True)):
            if borders is None:
                found[:, place] = column
                continue
            codes = np.searchsorted(borders, column)  # how many borders are below the value
            found[:, place] = np.where(np.isnan(column), np.nan, codes)
        return found

    def undone(self, gate):
        """The same splits of columns as they were: a number of a bin is at most t just when the
        value is at most border ⌊t⌋."""
        thresholds = gate.thresholds.astype(np.float64)
        is_set = gate.sets >= 0 if len(gate.sets) else np.zeros(len(thresholds), dtype=bool)
        for place, borders in enumerate(self.borders):
            nodes = np.flatnonzero((gate.columns == place) & ~is_set)
            if borders is None or not len(nodes):
                continue
            ends = np.append(borders.astype(np.float64), np.finfo(np.float32).max)
            thresholds[nodes] = ends[np.clip(thresholds[nodes], 0, len(borders)).astype(np.intp)]
        return replace(gate, thresholds=thresholds)


def _borders(column):
    column = column[~np.isnan(column)]
    distinct = np.unique(column)
    if len(distinct) <= _BINS:
        return (distinct[1:] + distinct[:-1]) / 2
    shares = np.linspace(0, 100, _BINS + 1)[1:-1]
    return np.unique(np.percentile(column, shares, method="averaged_inverted_cdf"))
