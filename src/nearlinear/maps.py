"""Maps: what a formula sees of a row."""

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
