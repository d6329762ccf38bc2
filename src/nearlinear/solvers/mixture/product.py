"""A machine on a product of Gaussians, as a function of their exponents.

    k_β(x, z) = Π_m exp(−β_m (x_m − z_m)²),   J(β) = max_a  yᵀa − ε‖a‖₁ − ½ aᵀK_β a

J is not convex in β; its slope is ∂J/∂β_m = ½ Σ_ij a_i a_j K_ij (x_im − x_jm)² (Danskin). All
slopes take one product of K with as many columns as there are features.
"""

from dataclasses import dataclass

import numpy as np

from ...kernels.grams import Grams
from ...kernels.standard import Gaussian
from ..machine.problem import MachineSolution


@dataclass(frozen=True)
class ProductEvaluation:
    """The machine found for some exponents, and the slope of J there."""

    weights: np.ndarray
    machine: MachineSolution
    gradient: np.ndarray

    @property
    def objective(self):
        return self.machine.objective


class ProductDescent:
    """Machines on rows ``X``, each from the one before; ``objective_of(grams)`` is a kernel's J."""

    def __init__(self, X, objective_of, *, max_bytes=0, n_jobs=None, watch=None):
        self.X, self.objective_of, self.watch = X, objective_of, watch
        self.options = {"max_bytes": max_bytes, "n_jobs": n_jobs}
        self.latest, self.n_machines = None, 0

    def objective(self, weights):
        """J of the one kernel that these exponents make."""
        rows = self.X * np.sqrt(weights).astype(self.X.dtype)
        return self.objective_of(Grams([Gaussian(gamma=1.0)], rows, **self.options))

    def at(self, weights, tol):
        objective = self.objective(weights)
        machine = objective.solve(np.ones(1), tol, start=self.latest)
        self.latest, self.n_machines = machine.dual_coef, self.n_machines + 1
        found = ProductEvaluation(weights, machine, self._slopes(objective.grams, self.latest))
        if self.watch is not None:
            self.watch.keep((found, np.arange(len(weights))))
        return found

    def _slopes(self, grams, dual_coef):
        """Σ_i a_i (Ka)_i x_im² − (a ∘ x_m)ᵀ K (a ∘ x_m)."""
        used = np.flatnonzero(dual_coef)
        X, coef = self.X[used].astype(np.float64), dual_coef[used]
        X = X - X.mean(axis=0) if len(used) else X  # differences alone count
        columns = coef[:, None] * np.column_stack([np.ones(len(used)), X])
        everywhere = np.zeros((len(dual_coef), columns.shape[1]))
        everywhere[used] = columns
        (products,) = grams.products_of_many([everywhere], [0], used)
        squares = (coef * products[:, 0]) @ X**2
        return squares - np.einsum("im,im->m", columns[:, 1:], products[:, 1:])


def stationarity(evaluation, slope):
    """How much T would fall, to first order, if every exponent could vanish or double.

    ``slope`` is that of the penalty. Where an exponent of zero would grow, it counts as the mean.
    """
    weights, gradient = evaluation.weights, evaluation.gradient + slope
    grows = np.maximum(-gradient, 0.0) * weights.mean()
    return float(np.where(weights > 0.0, np.abs(gradient) * weights, grows).sum())
