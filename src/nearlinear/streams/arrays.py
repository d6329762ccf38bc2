"""Blocks of arrays, in memory or mapped from .npy files."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from .._hints import FilePath, Rows, Source, Targets
from .blocks import Block, usual_rows

PARTS_OF_BLOCK = 8  # a block of shuffled rows comes from so many places


class ArrayBlocks:
    """Rows of arrays, a part at a time; of mapped files, no more than that is in memory."""

    def __init__(self, X, y, weight, block_rows, dtype):
        self.X, self.y, self.weight, self.dtype = X, y, weight, dtype
        self.block_rows = block_rows
        self._step = max(1, block_rows // PARTS_OF_BLOCK)
        self.n_parts = -(-X.shape[0] // self._step)
        if not issparse(X):
            self.row_bytes = X.shape[1] * dtype.itemsize

    def part(self, number):
        rows = slice(number * self._step, (number + 1) * self._step)
        X = self.X[rows]
        X = X.astype(self.dtype) if issparse(X) else np.array(X, dtype=self.dtype, order="C")
        weight = None if self.weight is None else np.array(self.weight[rows])
        yield Block(X, np.array(self.y[rows]), weight)

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


def from_arrays(
    X: Rows | FilePath,
    y: Targets | FilePath,
    sample_weight: ArrayLike | FilePath | None = None,
    *,
    block_rows: int | None = None,
    dtype: Any = "float32",
) -> Source:
    """A source of the rows of arrays.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features), or path
        Rows. An array may be memory-mapped; the path of an .npy file is mapped here.
    y : array of shape (n_samples,), or path
        Labels or values.
    sample_weight : array of shape (n_samples,), path or None, default=None
        Weights of the rows.
    block_rows : int or None, default=None
        Rows of a block. None stands for 64 MB.
    dtype : dtype, default="float32"
        Precision in which rows are given out.

    Returns
    -------
    ArrayBlocks
        Can be iterated again and again; ``fit`` of a method that streams takes it.
    """
    X, y, weight = (_opened(array) for array in (X, y, sample_weight))
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError("X must be a matrix of rows and columns.")
    for name, array in (("y", y), ("sample_weight", weight)):
        if array is not None and array.shape != X.shape[:1]:
            raise ValueError(f"{name} has shape {array.shape}, X has {X.shape[0]} rows.")
    if X.shape[0] == 0:
        raise ValueError("X has no rows.")
    dtype = np.dtype(dtype)
    rows = checked_rows(block_rows) or usual_rows(X.shape[1], dtype.itemsize)
    return ArrayBlocks(X, y, weight, rows, dtype)


def checked_rows(block_rows):
    if block_rows is not None and not (int(block_rows) == block_rows and block_rows >= 1):
        raise ValueError(f"block_rows={block_rows!r} must be a whole number of 1 or more, or None.")
    return None if block_rows is None else int(block_rows)


def _opened(array):
    if isinstance(array, str | os.PathLike):
        return np.load(array, mmap_mode="r", allow_pickle=False)
    if array is None or issparse(array):
        return array if array is None else array.tocsr()
    return array if hasattr(array, "shape") else np.asarray(array)
