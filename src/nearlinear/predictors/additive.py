"""f(x) = b + ⟨w, x⟩ + Σ_d g_d(x_d), where each g_d is a line between knots and level beyond."""

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import compiled_fast_sums, run_blocks
from .base import Cost, check_width, products

_BLOCK, _LINEAR_BLOCK = 2048, 16384  # rows
_TILE, _GROUP = 64, 32  # rows and columns that stay in the first cache


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
            rows, found = X[start:stop], scores[start:stop]
            if issparse(rows):
                found[:] = rows @ self.weights
            else:
                products(rows, self.weights, found)
            found += self._start
            if len(self.knots):
                sums = np.ascontiguousarray(found.T)  # one output is there already
                _add_pieces(*self._seen(rows), *self._pieces, sums)
                if self.n_outputs > 1:
                    found[:] = sums.T

        run_blocks(work, X.shape[0], _BLOCK if len(self.knots) else _LINEAR_BLOCK, n_jobs)
        return scores

    def _seen(self, rows):
        """Rows, and where the bent columns are in them."""
        bent = self.bent_columns
        if issparse(rows):
            return rows[:, bent].toarray(), np.arange(len(bent))
        return np.ascontiguousarray(rows), bent

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
        arrays = [self.weights, self.intercept]
        if len(self.bent_columns):  # else nothing reads where knots would begin
            arrays += [self.firsts, self.knots, self.values]
        n_bytes = sum(array.nbytes for array in arrays)
        return Cost(work, work / self.weights.size, int(n_bytes))

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def additive_of(coefficients, intercept, knots, n_features, dtype=np.float64):
    """From a linear model on columns and their pieces, as scikit-learn has them.

    Parameters
    ----------
    coefficients : array of shape (n_outputs, n_features + n_pieces)
        Of all columns, then of the pieces of each column in ``knots``, in its order: one for each
        knot, or all but the last, as without ``include_bias``.
    intercept : array of shape (n_outputs,)
    knots : dict of int to array
        Ascending, by column; ``knots_of`` reads them from a SplineTransformer.
    n_features : int
    dtype : numpy type
        Knots that are one number in this type become one, with the mean of their values.
    """
    coefficients = np.atleast_2d(coefficients)
    intercept = np.array(np.atleast_1d(intercept), dtype=np.float64)
    bent, place = {}, n_features
    widths = {d: len(known) for d, known in knots.items()}
    if coefficients.shape[1] == n_features + sum(widths.values()) - len(widths):
        widths = {d: count - 1 for d, count in widths.items()}
    if coefficients.shape[1] != n_features + sum(widths.values()):
        raise ValueError(
            f"There are {coefficients.shape[1]} coefficients for {n_features} columns and "
            f"{sum(widths.values())} knots: give one for each."
        )
    for d, known in knots.items():
        values = np.zeros((len(known), len(coefficients)))
        values[: widths[d]] = coefficients[:, place : place + widths[d]].T
        place += widths[d]
        bent[d] = _merged(np.asarray(known).astype(dtype), values)
        if len(bent[d][0]) == 1:  # no line is left of it
            intercept += bent.pop(d)[1][0]
    counts = [len(bent[d][0]) if d in bent else 0 for d in range(n_features)]
    ordered = [bent[d] for d in sorted(bent)]
    return Additive(
        np.ascontiguousarray(coefficients[:, :n_features].T, dtype=dtype),
        intercept.astype(dtype),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([known for known, _ in ordered] or [[]]).astype(dtype),
        np.concatenate([v for _, v in ordered] or [np.empty((0, len(intercept)))]).astype(dtype),
    )


def knots_of(spline, columns):
    """The knots of a fitted SplineTransformer of degree 1, by the columns that it has seen."""
    if spline.degree != 1 or spline.extrapolation != "constant":
        raise ValueError(
            "An additive model has straight lines that are level beyond their knots: take "
            f"SplineTransformer(degree=1, extrapolation='constant'), not degree={spline.degree!r} "
            f"and extrapolation={spline.extrapolation!r}."
        )
    # one more at either end is the spline's own
    return {d: one.t[1:-1] for d, one in zip(columns, spline.bsplines_, strict=True)}


def _merged(knots, values):
    found, places = np.unique(knots, return_inverse=True)
    sums = np.zeros((len(found), values.shape[1]))
    np.add.at(sums, places, values)
    return found, sums / np.bincount(places)[:, None]


@compiled_fast_sums
def _add_pieces(X, columns, places, starts, widths, slopes, sums):
    """Three pieces of a column at a time, for a tile of rows: straight lines of vector work."""
    zero = X.dtype.type(0.0)
    # a tile's columns are not a power of two apart, or they would share sets of the cache
    x = np.zeros((_GROUP, _TILE + 8), dtype=X.dtype)
    a, b, c = np.empty(_TILE, X.dtype), np.empty(_TILE, X.dtype), np.empty(_TILE, X.dtype)
    total = np.zeros((len(sums), _TILE), dtype=X.dtype)
    for first in range(0, len(X), _TILE):
        size = min(_TILE, len(X) - first)
        total[:, :size] = sums[:, first : first + size]
        for group in range(0, len(columns), _GROUP):
            count = min(_GROUP, len(columns) - group)
            for i in range(size):
                row = X[first + i]
                for q in range(count):
                    x[q, i] = row[columns[group + q]]
            for q in range(count):
                v = x[q]
                for p in range(places[group + q], places[group + q + 1], 3):
                    t0, t1, t2 = starts[p], starts[p + 1], starts[p + 2]
                    h0, h1, h2 = widths[p], widths[p + 1], widths[p + 2]
                    if len(sums) == 1:
                        s0, s1, s2 = slopes[0, p], slopes[0, p + 1], slopes[0, p + 2]
                        only = total[0]
                        for i in range(_TILE):
                            only[i] += (
                                s0 * min(max(v[i] - t0, zero), h0)
                                + s1 * min(max(v[i] - t1, zero), h1)
                                + s2 * min(max(v[i] - t2, zero), h2)
                            )
                        continue
                    for i in range(_TILE):
                        a[i] = min(max(v[i] - t0, zero), h0)
                        b[i] = min(max(v[i] - t1, zero), h1)
                        c[i] = min(max(v[i] - t2, zero), h2)
                    for o in range(len(sums)):
                        s0, s1, s2 = slopes[o, p], slopes[o, p + 1], slopes[o, p + 2]
                        own = total[o]
                        for i in range(_TILE):
                            own[i] += s0 * a[i] + s1 * b[i] + s2 * c[i]
        sums[:, first : first + size] = total[:, :size]
