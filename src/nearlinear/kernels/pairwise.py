"""The kernel that averages kernels by how much both rows' gates favour each."""

from dataclasses import dataclass

import numpy as np

from .base import evaluates_pairs
from .gated_grams import gates_of


@evaluates_pairs
@dataclass(frozen=True)
class PairwiseNormalizedSum:
    """Σ_m γ_m(x) γ_m(z) k_m(x, z) / Σ_m γ_m(x) γ_m(z), of rows that carry γ > 0 as last columns.

    Not positive semi-definite in general.
    """

    kernels: tuple
    n_features: int

    def from_pairs(self, pairs):
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

    def diagonal(self, X):
        rows, gates = X[:, : self.n_features], gates_of(X, self.n_features)
        diagonals = np.array([kernel.diagonal(rows) for kernel in self.kernels]).T
        return (gates**2 * diagonals).sum(axis=1) / (gates**2).sum(axis=1)

    def for_rows(self, X):
        return self
