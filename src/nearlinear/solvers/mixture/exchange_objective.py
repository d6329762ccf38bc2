"""Machines solved from Gram columns alone, in place of pair steps on rows or matrices."""

import numpy as np

from ..machine.exchange import solve_by_exchange
from ..machine.problem import MachineSolution
from .objective import KernelLearning

# A row of weight zero: its slack is as good as free.
_SMALLEST_C = 1e-9


class ExchangeLearning(KernelLearning):
    """What ``KernelLearning`` is for the hinge, for ½‖f‖² + ½ Σ_i C_i max(0, 1 − y_i f(x_i))².

    Memory is a few columns of every kernel's matrix. As there, S_m = aᵀK_m a and J's gradient in
    the weights is −½ S: the slack adds a diagonal that no weight touches.
    """

    # what is loose here is loose for long: the columns' solver converges slowly at the end
    finest = 1e-3

    def fit_bias(self, slack):
        """By bisection: the loss is convex and smooth in the bias."""
        C, signs = self.problem.upper - self.problem.lower, self.problem.targets
        low, high = float(slack.min()), float(slack.max())
        for _ in range(60):
            bias = 0.5 * (low + high)
            short = np.maximum(0.0, signs * (slack - bias))
            low, high = (bias, high) if C @ (signs * short) > 0.0 else (low, bias)
        return bias, 0.5 * float(C @ short**2)

    def solve(self, weights, *, tol, which=None, max_iter=None):
        which = self.everyone if which is None else which
        problem, ridge = self.problem, self._ridge
        weights = np.asarray(weights, dtype=self.grams.dtype)

        def columns(rows):
            return np.tensordot(weights, self.grams.columns(rows)[which], axes=1)[None]

        found = solve_by_exchange(
            columns, np.ones((1, len(ridge))), problem.targets, ridge,
            tol=max(tol, self.finest), max_iter=100_000,
        )  # fmt: skip
        primal, dual = 0.5 / found.lower, 0.5 / found.upper
        self.n_machines += 1
        coef = found.dual_coef
        products = self.grams.products(coef, which, np.arange(len(coef)))
        slack = problem.targets - weights @ products
        return MachineSolution(coef, found.bias, primal, primal - dual, found.n_iter, slack)

    def _certificate(self, coef, slack):
        """The dual Σ|a| − ½ aᵀ(K + ridge) a is taken at the best multiple of a."""
        bias, loss = self.fit_bias(slack)
        quadratic = float(coef @ (self.problem.targets - slack))
        primal = 0.5 * quadratic + loss
        curvature = quadratic + float(self._ridge @ coef**2)
        dual = 0.5 * float(self.problem.targets @ coef) ** 2 / max(curvature, 1e-300)
        return bias, primal, primal - dual

    @property
    def _ridge(self):
        return 1.0 / np.maximum(self.problem.upper - self.problem.lower, _SMALLEST_C)

    def _is_free(self, coef):
        return coef != 0.0  # squared slacks set no bound

    def _free_matrix(self, weights, which, free):
        kernel = self.grams.mixture(weights, which)
        return kernel(self.grams.X[free]).astype(np.float64) + np.diag(self._ridge[free])
