"""Where a solver gets its rows of the kernel matrix: a matrix in memory, or computed on demand."""

from typing import Protocol

import numpy as np

from .._compile import compiled
from .pairs import Pairs

# Entries of a tile that is computed at once: it and its distances stay in a core's cache.
_TILE = 1 << 17
_STRIP = 256  # rows of a tile


class RowSource(Protocol):
    """A kernel matrix K as a solver of machines reads it."""

    n_rows: int
    working_set: int  # rows that are solved for together
    whole_set: int  # up to so many rows, all are solved for together

    def block(self, rows) -> np.ndarray:
        """K[rows, rows]."""

    def restrict(self, columns):
        """Serve these columns from here on."""

    def subtract(self, rows, change, slack):
        """slack −= K[:, rows] change, at the columns served."""

    def subtract_at(self, others, rows, change, slack):
        """The same, at the columns ``others``."""


class SumRows:
    """What Gram sources share: rows of Σ_m weights_m K_m.

    The matrix of the last weights is at hand: the curvature reads it once more.
    """

    _matrix = _weights = None

    def rows(self, weights, which, max_bytes):
        """A matrix in memory where that fits, else rows on demand."""
        if self.n_rows**2 * self.dtype.itemsize > max_bytes:
            used = np.flatnonzero(weights)
            return self.rows_on_demand(weights[used], which[used], max_bytes)
        all_weights = np.zeros(self.n_kernels)
        all_weights[which] = weights
        if not np.array_equal(all_weights, self._weights):
            self._matrix = self.weighted(all_weights, out=self._matrix)
            self._weights = all_weights
        return GramRows(self._matrix)

    def rows_on_demand(self, weights, which, max_bytes):
        kernel = self.mixture(weights, which)
        return ComputedRows(kernel, self.X, max_bytes, self.landmarks, dtype=self.dtype)

    def forget_sum(self):
        self._matrix = self._weights = None


class GramRows:
    """Rows of a matrix in memory."""

    working_set = 512  # fewer rows than this are never worth leaving out

    def __init__(self, gram):
        self.gram = gram
        self.n_rows = len(gram)
        self.whole_set = self.n_rows

    def block(self, rows):
        """The matrix among ``rows``."""
        if np.array_equal(rows, np.arange(self.n_rows)):
            return self.gram
        return self.gram[np.ix_(rows, rows)]

    def restrict(self, columns):
        """A matrix in memory serves all columns."""

    def subtract(self, rows, change, slack):
        """slack −= Σ_r change_r K_r, at all columns."""
        _subtract_rows(self.gram, rows, change, slack)

    def subtract_at(self, others, rows, change, slack):
        """The same, at the columns ``others`` only."""
        new = slack.copy()
        _subtract_rows(self.gram, rows, change, new)
        slack[others] = new[others]


