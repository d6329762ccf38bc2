"""Machines solved from Gram columns alone, in place of pair steps on rows or matrices."""

import numpy as np

from .dual_problem import MachineSolution
from .kernel_learning import KernelLearning
from .multiplicative_weights import solve_by_exchange

# A row of weight zero: its slack is as good as free.
_SMALLEST_C = 1e-9


class ExchangeLearning(KernelLearning):
    """What ``KernelLearning`` is for the hinge, for ½‖f‖² + ½ Σ_i C_i max(0, 1 − y_i f(x_i))².

    Memory is a few columns of every kernel's matrix. As there, S_m = aᵀK_m a and J's gradient in
    the weights is −½ S: the slack adds a diagonal that no weight touches.
    """

    # what is loose here is loose for long: the columns' solver converges slowly at the end
    finest = 1e-3

    def solve(self, weights, *, tol, which=None, max_iter=None):
        which = self.everyone if which is None else which
        problem = self.problem
        ridge = 1.0 / np.maximum(problem.upper - problem.lower, _SMALLEST_C)
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
