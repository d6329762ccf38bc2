"""Sums and products of kernels are kernels, and so are rescaled ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .base import evaluates_pairs
from .gated_grams import gates_of
from .pairs import Pairs


@evaluates_pairs
@dataclass(frozen=True)
class Scaled:
    """factor × k.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    factor : float
        0 or more.
    """

    kernel: object
    factor: float

    def __post_init__(self) -> None:
        if not 0 <= self.factor < np.inf:
            raise ValueError(f"Scaled needs a factor of 0 or more, not {self.factor!r}.")

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        values = self.kernel.from_pairs(pairs)
        values *= values.dtype.type(self.factor)
        return values

    def diagonal(self, X: Any) -> np.ndarray:
        values = self.kernel.diagonal(X)
        return values * values.dtype.type(self.factor)

    def for_rows(self, X: Any) -> Any:
        return replace(self, kernel=self.kernel.for_rows(X))


@evaluates_pairs
@dataclass(frozen=True)
class UnitDiagonal:
    """k(x, z) / √(k(x, x) k(z, z)); rows of k(x, x) = 0 stay zero.

    Parameters
    ----------
    kernel : Kernel
        The kernel k.
    """

    kernel: object

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        values = self.kernel.from_pairs(pairs)
        values *= self._inverse_root(pairs.X)[:, None]
        values *= self._inverse_root(pairs.Z)
        return values

    def diagonal(self, X: Any) -> np.ndarray:
        values = self.kernel.diagonal(X)
        return (values > 0).astype(values.dtype)

    def for_rows(self, X: Any) -> Any:
        return replace(self, kernel=self.kernel.for_rows(X))

    def _inverse_root(self, X):
        diagonal = self.kernel.diagonal(X)
        positive = diagonal > 0
        roots = np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
        return roots.astype(diagonal.dtype)


@evaluates_pairs
@dataclass(frozen=True)
class WeightedSum:
    """Σ_m weights_m k_m; kernels of weight zero are not evaluated.

    Parameters
    ----------
    kernels : tuple of Kernel
        The kernels k_m.
    weights : tuple of float
        One of 0 or more for each kernel.
    """

    kernels: tuple[Any, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.kernels) != len(self.weights) or not all(w >= 0 for w in self.weights):
            raise ValueError(
                "WeightedSum needs one weight of 0 or more for each of its "
                f"{len(self.kernels)} kernels, not {self.weights!r}."
            )

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        total = np.zeros(pairs.shape, dtype=pairs.dtype)
        for kernel, weight in self._parts():
            values = kernel.from_pairs(pairs)
            values *= values.dtype.type(weight)
            total += values
        return total

    def diagonal(self, X: Any) -> np.ndarray:
        total = np.zeros(X.shape[0], dtype=X.dtype if X.dtype.kind == "f" else np.float64)
        for kernel, weight in self._parts():
            total += kernel.diagonal(X) * total.dtype.type(weight)
        return total

    def for_rows(self, X: Any) -> Any:
        return replace(self, kernels=tuple(kernel.for_rows(X) for kernel in self.kernels))

    def _parts(self):
        return [(k, w) for k, w in zip(self.kernels, self.weights, strict=True) if w != 0.0]


@evaluates_pairs
@dataclass(frozen=True)
class Product:
    """Π_m k_m: the features of one for each of the other's.

    Parameters
    ----------
    kernels : sequence of Kernel
        The kernels k_m, one or more.
    """

    kernels: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", tuple(self.kernels))
        if not self.kernels:
            raise ValueError("Product needs at least one kernel.")

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        first, *others = self.kernels
        values = first.from_pairs(pairs)
        for kernel in others:
            values *= kernel.from_pairs(pairs)
        return values

    def diagonal(self, X: Any) -> np.ndarray:
        first, *others = self.kernels
        values = first.diagonal(X)
        for kernel in others:
            values = values * kernel.diagonal(X)
        return values

    def for_rows(self, X: Any) -> Any:
        return replace(self, kernels=tuple(kernel.for_rows(X) for kernel in self.kernels))


@evaluates_pairs
@dataclass(frozen=True)
class GatedSum:
    """Σ_m γ_m(x) γ_m(z) k_m(x, z).

    Parameters
    ----------
    kernels : tuple of Kernel
        The kernels k_m.
    gate : callable
        Returns γ(X) of shape (n_rows, n_kernels).
    """

    kernels: tuple[Any, ...]
    gate: Callable

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        left = self.gate(pairs.X)
        right = left if pairs.is_square else self.gate(pairs.Z)
        total = np.zeros(pairs.shape, dtype=pairs.dtype)
        for m, kernel in enumerate(self.kernels):
            values = kernel.from_pairs(pairs)
            values *= left[:, m, None]
            values *= right[:, m]
            total += values
        return total

    def diagonal(self, X: Any) -> np.ndarray:
        gate = self.gate(X)
        total = np.zeros(X.shape[0], dtype=X.dtype if X.dtype.kind == "f" else np.float64)
        for m, kernel in enumerate(self.kernels):
            total += gate[:, m] ** 2 * kernel.diagonal(X)
        return total

    def for_rows(self, X: Any) -> Any:
        return replace(self, kernels=tuple(kernel.for_rows(X) for kernel in self.kernels))


@evaluates_pairs
@dataclass(frozen=True)
class PairwiseNormalizedSum:
    """Σ_m γ_m(x) γ_m(z) k_m(x, z) / Σ_m γ_m(x) γ_m(z), of rows that carry γ > 0 as last columns.

    Not positive semi-definite in general.
    """

    kernels: tuple[Any, ...]
    n_features: int

    def from_pairs(self, pairs: Pairs) -> np.ndarray:
        rows = pairs.on(range(self.n_features))
        left, right = gates_of(pairs.X, self.n_features), gates_of(pairs.Z, self.n_features)
        total = np.zeros(pairs.shape, dtype=pairs.dtype)
        for m, kernel in enumerate(self.kernels):
            values = kernel.from_pairs(rows)
            values *= left[:, m, None]
            values *= right[:, m]
            total += values
        total /= left @ right.T
        return total

    def diagonal(self, X: Any) -> np.ndarray:
        rows, gates = X[:, : self.n_features], gates_of(X, self.n_features)
        diagonals = np.array([kernel.diagonal(rows) for kernel in self.kernels]).T
        return (gates**2 * diagonals).sum(axis=1) / (gates**2).sum(axis=1)

    def for_rows(self, X: Any) -> Any:
        return self
