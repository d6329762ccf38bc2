"""Scores of many machines that share support rows and kernels."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .._compile import run_blocks
from ..kernels.pairs import Pairs
from .base import Cost
from .kernel_expansion import STRIP, TILE, read_width, support_bytes


@dataclass(frozen=True)
class ComponentScores:
    """f_q(x) = Σ_j coefficients_qj k_owner(q)(x_j, x) + biases_q, shape (n_rows, n_components).

    A kernel that several components share is evaluated once.
    """

    kernels: tuple
    owners: tuple[int, ...]
    support: np.ndarray
    coefficients: np.ndarray
    biases: np.ndarray
    n_features: int

    @classmethod
    def of_machines(cls, kernels, owners, X, coefficients, biases, n_features):
        """Only support rows and kernels that some component uses are kept."""
        used = np.flatnonzero(np.any(coefficients != 0.0, axis=0))
        needed, owners = np.unique(owners, return_inverse=True)
        return cls(
            tuple(kernels[m] for m in needed),
            tuple(owners.tolist()),
            X[used],
            np.ascontiguousarray(coefficients[:, used], dtype=X.dtype),
            np.asarray(biases, dtype=X.dtype),
            n_features,
        )

    def __call__(self, X, n_jobs=None):
        scores = np.empty((X.shape[0], len(self.owners)), dtype=self.coefficients.dtype)

        def work(start, stop):
            scores[start:stop] = self._score(X[start:stop])

        width = min(STRIP, max(1, self.support.shape[0]))
        run_blocks(work, X.shape[0], max(1, TILE // width), n_jobs)
        return scores

    def _score(self, X):
        scores = np.tile(self.biases, (X.shape[0], 1))
        owners = np.array(self.owners)
        for start in range(0, self.support.shape[0], STRIP):
            pairs = Pairs(X, self.support[start : start + STRIP])
            part = self.coefficients[:, start : start + STRIP]
            for m, kernel in enumerate(self.kernels):
                mine = np.flatnonzero(owners == m)
                scores[:, mine] += kernel.from_pairs(pairs) @ part[mine].T
        return scores

    @property
    def dtype(self):
        return self.coefficients.dtype

    @property
    def n_support(self):
        return self.support.shape[0]

    def to_arrays(self):
        support = self.support.toarray() if issparse(self.support) else self.support
        return {
            "owners": np.array(self.owners),
            "support": support,
            "coefficients": self.coefficients,
            "biases": self.biases,
        }

    @property
    def cost(self):
        """Products with every support row on the columns that are read, kernels, sums."""
        width = read_width(self.kernels, self.n_features)
        work = self.n_support * (width + len(self.kernels) + len(self.owners))
        n_bytes = self.coefficients.nbytes + self.biases.nbytes + support_bytes(self.support)
        return Cost(int(work), work / self.n_features, int(n_bytes))
