"""A block of rows on its way down: tiles of their values, and where they end."""

import math

import numpy as np
from scipy.sparse import issparse

from .walk import (
    add_pairs,
    all_float32,
    fill_dense,
    fill_sparse,
    split_missing,
    to_keys,
    walk_narrow,
    walk_wide,
)

TILE = 64
_LINE = 64  # bytes of a cache line


class BlockMemory:
    """Of one block of rows on its way down: tiles of values, by column, and where rows end."""

    def __init__(self, forest, n_rows):
        n_tiles = n_rows // TILE
        self._forest = forest
        # leaves read the first column, where nothing is split, too
        self._narrow = _lined_up((n_tiles, max(1, forest.width), TILE), np.float32)
        self._both = None  # keys of missing values that go right, then left
        self._wide = None
        self._ends = _lined_up((forest.n_trees, n_rows), np.int32)

    def lead(self, X):
        forest, n_rows = self._forest, X.shape[0]
        n_tiles = -(-n_rows // TILE)
        found = self.keys(X)
        if found is not None:
            keys, tables = found
            walk_narrow(
                keys, n_tiles, tables.nodes, forest.starts, tables.top_starts, tables.top_columns,
                tables.top_keys, tables.top_masks, tables.entries, tables.ends_there, self._ends,
            )  # fmt: skip
            return self._ends
        walk_wide(
            self.values(X), n_rows, forest.columns, forest.thresholds, forest.children,
            forest.missing_left, forest.sets, forest.categories, forest.starts, self._ends,
        )  # fmt: skip
        return self._ends

    def values(self, X):
        """Tiles of the rows as they are."""
        if self._wide is None:
            self._wide = np.zeros(self._narrow.shape, dtype=self._forest.dtype)
        self._fill(X, self._wide)
        return self._wide

    def keys(self, X):
        """Tiles of the rows as ordered whole numbers and the tables for them; None: no such."""
        forest = self._forest
        if forest.narrow is None or not self._all_narrow(X):
            return None
        self._fill(X, self._narrow)
        keys = self._narrow[: -(-X.shape[0] // TILE)].view(np.int32)
        if not to_keys(keys.reshape(-1)):
            return keys, forest.narrow
        if forest.narrow_missing is None:
            return None
        if self._both is None:
            shape = len(self._narrow), 2 * self._narrow.shape[1], TILE
            self._both = _lined_up(shape, np.int32)
        split_missing(keys, self._both)
        return self._both, forest.narrow_missing

    def _all_narrow(self, X):
        """Whether all values are float32 numbers, and sums of pairs are rounded to such."""
        if self._forest.dtype == np.float32:
            return True
        values = X.data if issparse(X) else X
        is_exact = values.dtype == np.float32 or all_float32(values.ravel())
        return is_exact and not len(self._forest.pairs)

    def _fill(self, X, tiles):
        forest = self._forest
        if issparse(X):
            fill_sparse(X.indptr, X.indices, X.data, forest.place, len(forest.used), tiles)
        else:
            fill_dense(X, forest.used, tiles)
        if len(forest.pairs):
            n_tiles = -(-X.shape[0] // TILE)
            add_pairs(tiles, n_tiles, forest.pairs, forest.factors, len(forest.used))


def _lined_up(shape, dtype):
    """Zeros from the start of a cache line on: a vector that lies in two takes twice as long."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + _LINE, dtype=np.uint8)
    first = -raw.__array_interface__["data"][0] % _LINE
    return raw[first : first + size].view(dtype).reshape(shape)