class ComputedRows:
    """Rows of a kernel on demand, the latest kept within ``max_bytes``.

    While a solver works on some columns only, rows are computed and kept on these alone. In single
    precision scores are certain to about 1e-7 Σ|a|.
    """

    def __init__(
        self, kernel, X, max_bytes, landmarks=None, working_set=2048, whole_set=5000,
        dtype=np.float32,
    ):  # fmt: skip
        self.kernel = kernel
        self.dtype = np.dtype(dtype)
        is_own = landmarks is None or landmarks is X
        self.X = X if X.ndim == 3 else X.astype(self.dtype, copy=False)
        self.landmarks = self.X if is_own else landmarks
        self.n_rows = X.shape[0]
        self.max_bytes = max_bytes
        self.working_set = working_set
        self.whole_set = min(whole_set, int((max_bytes / self.dtype.itemsize) ** 0.5))
        self.n_computed = 0
        self._slot_of = np.full(self.n_rows, -1)
        self._used = np.empty(0, dtype=np.int64)
        self._buffer = np.empty(int(max_bytes // self.dtype.itemsize), dtype=self.dtype)
        self.restrict(np.arange(self.n_rows))

    def block(self, rows):
        """The matrix among ``rows``."""
        size = len(rows) ** 2
        if len(self._rows) == 0 and size <= len(self._buffer):
            gram = self._buffer[:size].reshape(len(rows), len(rows))
        else:
            gram = np.empty((len(rows), len(rows)), dtype=self.dtype)
        self._fill(rows, self.landmarks[rows], gram, np.arange(len(rows)))
        return gram

    def restrict(self, columns):
        """Keep rows on ``columns`` from here on (a subset of the present ones, or all)."""
        width = max(1, len(columns))
        n_slots = min(self.n_rows, len(self._buffer) // width)
        kept = np.empty(0, dtype=np.intp)
        if len(columns) <= self.whole_set:
            n_slots = 0  # the matrix as a whole is asked for, rows are not
        elif len(columns) < self.n_rows:
            kept = np.flatnonzero(self._slot_of >= 0)
            kept = kept[np.argsort(self._slot_of[kept])][:n_slots]
        rows = self._buffer[: n_slots * width].reshape(n_slots, width)
        used = np.full(n_slots, -1)
        if len(kept):
            position = np.searchsorted(self._columns, columns)
            # in the order of their slots, and forwards: none is written over before it is read
            for new, slot in enumerate(self._slot_of[kept]):
                rows[new] = self._rows[slot, position]
            used[: len(kept)] = self._used[self._slot_of[kept]]
        self._rows, self._columns, self._used = rows, columns, used
        self._owner = np.full(n_slots, -1)
        self._owner[: len(kept)] = kept
        self._slot_of[:] = -1
        self._slot_of[kept] = np.arange(len(kept))
        self._time = max(0, int(used.max(initial=-1)))
        self._Z = self.landmarks[columns]

    def subtract(self, rows, change, slack):
        """slack −= Σ_r change_r K_r, at the columns served."""
        self._time += 1
        is_new = self._slot_of[rows] < 0
        self._used[self._slot_of[rows[~is_new]]] = self._time
        room = np.flatnonzero(self._used < self._time)
        # the newest of those that do not fit are computed, used and forgotten
        new = np.flatnonzero(is_new)
        passing = new[len(room) :]
        new = rows[new[: len(room)]]
        if len(new):
            oldest = room[np.argpartition(self._used[room], len(new) - 1)[: len(new)]]
            evicted = self._owner[oldest]
            self._slot_of[evicted[evicted >= 0]] = -1
            self._owner[oldest] = new
            self._slot_of[new] = oldest
            self._used[oldest] = self._time
            self.n_computed += len(new)
            self._fill(new, self._Z, self._rows, oldest)
        slots = self._slot_of[rows]
        _subtract_rows(self._rows, slots[slots >= 0], change[slots >= 0], slack)
        if len(passing):
            self._subtract_unkept(rows[passing], change[passing], slack, self._Z)

    def subtract_at(self, others, rows, change, slack):
        """slack −= Σ_r change_r K_r, at the columns ``others``; nothing is kept."""
        if len(rows) and len(others):
            new = slack[others]
            self._subtract_unkept(rows, change, new, self.landmarks[others])
            slack[others] = new

    def _subtract_unkept(self, rows, change, slack, Z):
        self.n_computed += len(rows)
        for start in range(0, len(rows), _STRIP):
            X = self.X[rows[start : start + _STRIP]]
            weights = change[start : start + _STRIP].astype(self.dtype)
            for first in range(0, Z.shape[0], _TILE // _STRIP):
                part = slice(first, first + _TILE // _STRIP)
                slack[part] -= weights @ self.kernel.from_pairs(Pairs(X, Z[part]))

    def _fill(self, rows, Z, out, slots):
        """Rows of the matrix, at the columns ``Z``, into ``out[slots]``, a tile at a time."""
        for start in range(0, len(rows), _STRIP):
            X, target = self.X[rows[start : start + _STRIP]], slots[start : start + _STRIP]
            for first in range(0, Z.shape[0], _TILE // _STRIP):
                part = slice(first, first + _TILE // _STRIP)
                out[target, part] = self.kernel.from_pairs(Pairs(X, Z[part]))


@compiled
def _subtract_rows(matrix, rows, change, slack):
    """Four rows at a time, in stretches of columns whose slack stays in the nearest cache."""
    n_columns, n_rows = len(slack), len(rows)
    for start in range(0, n_columns, 2048):
        stop = min(start + 2048, n_columns)
        r = 0
        while r + 4 <= n_rows:
            one, two = matrix[rows[r]], matrix[rows[r + 1]]
            three, four = matrix[rows[r + 2]], matrix[rows[r + 3]]
            a, b, c, d = change[r], change[r + 1], change[r + 2], change[r + 3]
            for k in range(start, stop):
                slack[k] -= (a * one[k] + b * two[k]) + (c * three[k] + d * four[k])
            r += 4
        while r < n_rows:
            row, a = matrix[rows[r]], change[r]
            for k in range(start, stop):
                slack[k] -= a * row[k]
            r += 1
