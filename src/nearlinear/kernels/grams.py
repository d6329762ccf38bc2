"""Gram matrices of many kernels on the training rows: computed when needed, kept while they fit."""

from typing import Protocol

import numpy as np

from .._compile import run_blocks
from .composite import WeightedSum
from .pairs import Pairs
from .rows import RowSource, SumRows

# A tile of this many entries stays in a core's cache while all kernels read its distances.
_TILE = 1 << 16
# Up to this many rows sums are kept in double precision; beyond, as in LIBSVM, in single.
DOUBLE_ROWS = 1000


class GramSource(Protocol):
    """The Gram matrices K_m of some kernels on the training rows."""

    n_kernels: int
    n_rows: int
    dtype: np.dtype

    def keep(self, which):
        """Hold these matrices, as far as they fit; forget all others."""

    def weighted(self, weights, out=None) -> np.ndarray:
        """Σ_m weights_m K_m."""

    def products(self, dual_coef, which, rows=None) -> np.ndarray:
        """(K_m a) at ``rows``; None stands for the rows of a ≠ 0."""

    def quadratics(self, dual_coef, which) -> np.ndarray:
        """S_m = aᵀK_m a."""

    def rows(self, weights, which, max_bytes) -> RowSource:
        """Rows of Σ_m weights_m K_m: a matrix where that fits, else computed on demand."""

    def in_double(self) -> "GramSource":
        """The same in double precision."""


