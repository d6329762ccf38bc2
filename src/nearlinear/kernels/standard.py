"""Linear, polynomial and Gaussian kernels, a kernel on some columns, and kernels of the user."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from .base import evaluates_pairs
from .pairs import Pairs, squared_norms
from .row_scales import RowScales

_MAX_DEGREE = 1000  # the same limit as in model files
_MAX_WIDTH = 1e100  # squares of widths and of their inverses are finite
_LARGEST = np.finfo(np.float64).max


def _is_scale(gamma):
    return gamma is None or 0 < gamma <= _LARGEST


@evaluates_pairs
@dataclass(frozen=True)
class Linear:
    """⟨x, z⟩."""

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        return pairs.products.copy()

    def diagonal(self, X: Any) -> np.ndarray:
        return squared_norms(X)

    def for_rows(self, X: Any) -> Any:
        return self


@evaluates_pairs
@dataclass(frozen=True)
class Polynomial:
    """(gamma ⟨x, z⟩ + coef0) ** degree.

    Parameters
    ----------
    degree : int, default=2
        An integer from 1 to 1000.
    gamma : float or None, default=None
        Above 0. None is one over the rows' mean squared norm.
    coef0 : float, default=1.0
        0 or more.
    """

    degree: int = 2
    gamma: float | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        degree = self.degree
        if not isinstance(degree, Real) or not 1 <= degree <= _MAX_DEGREE or degree % 1:
            raise ValueError(
                f"Polynomial: degree must be an integer from 1 to {_MAX_DEGREE}, got {degree!r}."
            )
        if not 0 <= self.coef0 <= _LARGEST or not _is_scale(self.gamma):
            raise ValueError(
                "Polynomial needs gamma above 0 and coef0 of 0 or more, "
                f"not {self.gamma!r} and {self.coef0!r}: it would not be a kernel."
            )

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        return self._power(pairs.products * pairs.dtype.type(_fixed(self)))

    def diagonal(self, X: Any) -> np.ndarray:
        norms = squared_norms(X)
        return self._power(norms * norms.dtype.type(_fixed(self)))

    def for_rows(self, X: Any) -> Any:
        if self.gamma is not None:
            return self
        return replace(self, gamma=1.0 / RowScales.of(X).mean_squared_norm)

    def _power(self, values):
        values += values.dtype.type(self.coef0)
        base = values.copy() if self.degree > 1 else values
        for _ in range(int(self.degree) - 1):  # np.power is twenty times slower
            values *= base
        return values


@evaluates_pairs
@dataclass(frozen=True)
class Gaussian:
    """exp(−gamma ‖x − z‖²).

    Parameters
    ----------
    gamma : float or None, default=None
        Above 0. None is 1 / (width² × the rows' median squared distance). The median is over all
        pairs of distinct rows; of more than 500 rows, about 500 stand for all.
    width : float, default=1.0
        From 1e-100 to 1e100, relative to the rows; it counts where gamma is None.
    """

    gamma: float | None = None
    width: float = 1.0

    def __post_init__(self) -> None:
        if not _is_scale(self.gamma):
            raise ValueError(f"Gaussian: gamma must be finite and > 0, got {self.gamma!r}.")
        if not 1 / _MAX_WIDTH <= self.width <= _MAX_WIDTH:
            raise ValueError(
                f"Gaussian: width must be in [{1 / _MAX_WIDTH}, {_MAX_WIDTH}], got {self.width!r}."
            )

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        values = pairs.squared_distances * pairs.dtype.type(-_fixed(self))
        return np.exp(values, out=values)

    def diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0], dtype=X.dtype if X.dtype.kind == "f" else np.float64)

    def for_rows(self, X: Any) -> Any:
        if self.gamma is not None:
            return self
        return replace(self, gamma=1.0 / (self.width**2 * RowScales.of(X).squared_distance))


@evaluates_pairs
@dataclass(frozen=True)
class OnColumns:
    """A kernel that sees some columns of the rows only.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    columns : sequence of int
        Numbers of the columns, from 0 on.
    """

    kernel: object
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        return self.kernel.from_pairs(pairs.on(self.columns))

    def diagonal(self, X: Any) -> np.ndarray:
        return self.kernel.diagonal(X[:, list(self.columns)])

    def for_rows(self, X: Any) -> Any:
        return replace(self, kernel=self.kernel.for_rows(RowScales.of(X).on(self.columns)))


@evaluates_pairs
@dataclass(frozen=True)
class Custom:
    """A function of yours as a kernel.

    Parameters
    ----------
    function : callable
        Of two sets of rows X and Z; returns their Gram block of shape (len(X), len(Z)).
    """

    function: Callable

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        block = np.array(self.function(pairs.X, pairs.Z), dtype=pairs.dtype)
        if block.shape != pairs.shape:
            name = getattr(self.function, "__name__", repr(self.function))
            raise ValueError(
                f"The kernel {name} returned an array of shape {block.shape} for "
                f"{pairs.shape[0]} and {pairs.shape[1]} rows; it must have one row and one "
                "column for each."
            )
        if not np.all(np.isfinite(block)):
            raise ValueError("A kernel returned NaN or infinity; it must return finite numbers.")
        return block

    def diagonal(self, X: Any) -> np.ndarray:
        parts = [np.diag(self(X[i : i + 64])) for i in range(0, X.shape[0], 64)]
        return np.concatenate(parts)

    def for_rows(self, X: Any) -> Any:
        return self


@evaluates_pairs
@dataclass(frozen=True)
class Precomputed:
    """One layer of a stack of Gram matrices.

    Here a row is its similarities to all training rows under all kernels, an array of shape
    (n_training_rows, n_kernels), and ``Z`` names training rows by their numbers.
    """

    layer: int

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        return np.array(pairs.X[:, pairs.Z[:, 0], self.layer])

    def diagonal(self, X: Any) -> np.ndarray:
        rows = np.arange(X.shape[0])
        return X[rows, rows, self.layer]

    def for_rows(self, X: Any) -> Any:
        return self


def _fixed(kernel):
    if kernel.gamma is None:
        raise ValueError(
            f"{kernel!r} has no gamma yet: give it one, or take kernel.for_rows(X), "
            "which sets it from the training rows."
        )
    return kernel.gamma
