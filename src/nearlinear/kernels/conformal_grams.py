"""Gram matrices of conformal kernels through their explicit features."""

import numpy as np

from .grams import DOUBLE_ROWS
from .rows import SumRows


class ConformalGrams(SumRows):
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
        return (
            self
            if self.dtype == np.float64
            else ConformalGrams(*self._given, self.n_jobs, np.float64)
        )

    def on_rows(self, rows):
        """The same kernels on some of the rows."""
        bank, X = self._given
        return ConformalGrams(bank, X[rows], self.n_jobs)

    def keep(self, which):
        """Nothing is kept: features are computed faster than matrices are read."""
        self.forget_sum()

    def weighted(self, weights, out=None):
        """Σ_m weights_m K_m as one matrix."""
        used = np.flatnonzero(weights)
        return self.bank.gram(self.X, used, weights[used])

    def quadratics(self, dual_coef, which):
        """aᵀK_m a for the kernels ``which``."""
        used = np.flatnonzero(dual_coef)
        return self.bank.quadratics(self.X[used], dual_coef[used], which, self.n_jobs)

    def rows_on_demand(self, weights, which, max_bytes):
        return FeatureRows(self.bank, self.X, weights, which, self.n_jobs)

    def products(self, dual_coef, which, rows=None):
        """(K_m a) at ``rows`` for the kernels ``which``; None stands for the rows of a ≠ 0."""
        used = np.flatnonzero(dual_coef)
        rows = used if rows is None else rows
        feature_sums = self.bank.collect(self.X[used], dual_coef[used], which, self.n_jobs)
        return self.bank.scores(self.X[rows], feature_sums, which).astype(np.float64)


class FeatureRows:
    """The matrix Σ_m weights_m K_m of conformal kernels, as a solver of machines asks for it.

    A change of some coefficients is first collected into one vector per kernel; every other row
    then hears of it by a product with its features. Memory is that of one block of rows.
    """

    working_set = 512
    whole_set = 512

    def __init__(self, bank, X, weights, which, n_jobs=None):
        self.bank, self.X = bank, X
        self.weights, self.which, self.n_jobs = weights, which, n_jobs
        self.n_rows = len(X)
        self.restrict(None)

    def block(self, rows):
        """The matrix among ``rows``."""
        return self.bank.gram(self.X[rows], self.which, self.weights)

    def restrict(self, columns):
        """Serve these columns from here on, all of them for None."""
        whole = columns is None or len(columns) == self.n_rows
        self._served = self.X if whole else self.X[columns]

    def subtract(self, rows, change, slack):
        """slack −= Σ_r change_r K_r, at the columns served."""
        slack -= self._scores(rows, change, self._served)

    def subtract_at(self, others, rows, change, slack):
        """The same, at the columns ``others`` only."""
        if len(rows) and len(others):
            slack[others] -= self._scores(rows, change, self.X[others])

    def _scores(self, rows, change, X):
        feature_sums = self.bank.collect(self.X[rows], change, self.which, self.n_jobs)
        return self.bank.total_scores(X, feature_sums, self.which, self.weights, self.n_jobs)
