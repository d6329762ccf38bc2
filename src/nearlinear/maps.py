"""Maps: what a formula sees of a row."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .kernels.gated_grams import with_gates


@dataclass(frozen=True)
class Affine:
    """A x + a, as one ``matrix`` [A, a] of shape (n_components, n_features + 1)."""

    matrix: np.ndarray

    @property
    def n_features(self):
        return self.matrix.shape[1] - 1

    def __call__(self, X):
        return np.asarray(X @ self.matrix[:, :-1].T) + self.matrix[:, -1]


@dataclass(frozen=True)
class WithGates:
    """[x, γ(x)]: rows that carry their gates' values as last columns."""

    gate: object
    n_features: int

    def __call__(self, X):
        return with_gates(X, self.gate(X))


@dataclass(frozen=True)
class Quadratic:
    """[z_i z_j for i ≤ j, z] of z = (x − center) / scale."""

    center: np.ndarray
    scale: float

    @property
    def n_features(self):
        return len(self.center)

    @property
    def n_components(self):
        return self.n_features * (self.n_features + 3) // 2

    def __call__(self, X):
        d, dtype = self.n_features, self.center.dtype
        out = np.empty((len(X), self.n_components), dtype=dtype)
        Z = out[:, self.n_components - d :]
        np.subtract(X, self.center, out=Z)
        Z /= dtype.type(self.scale)
        start = 0
        for i in range(d):
            np.multiply(Z[:, i:], Z[:, i, None], out=out[:, start : start + d - i])
            start += d - i
        return out

    def linear_parts(self, X, coefficients):
        """Slopes in z of a linear model of the mapped rows, and what does not depend on z.

        Half of a product belongs to each of its two features, so that Σ slope · z + rest is the
        model's score.
        """
        d = self.n_features
        Z = (X - self.center) / self.scale
        first, second = np.triu_indices(d)
        halves = 0.5 * coefficients[..., : len(first)]
        slopes = coefficients[..., len(first) :].copy()
        for column, (i, j) in enumerate(zip(first, second, strict=True)):
            slopes[..., i] += halves[..., column] * Z[:, j, None]
            slopes[..., j] += halves[..., column] * Z[:, i, None]
        return slopes, 0.0

    @property
    def cost(self):
        """Multiplications for a row, and bytes."""
        return self.n_components, self.center.nbytes


@dataclass(frozen=True)
class OwnFeatures:
    """[g(x), z] of the user's function g of rows, and z = (x − center) / scale."""

    function: Callable
    n_components: int
    center: np.ndarray
    scale: float

    @property
    def n_features(self):
        return len(self.center)

    def __call__(self, X):
        Z = (X - self.center) / self.center.dtype.type(self.scale)
        return np.concatenate([own_columns(self.function, X).astype(Z.dtype), Z], axis=1)

    def linear_parts(self, X, coefficients):
        """The function's columns are no features of x: what they add does not depend on z."""
        own = np.asarray(own_columns(self.function, X), dtype=np.float64)
        rest = np.einsum("icd,id->ic", coefficients[..., : own.shape[1]], own)
        return coefficients[..., own.shape[1] :].copy(), rest

    @property
    def cost(self):
        """The function's own work is not known."""
        return self.n_features, self.center.nbytes


def own_columns(function, X):
    """What a function of rows gives, checked."""
    found = np.asarray(function(X))
    if found.ndim != 2 or len(found) != len(X) or found.dtype.kind not in "fiub":
        raise ValueError(
            f"global_features gave an array of shape {found.shape} and type {found.dtype} for "
            f"{len(X)} rows; it must give a matrix of numbers with one row for each."
        )
    if not np.all(np.isfinite(found)):
        raise ValueError("global_features gave NaN or infinity; it must give finite numbers.")
    return found
