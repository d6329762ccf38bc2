"""A machine that keeps its support rows: Σ_m Σ_j c_mj k_m(x_j, x) + b."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .._compile import run_blocks
from ..kernels.pairs import Pairs
from .base import Cost, count_bytes

# Support rows that are compared at once, and entries of a tile: it stays in a core's cache.
STRIP = 512
TILE = 1 << 17


@dataclass(frozen=True)
class KernelExpansion:
    """Support rows and their coefficients under each kernel.

    ``support`` holds rows as the kernels see them on their second argument; ``coefficients`` has
    shape (n_kernels, n_support, n_outputs) and ``biases`` (n_outputs,).
    """

    kernels: tuple
    support: np.ndarray
    coefficients: np.ndarray
    biases: np.ndarray
    n_features: int

    def __call__(self, X, n_jobs=None):
        scores = np.empty((X.shape[0], len(self.biases)), dtype=self.coefficients.dtype)

        def work(start, stop):
            scores[start:stop] = self._score(X[start:stop])

        width = min(STRIP, max(1, self.support.shape[0]))
        run_blocks(work, X.shape[0], max(1, TILE // width), n_jobs)
        return scores

    def _score(self, X):
        scores = np.tile(self.biases, (X.shape[0], 1))
        for start in range(0, self.support.shape[0], STRIP):
            pairs = Pairs(X, self.support[start : start + STRIP])
            for kernel, coefficients in zip(self.kernels, self.coefficients, strict=True):
                scores += kernel.from_pairs(pairs) @ coefficients[start : start + STRIP]
        return scores

    def to_arrays(self):
        support = self.support.toarray() if issparse(self.support) else self.support
        return {
            "support": support,
            "coefficients": self.coefficients,
            "biases": self.biases,
        }

    @property
    def dtype(self):
        return self.coefficients.dtype

    @property
    def cost(self):
        """Products with every support row on the columns that are read, then every kernel."""
        n_support, n_outputs = self.coefficients.shape[1:]
        width = read_width(self.kernels, self.n_features)
        work = n_support * (width + len(self.kernels) * (1 + n_outputs))
        n_bytes = count_bytes({"c": self.coefficients, "b": self.biases})
        n_bytes += support_bytes(self.support)
        return Cost(int(work), work / (self.n_features * n_outputs), int(n_bytes))


def read_width(kernels, n_features):
    """Columns that are read of a row, each set of columns once."""
    read = {_columns(kernel) for kernel in kernels}
    return sum(n_features if columns is None else len(columns) for columns in read)


def support_bytes(support):
    parts = [support]
    if issparse(support):
        parts = [support.data, support.indices, support.indptr]
    return sum(part.nbytes for part in parts)


def _columns(kernel):
    """The columns that a kernel reads, None for all."""
    while kernel is not None:
        if hasattr(kernel, "columns"):
            return kernel.columns
        kernel = getattr(kernel, "kernel", None)
    return None
