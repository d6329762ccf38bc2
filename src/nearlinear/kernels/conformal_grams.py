"""Gram matrices of conformal kernels through their explicit features."""

import numpy as np

from .grams import DOUBLE_ROWS


class ConformalGrams:
    """What ``Grams`` is for kernels in general, for the candidates of a ``ConformalBank``.

    Kernels do not feel a shift, so rows and ``bank`` are seen from ``origin``, the rows' mean: far
    from it single precision would not do. Sums of Gram matrices are a few products of gates; all
    else costs a row's length per row.
    """

    def __init__(self, bank, X, n_jobs=None, dtype=None):
        self.origin, self.n_jobs = X.mean(axis=0, dtype=np.float64), n_jobs
        self.n_kernels, self.n_rows = len(bank), len(X)
        if dtype is None:
            small = self.n_rows <= DOUBLE_ROWS and X.dtype == np.float64
            dtype = np.float64 if small else np.float32
        self.dtype = np.dtype(dtype)
        self._given = bank, X
        wide = np.promote_types(bank.anchors.dtype, self.dtype)
        self.bank = bank.shifted(self.origin, wide)
        self.X = (X - self.origin).astype(self.dtype)

    def in_double(self):
        """The same kernels on the same rows in double precision."""
        if self.dtype == np.float64:
            return self
        return ConformalGrams(*self._given, self.n_jobs, dtype=np.float64)

    def keep(self, which):
        """Nothing is kept: features are computed faster than matrices are read."""

    def weighted(self, weights, out=None):
        """Σ_m weights_m K_m as one matrix."""
        used = np.flatnonzero(weights)
        return self.bank.gram(self.X, used, weights[used])

    def quadratics(self, dual_coef, which):
        """aᵀK_m a for the kernels ``which``."""
        used = np.flatnonzero(dual_coef)
        return self.bank.prices(self.X[used], dual_coef[used], which, self.n_jobs)

    def images(self, dual_coef, which):
        """(K_m a) at the rows of a ≠ 0 for the kernels ``which``."""
        return self.products(dual_coef, which, np.flatnonzero(dual_coef))

    def products(self, dual_coef, which, rows):
        """(K_m a) at ``rows`` for the kernels ``which``, shape (len(which), len(rows))."""
        used = np.flatnonzero(dual_coef)
        images = self.bank.collect(self.X[used], dual_coef[used], which, self.n_jobs)
        return self.bank.scores(self.X[rows], images, which).astype(np.float64)
