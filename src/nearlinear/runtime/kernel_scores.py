"""Kernels of checked parts in plain NumPy: values between all rows X and Z, or at equal rows."""

from dataclasses import dataclass

import numpy as np

from .parts import values_of
from .tree_scores import local_features


@dataclass(frozen=True)
class Pairs:
    """Every row of X with every row of Z; values have the shape (len(X), len(Z))."""

    X: np.ndarray
    Z: np.ndarray

    @property
    def products(self):
        return self.X @ self.Z.T

    @property
    def squared_distances(self):
        return squared_distances(self.X, self.Z)

    def on(self, columns):
        """The same pairs, of which only these columns are seen."""
        return Pairs(self.X[:, columns], self.Z[:, columns])

    def scaled(self, values, left, right):
        """Values times a number of each row of X, and one of each row of Z."""
        return left[:, None] * values * right


@dataclass(frozen=True)
class EqualPairs:
    """Every row of X with itself; values have the shape (len(X), 1)."""

    X: np.ndarray

    @property
    def Z(self):
        return self.X

    @property
    def products(self):
        return (self.X**2).sum(axis=1, keepdims=True)

    @property
    def squared_distances(self):
        return np.zeros((len(self.X), 1))

    def on(self, columns):
        return EqualPairs(self.X[:, columns])

    def scaled(self, values, left, right):
        return left[:, None] * values * right[:, None]


def squared_distances(X, anchors, metric=None):
    """‖x − v‖² of all rows and anchors; a metric weighs the features."""
    center = anchors.mean(axis=0) if len(anchors) else 0.0
    X, anchors = X - center, anchors - center
    if metric is not None:
        X, anchors = X * np.sqrt(metric), anchors * np.sqrt(metric)
    squares = (X**2).sum(axis=1)[:, None] - 2.0 * (X @ anchors.T) + (anchors**2).sum(axis=1)
    return np.maximum(squares, 0.0)


def _unit_diagonal(part, pairs):
    left, right = (_inverse_root(values_of(part.kernel, EqualPairs(rows))[:, 0])
                   for rows in (pairs.X, pairs.Z))  # fmt: skip
    if isinstance(pairs, EqualPairs):
        return (left > 0.0).astype(pairs.X.dtype)[:, None]
    return pairs.scaled(values_of(part.kernel, pairs), left, right)


def _inverse_root(diagonal):
    positive = diagonal > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)


def _weighted_sum(part, pairs):
    weighted = zip(part.kernels, part.weights)
    return sum(weight * values_of(kernel, pairs) for kernel, weight in weighted)


def _pairwise(part, pairs):
    d = part.n_features
    rows, gates = pairs.on(slice(0, d)), pairs.on(slice(d, None))
    total = sum(
        pairs.scaled(values_of(kernel, rows), gates.X[:, m], gates.Z[:, m])
        for m, kernel in enumerate(part.kernels)
    )
    return total / gates.products


def _ldkl_kernel(part, pairs):
    left = local_features(part.tree, pairs.X)
    if isinstance(pairs, EqualPairs):
        return (left**2).sum(axis=1, keepdims=True)
    return left @ local_features(part.tree, pairs.Z).T


KERNELS = {
    "Linear": lambda part, pairs: pairs.products,
    "Polynomial": lambda part, pairs: (
        (part.gamma * pairs.products + part.coef0) ** int(part.degree)
    ),
    "Gaussian": lambda part, pairs: np.exp(-part.gamma * pairs.squared_distances),
    "OnColumns": lambda part, pairs: values_of(part.kernel, pairs.on(list(part.columns))),
    "Scaled": lambda part, pairs: part.factor * values_of(part.kernel, pairs),
    "UnitDiagonal": _unit_diagonal,
    "WeightedSum": _weighted_sum,
    "Product": lambda part, pairs: np.prod(
        [values_of(kernel, pairs) for kernel in part.kernels], axis=0
    ),
    "LDKLKernel": _ldkl_kernel,
    "PairwiseNormalizedSum": _pairwise,
}