class Grams(SumRows):
    """The Gram matrices K_m of ``kernels`` on the rows ``X``, within ``max_bytes``.

    What does not fit is computed anew each time, tile by tile, all kernels of a tile sharing its
    distances. ``landmarks`` are the same rows as kernels see them on their second argument.
    """

    def __init__(self, kernels, X, *, max_bytes=0, n_jobs=None, landmarks=None, dtype=None):
        self.kernels = list(kernels)
        self.n_kernels, self.n_rows = len(self.kernels), X.shape[0]
        if dtype is None:
            small = self.n_rows <= DOUBLE_ROWS
            dtype = np.float64 if small and X.dtype == np.float64 else np.float32
        self.dtype = np.dtype(dtype)
        self._given = X, landmarks
        # rows of less precision than the matrices are converted tile by tile
        is_narrow = X.dtype.kind == "f" and X.dtype.itemsize <= self.dtype.itemsize
        self.X = X if is_narrow else X.astype(self.dtype)
        self.landmarks = self.X if landmarks is None else landmarks
        self.n_jobs = n_jobs
        self._kept = {}
        self._room = max_bytes
        self._side = int(_TILE**0.5)

    def in_double(self):
        """The same matrices in double precision, of the rows as they were given; none is kept."""
        if self.dtype == np.float64:
            return self
        X, landmarks = self._given
        return Grams(self.kernels, X, n_jobs=self.n_jobs, landmarks=landmarks, dtype=np.float64)

    def pairs(self, rows, columns):
        near = self._precise(self.X[rows])
        if rows is columns and self.landmarks is self.X:
            return Pairs(near)  # symmetric to the last bit
        return Pairs(near, self._far(columns))

    def _precise(self, X):
        # similarities to other rows are what they are
        return X if X.ndim == 3 else X.astype(self.dtype, copy=False)

    def _far(self, rows):
        """The rows as kernels see them on their second argument."""
        Z = self.landmarks[rows]
        return self._precise(Z) if self.landmarks is self.X else Z

    def diagonals(self):
        """k_m(x_i, x_i), shape (n_kernels, n_rows)."""
        X = self._precise(self.X)
        return np.array([kernel.diagonal(X) for kernel in self.kernels], dtype=np.float64)

    def columns(self, rows):
        """Columns of all matrices, shape (n_kernels, n_rows, len(rows)); nothing is kept."""
        found = np.empty((self.n_kernels, self.n_rows, len(rows)), dtype=self.dtype)
        Z = self._far(rows)
        for m, gram in self._kept.items():
            found[m] = gram[rows].T
        rest = [m for m in range(self.n_kernels) if m not in self._kept]

        def fill(start, stop):
            pairs = Pairs(self._precise(self.X[start:stop]), Z)
            for m in rest:
                found[m, start:stop] = self.kernels[m].from_pairs(pairs)

        if not rest:
            return found
        run_blocks(fill, self.n_rows, max(1, _TILE // max(1, len(rows))), self.n_jobs)
        return found

    def keep(self, which):
        """Hold the matrices of these kernels, as far as they fit; forget all others."""
        self.forget_sum()
        self._room += sum(self._kept.pop(m).nbytes for m in set(self._kept) - set(which))
        if self.dtype == np.float32:
            # as large as these are, reading them back takes as long as computing them anew
            which = [m for m in which if not self.kernels[m].is_cheap]
        size = self.n_rows**2 * self.dtype.itemsize
        new = [m for m in dict.fromkeys(which) if m not in self._kept][
            : max(0, int(self._room // size))
        ]
        if not new:
            return
        grams = [np.empty((self.n_rows, self.n_rows), dtype=self.dtype) for _ in new]
        self._room -= size * len(new)

        def fill(rows, columns, pairs):
            for m, gram in zip(new, grams, strict=True):
                block = self.kernels[m].from_pairs(pairs)
                gram[rows, columns] = block
                gram[columns, rows] = block.T

        self._each_tile(np.arange(self.n_rows), fill)
        self._kept.update(zip(new, grams, strict=True))

    def weighted(self, weights, out=None):
        """Σ_m weights_m K_m as one matrix."""
        total = np.empty((self.n_rows, self.n_rows), dtype=self.dtype) if out is None else out
        used = np.flatnonzero(weights)
        kept = [(self._kept[m], self.dtype.type(weights[m])) for m in used if m in self._kept]
        rest = [(self.kernels[m], self.dtype.type(weights[m])) for m in used if m not in self._kept]

        def add(rows, columns, pairs):
            tile = np.zeros(pairs.shape, dtype=self.dtype)
            for gram, weight in kept:
                tile += weight * gram[rows, columns]
            for kernel, weight in rest:
                values = kernel.from_pairs(pairs)
                values *= weight
                tile += values
            total[rows, columns] = tile
            total[columns, rows] = tile.T

        self._each_tile(np.arange(self.n_rows), add)
        return total

    def mixture(self, weights, which):
        """The same sum as a kernel of ``X``."""
        return WeightedSum(tuple(self.kernels[m] for m in which), tuple(map(float, weights)))

    def modulated(self, factors, out=None):
        """Σ_m (F_m F_mᵀ) ∘ K_m for ``factors``, a dict from kernels to (n_rows, any) arrays."""
        total = np.empty((self.n_rows, self.n_rows), dtype=self.dtype) if out is None else out

        def add(rows, columns, pairs):
            tile = np.zeros(pairs.shape, dtype=self.dtype)
            for m, factor in factors.items():
                values = factor[rows] @ factor[columns].T
                kept = self._kept.get(m)
                values *= self.kernels[m].from_pairs(pairs) if kept is None else kept[rows, columns]
                tile += values
            total[rows, columns] = tile
            total[columns, rows] = tile.T

        self._each_tile(np.arange(self.n_rows), add)
        return total

    def quadratics(self, dual_coef, which):
        """aᵀK_m a for the kernels ``which``."""
        used = np.flatnonzero(dual_coef)
        coef = dual_coef[used]
        found = np.zeros(len(which))
        unknown = [p for p, m in enumerate(which) if m not in self._kept]
        for p in set(range(len(which))) - set(unknown):
            # the whole product is quicker than gathering the part that matters
            found[p] = dual_coef @ (self._kept[which[p]] @ dual_coef.astype(self.dtype))
        if not unknown or len(used) == 0:
            return found
        parts = []

        def add(rows, columns, pairs):
            left, right = coef[rows], coef[columns].astype(self.dtype)
            twice = 1.0 if rows == columns else 2.0
            # one list entry per tile: the order of additions must not depend on threads
            values = [
                twice * (left @ (self.kernels[which[p]].from_pairs(pairs) @ right)) for p in unknown
            ]
            parts.append((rows.start, columns.start, values))

        self._each_tile(used, add)
        for _, _, values in sorted(parts):
            found[unknown] += values
        return found

    def _own_products(self, dual_coef, which):
        """(K_m a) at the rows of a ≠ 0; a tile serves both its sides."""
        used = np.flatnonzero(dual_coef)
        coef = dual_coef[used].astype(self.dtype)
        found = np.zeros((len(which), len(used)))
        unknown = [p for p, m in enumerate(which) if m not in self._kept]
        for p in set(range(len(which))) - set(unknown):
            found[p] = (self._kept[which[p]] @ dual_coef.astype(self.dtype))[used]
        parts = []

        def add(rows, columns, pairs):
            right, below = [], []
            for p in unknown:
                values = self.kernels[which[p]].from_pairs(pairs)
                right.append(values @ coef[columns])
                if rows != columns:
                    below.append(coef[rows] @ values)
            # collected: the order of additions must not depend on threads
            parts.append((rows.start, columns.start, rows, columns, right, below))

        if unknown and len(used):
            self._each_tile(used, add)
        for _, _, rows, columns, right, below in sorted(parts, key=lambda part: part[:2]):
            found[unknown, rows] += right
            if below:
                found[unknown, columns] += below
        return found

    def products(self, dual_coef, which, rows=None):
        """(K_m a) at ``rows`` for the kernels ``which``, shape (len(which), len(rows)).

        None stands for the rows of a ≠ 0.
        """
        if rows is None:
            return self._own_products(dual_coef, which)
        found = self.products_of_many([dual_coef[:, None]] * len(which), which, rows)
        return np.array([product[:, 0] for product in found]).reshape(len(which), len(rows))

    def products_of_many(self, coefs, which, rows):
        """K_m A_m at ``rows``, for one matrix A_m of shape (n_rows, any) per kernel."""
        used = np.flatnonzero(np.any([np.any(coef != 0.0, axis=1) for coef in coefs], axis=0))
        found = [np.zeros((len(rows), coef.shape[1])) for coef in coefs]
        if len(used) == 0:
            return found
        unknown = [p for p, m in enumerate(which) if m not in self._kept]
        for p in set(range(len(which))) - set(unknown):
            # the whole product is quicker than gathering the part that matters
            found[p][:] = (self._kept[which[p]] @ coefs[p].astype(self.dtype))[rows]
        if unknown:
            coefs = [coef[used].astype(self.dtype) for coef in coefs]

            def fill(start, stop):
                # in strips of columns, too: a sparse one is made dense for its products
                for first in range(0, len(used), self._side):
                    part = slice(first, first + self._side)
                    pairs = self.pairs(rows[start:stop], used[part])
                    for p in unknown:
                        values = self.kernels[which[p]].from_pairs(pairs)
                        found[p][start:stop] += values @ coefs[p][part]

            run_blocks(fill, len(rows), self._side, self.n_jobs)
        return found

    def _each_tile(self, members, work):
        """Call ``work(rows, columns, pairs)`` for the tiles on and above the diagonal.

        ``rows`` and ``columns`` are slices of ``members``, row numbers.
        """
        n, side = len(members), self._side
        slices = [slice(start, min(start + side, n)) for start in range(0, n, side)]

        def row_of_tiles(start, stop):
            for r in range(start, stop):
                rows, near = slices[r], members[slices[r]]
                for columns in slices[r:]:
                    far = near if columns is rows else members[columns]
                    work(rows, columns, self.pairs(near, far))

        run_blocks(row_of_tiles, len(slices), 1, self.n_jobs)
