"""A machine on explicit features computed on the fly: no row of the kernel matrix is ever built."""

from ..mixture.objective import KernelLearning


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
        slack -= self._told(rows, change, self._served)

    def catch_up(self, others, rows, change, slack):
        """The same, at the columns ``others`` only."""
        if len(rows) and len(others):
            slack[others] -= self._told(rows, change, self.X[others])

    def _told(self, rows, change, X):
        images = self.bank.collect(self.X[rows], change, self.which, self.n_jobs)
        return self.bank.total_scores(X, images, self.which, self.weights, self.n_jobs)


class FeatureLearning(KernelLearning):
    """Weights of conformal kernels: matrices for few rows, features on the fly for many."""

    def _rows_on_demand(self, weights, which):
        return FeatureRows(self.grams.bank, self.grams.X, weights, which, self.grams.n_jobs)
