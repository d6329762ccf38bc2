"""f(x) = b + ⟨w, x⟩ + Σ_d g_d(x_d), where each g_d is a line between knots and level beyond."""

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import compiled_fast_sums, run_blocks
from .base import Cost, check_width

_BLOCK = 2048  # rows
_TILE = 256  # rows whose sums stay in the first cache


@dataclass(frozen=True)
class Additive:
    """A linear model, and bent lines of single columns.

    ``weights`` (n_features, n_outputs) and ``intercept`` (n_outputs,) are a linear model of all
    columns. The knots of column d are ``knots[firsts[d] : firsts[d + 1]]``: none, or two and more,
    ascending. There g_d has the ``values`` (n_knots, n_outputs). Between knots it is a straight
    line, beyond the outer ones it is level, so that the model has the slope ``weights`` there. That
    is a linear model on columns and on their pieces from scikit-learn's SplineTransformer(degree=1,
    extrapolation="constant"). Without knots it is a linear model, and costs as much.
    """

    weights: np.ndarray
    intercept: np.ndarray
    firsts: np.ndarray
    knots: np.ndarray
    values: np.ndarray

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        check_width(X, self.n_features)
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)

        def work(start, stop):
            rows = X[start:stop]
            found = np.asarray(rows @ self.weights)
            found += self._start
            if len(self.knots):
                bent = self.bent_columns
                seen, columns = (
                    (rows[:, bent].toarray(), np.arange(len(bent)))
                    if issparse(rows)
                    else (rows, bent)
                )
                sums = np.ascontiguousarray(found.T)
                _add_pieces(np.ascontiguousarray(seen), columns, *self._pieces, sums)
                found = sums.T
            scores[start:stop] = found

        run_blocks(work, X.shape[0], _BLOCK, n_jobs)
        return scores

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        scores = np.asarray(X @ self.weights) + self.intercept
        for d in self.bent_columns:
            column = X[:, [d]].toarray()[:, 0] if issparse(X) else X[:, d]
            mine = slice(self.firsts[d], self.firsts[d + 1])
            for output, values in enumerate(self.values[mine].T):
                scores[:, output] += np.interp(column, self.knots[mine], values)
        return scores.astype(self.dtype)

    @property
    def bent_columns(self):
        """Numbers of the columns that have knots."""
        return np.flatnonzero(np.diff(self.firsts))

    @cached_property
    def _start(self):
        """The score where all columns are below their first knots, but for the linear model."""
        lowest = self.values[self.firsts[self.bent_columns]].sum(axis=0, dtype=np.float64)
        return (self.intercept + lowest).astype(self.dtype)

    @cached_property
    def _pieces(self):
        """Where the pieces of each bent column begin; of each its start, width and slopes.

        A column has a multiple of three pieces: those that fill it up add nothing.
        """
        bent = self.bent_columns
        counts = np.diff(self.firsts)[bent] - 1
        places = np.concatenate([[0], np.cumsum((counts + 2) // 3 * 3)])
        starts, widths = np.zeros((2, places[-1]), dtype=self.dtype)
        slopes = np.zeros((self.n_outputs, places[-1]), dtype=self.dtype)
        for place, count, first in zip(places, counts, self.firsts[bent]):
            mine, known = slice(place, place + count), slice(first, first + count + 1)
            starts[mine] = self.knots[known][:-1]
            widths[mine] = np.diff(self.knots[known])
            slopes[:, mine] = np.diff(self.values[known], axis=0).T / widths[mine]
        return places, starts, widths, slopes

    @property
    def n_features(self):
        return self.weights.shape[0]

    @property
    def n_outputs(self):
        return self.weights.shape[1]

    @property
    def dtype(self):
        return self.weights.dtype

    @property
    def cost(self):
        """A multiply-add for each column and output; and a comparison counts as one.

        There are as many comparisons as halve the intervals of a column until one is left.
        """
        intervals = np.diff(self.firsts)[self.bent_columns] + 1
        work = self.weights.size + int(np.ceil(np.log2(intervals)).sum())
        n_bytes = sum(getattr(self, field.name).nbytes for field in fields(self))
        return Cost(work, work / self.weights.size, int(n_bytes))

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@compiled_fast_sums
def _add_pieces(X, columns, places, starts, widths, slopes, sums):
    """Three pieces of a column at a time, for a tile of rows: straight lines of vector work."""
    zero = X.dtype.type(0.0)
    n_rows = len(X)
    x = np.empty(_TILE, dtype=X.dtype)
    a, b, c = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for first in range(0, n_rows, _TILE):
        size = min(_TILE, n_rows - first)
        for q in range(len(columns)):
            column = columns[q]
            for i in range(size):
                x[i] = X[first + i, column]
            for p in range(places[q], places[q + 1], 3):
                t0, t1, t2 = starts[p], starts[p + 1], starts[p + 2]
                h0, h1, h2 = widths[p], widths[p + 1], widths[p + 2]
                if len(sums) == 1:
                    s0, s1, s2 = slopes[0, p], slopes[0, p + 1], slopes[0, p + 2]
                    total = sums[0, first : first + size]
                    for i in range(size):
                        total[i] += (
                            s0 * min(max(x[i] - t0, zero), h0)
                            + s1 * min(max(x[i] - t1, zero), h1)
                            + s2 * min(max(x[i] - t2, zero), h2)
                        )
                else:
                    for i in range(size):
                        a[i] = min(max(x[i] - t0, zero), h0)
                        b[i] = min(max(x[i] - t1, zero), h1)
                        c[i] = min(max(x[i] - t2, zero), h2)
                    for o in range(len(sums)):
                        s0, s1, s2 = slopes[o, p], slopes[o, p + 1], slopes[o, p + 2]
                        total = sums[o, first : first + size]
                        for i in range(size):
                            total[i] += s0 * a[i] + s1 * b[i] + s2 * c[i]
