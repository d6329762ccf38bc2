"""Gram matrices of gated kernels γ_q(x) γ_q(z) k(x, z), many gates to a kernel."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, hstack, issparse

from .._cached import cached_property
from .base import evaluates_pairs
from .rows import SumRows


class GatedGrams(SumRows):
    """What ``Grams`` is for kernels, for components that are a kernel and a gate each.

    ``kernel_of`` has the number of every component's kernel in ``grams``, and ``gates`` its gate's
    values at the rows, shape (n_rows, n_components). Matrices that ``grams`` keeps serve whatever
    the gates are, so that new gates cost a few products.
    """

    def __init__(self, grams, kernel_of, gates):
        self.grams, self.kernel_of, self.gates = grams, np.asarray(kernel_of), gates
        self.n_kernels, self.n_rows = len(self.kernel_of), grams.n_rows
        self.dtype, self.n_jobs = grams.dtype, grams.n_jobs

    def keep(self, which):
        self.forget_sum()
        self.grams.keep(np.unique(self.kernel_of[which]).tolist())

    def weighted(self, weights, out=None):
        """Σ_q weights_q (γ_q γ_qᵀ) ∘ K_q as one matrix."""
        values = self.gates * np.sqrt(weights)
        factors = {m: values[:, q].astype(self.dtype) for m, q in self._by_kernel(weights)}
        return self.grams.modulated(factors, out)

    def mixture(self, weights, which):
        """The same sum as a kernel of ``X``, rows with their gates' values."""
        parts = tuple((int(self.kernel_of[q]), int(q)) for q in which)
        return GatedRowsSum(
            tuple(self.grams.kernels), self.grams.X.shape[1], parts, tuple(map(float, weights))
        )

    def in_double(self):
        """The same matrices in double precision; the gates' values are what they are."""
        exact = self.grams.in_double()
        return self if exact is self.grams else GatedGrams(exact, self.kernel_of, self.gates)

    @cached_property
    def X(self):
        return with_gates(self.grams.X.astype(self.dtype, copy=False), self.gates)

    @property
    def landmarks(self):
        return self.X

    def ungated_products(self, dual_coef):
        """K_q (a ∘ γ_q) at the rows of a ≠ 0, shape (n_components, n_used)."""
        used = np.flatnonzero(dual_coef)
        return self._products(dual_coef, self._all, used)

    def products(self, dual_coef, which, rows=None):
        """γ_q ∘ K_q (a ∘ γ_q) at ``rows``; None stands for the rows of a ≠ 0."""
        rows = np.flatnonzero(dual_coef) if rows is None else rows
        return self.gates[np.ix_(rows, which)].T * self._products(dual_coef, which, rows)

    def quadratics(self, dual_coef, which):
        return self.products(dual_coef, which) @ dual_coef[dual_coef != 0.0]

    def columns(self, rows):
        """Columns of all matrices, shape (n_components, n_rows, len(rows))."""
        kernels = self.grams.columns(rows)
        gates = self.gates.T
        return kernels[self.kernel_of] * (gates[:, :, None] * gates[:, None, rows]).astype(
            self.dtype
        )

    def diagonals(self):
        return self.grams.diagonals()[self.kernel_of] * self.gates.T**2

    @property
    def _all(self):
        return np.arange(self.n_kernels)

    def _by_kernel(self, weights):
        used = np.flatnonzero(weights)
        return [(m, used[self.kernel_of[used] == m]) for m in np.unique(self.kernel_of[used])]

    def _products(self, dual_coef, which, rows):
        which = np.asarray(which)
        found = np.empty((len(which), len(rows)))
        kernels, place = np.unique(self.kernel_of[which], return_inverse=True)
        coefs = [dual_coef[:, None] * self.gates[:, which[place == p]] for p in range(len(kernels))]
        products = self.grams.products_of_many(coefs, kernels, rows)
        for p, product in enumerate(products):
            found[place == p] = product.T
        return found


@evaluates_pairs
@dataclass(frozen=True)
class GatedRowsSum:
    """Σ weight γ_q(x) γ_q(z) k_m(x, z) of rows that carry their gates' values as last columns.

    ``parts`` are pairs (m, q) of a kernel and a gate.
    """

    kernels: tuple
    n_features: int
    parts: tuple[tuple[int, int], ...]
    weights: tuple[float, ...]

    def from_pairs(self, pairs):
        rows = pairs.on(range(self.n_features))
        total = np.zeros(pairs.shape, dtype=pairs.dtype)
        left = gates_of(pairs.X, self.n_features)
        right = gates_of(pairs.Z, self.n_features)
        for m, gates, weights in self._by_kernel():
            factor = (left[:, gates] * weights.astype(pairs.dtype)) @ right[:, gates].T
            factor *= self.kernels[m].from_pairs(rows)
            total += factor
        return total

    def diagonal(self, X):
        rows, gates = X[:, : self.n_features], gates_of(X, self.n_features)
        total = np.zeros(X.shape[0])
        for m, which, weights in self._by_kernel():
            total += self.kernels[m].diagonal(rows) * (gates[:, which] ** 2 @ weights)
        return total

    def for_rows(self, X):
        return self

    def _by_kernel(self):
        weights = np.array(self.weights)
        kernel_of = np.array([m for m, _ in self.parts])
        gates = np.array([q for _, q in self.parts])
        for m in np.unique(kernel_of):
            yield m, gates[kernel_of == m], weights[kernel_of == m]


def with_gates(X, gates):
    """Rows with their gates' values as last columns."""
    gates = gates.astype(X.dtype)
    if issparse(X):
        return hstack([X, csr_matrix(gates)], format="csr")
    return np.hstack([X, gates])


def gates_of(X, n_features):
    gates = X[:, n_features:]
    return gates.toarray() if issparse(gates) else gates
