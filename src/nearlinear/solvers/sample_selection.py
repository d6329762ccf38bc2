"""Kernels switched on and off for every row, by turns with their weights (SAMKL, label-free)."""

from dataclasses import dataclass, replace

import numpy as np

from ..gates.score_gates import top_and_bottom
from ..kernels.gated_grams import GatedGrams
from .kernel_learning import Evaluation
from .kernel_weights import solve_newton, start_weights


@dataclass(frozen=True)
class SwitchedKernels:
    """Weights and machine of the best round, and the switches of the training rows in it.

    ``bias`` and ``objective`` are those of the model as it predicts: with switches that the round's
    own scores set.
    """

    evaluation: Evaluation
    gates: np.ndarray
    bias: float
    objective: float
    n_rounds: int


def solve_switched(learning, n_selected, *, tol, max_rounds, max_iter, on_round=None):
    """Alternate between kernel weights for given switches and switches for given weights.

    A row's switches are half the marks of its ``n_selected`` largest shares F_m(x) in the score and
    half of its smallest, so no label is needed to set them. No round need be better than the one
    before: the one that predicts the training rows with the least objective is kept. (Its machine's
    own objective would not do: switches of training rows know their labels from the round before.)
    """
    base, problem = learning.grams, learning.problem
    n_kernels = base.n_kernels
    everyone, best = np.arange(n_kernels), None
    gates, weights = np.ones((base.n_rows, n_kernels)), start_weights(n_kernels)
    for n_round in range(max_rounds):
        learning.use(GatedGrams(base, everyone, gates))
        found = solve_newton(learning, weights, tol=tol, max_iter=max_iter)
        shares = _shares(base, found, gates)
        new = top_and_bottom(shares, n_selected)
        slack = problem.targets - np.einsum("im,im->i", new, shares)
        bias, loss = learning.fit_bias(slack)
        objective = 0.5 * found.weights @ found.quadratics + loss
        if on_round is not None:
            on_round(n_round + 1, objective)
        if best is None or objective < best.objective:
            best = SwitchedKernels(found, gates, bias, objective, n_round + 1)
        if np.array_equal(new, gates):
            break
        gates = new
        weights = 0.9 * found.weights + 0.1 * start_weights(n_kernels)
    learning.use(GatedGrams(base, everyone, best.gates))
    certified = learning.certified(best.evaluation, tol=0.5 * tol)
    learning.use(base)
    return replace(best, evaluation=certified)


def _shares(base, found, gates):
    """F_m(x_i) = β_m Σ_j a_j γ_jm k_m(x_j, x_i), shape (n_rows, n_kernels)."""
    coefs = [(found.machine.dual_coef * gate)[:, None] for gate in gates.T]
    rows = np.arange(base.n_rows)
    products = base.products_of_many(coefs, np.arange(base.n_kernels), rows)
    return np.hstack(products) * found.weights
