"""Products and squared distances between two sets of rows, computed once for many kernels."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property

_DENSE_NUMBERS = 1 << 22  # what sparse rows may hold, zeros and all, to be filled in for a product


class Pairs:
    """All pairs (x, z) of rows of ``X`` and ``Z``; ``Z`` None stands for ``X`` itself.

    Gaussians of ten widths share one matrix of distances. The arrays are kept as long as this
    object lives and must not be written to.
    """

    X: Any
    Z: Any
    is_square: bool

    def __init__(self, X: Any, Z: Any = None) -> None:
        self.X = X = as_floats(X)
        # beside a stack of similarities, Z are the numbers of rows
        self.Z = X if Z is None else Z if X.ndim == 3 else as_floats(Z)
        if issparse(self.Z) and not issparse(X):
            self.Z = self.Z.toarray()
        self.is_square = Z is None
        self._on = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.Z.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def on(self, columns: Any) -> "Pairs":
        """The same pairs of rows, seen on some columns only."""
        if columns not in self._on:
            index = list(columns)
            Z = None if self.is_square else self.Z[:, index]
            self._on[columns] = Pairs(self.X[:, index], Z)
        return self._on[columns]

    def of_rows(self, rows: Any) -> Any:
        """The pairs of some rows of ``X``; their products and distances are those found here."""
        return _SomePairs(self, rows)

    @cached_property
    def products(self) -> np.ndarray:
        """⟨x, z⟩."""
        return _products(self.X, self.Z)

    @cached_property
    def squared_distances(self) -> np.ndarray:
        """‖x − z‖²."""
        X, Z = self.X, self.Z
        if not issparse(X) and X.shape[1] == 1:
            return (X - Z.T) ** 2
        # distances of rows far from the origin would drown in rounding
        if issparse(X):
            X, Z = X.astype(np.float64), Z.astype(np.float64)
        else:
            center = Z.mean(axis=0)
            X, Z = X - center, Z - center
        squares = _products(X, X if self.is_square else Z)
        squares *= -2.0
        squares += squared_norms(X)[:, None]
        squares += squared_norms(Z)
        np.maximum(squares, 0.0, out=squares)
        if self.is_square:
            squares = 0.5 * (squares + squares.T)
            np.fill_diagonal(squares, 0.0)
        return squares.astype(self.dtype, copy=False)


class _SomePairs:
    """Pairs of some rows, taken out of all pairs.

    Products of fewer rows would not have the same last bits.
    """

    is_square = False

    def __init__(self, pairs, rows):
        self._pairs, self._rows = pairs, rows
        self.X, self.Z, self.dtype = pairs.X[rows], pairs.Z, pairs.dtype

    @property
    def shape(self):
        return len(self._rows), self.Z.shape[0]

    def on(self, columns):
        return self._pairs.on(columns).of_rows(self._rows)

    @cached_property
    def products(self):
        return self._pairs.products[self._rows]

    @cached_property
    def squared_distances(self):
        return self._pairs.squared_distances[self._rows]


def as_floats(X):
    """Whole numbers would turn every parameter of a kernel into one."""
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def squared_norms(X):
    """‖x‖² of every row, in the precision of the rows."""
    X = as_floats(X)
    if issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=X.dtype).ravel()
    return np.einsum("id,id->i", X, X)


def _products(X, Z):
    if not issparse(X):
        return X @ Z.T
    if issparse(Z) and Z.shape[0] * Z.shape[1] > _DENSE_NUMBERS:
        return (X @ Z.T).toarray()
    # dense, a block of rows that are not too wide is small, and the product is quick
    return np.asarray(X @ (Z.toarray() if issparse(Z) else Z).T)
