"""Kernels switched on and off for every row, by turns with their weights (SAMKL, label-free)."""

from dataclasses import dataclass, replace

import numpy as np

from ...gates.scores import top_and_bottom
from ...kernels.gated_grams import GatedGrams
from ...kernels.grams import Grams
from ..mixture.objective import Descent, Evaluation
from ..mixture.simplex import solve_newton, start_weights


@dataclass(frozen=True)
class SwitchedKernels:
    """Weights and machine, and the switches of the training rows for which they were solved.

    ``bias`` and ``objective`` are those of the model as it predicts: its own scores switch
    ``n_selected`` kernels on. ``gap`` is that of the weights, ``n_rounds`` the round that was kept
    and ``path`` the objectives of all rounds.
    """

    evaluation: Evaluation
    gates: np.ndarray
    n_selected: int
    bias: float
    objective: float
    gap: float
    n_rounds: int = 1
    path: tuple = ()


def solve_equal(descent, *, tol):
    """All kernels on for every row, and equal weights: the start of the turns, and no step."""
    n_kernels, n_rows = descent.objective.grams.n_kernels, descent.objective.grams.n_rows
    found = descent.objective.certified(descent.at(start_weights(n_kernels), tol), tol)
    machine = found.machine
    return SwitchedKernels(
        found, np.ones((n_rows, n_kernels)), n_kernels, machine.bias, machine.objective,
        machine.gap, path=(machine.objective,),
    )  # fmt: skip


def solve_switched(descent, n_selected, *, tol, max_rounds, max_iter):
    """Alternate between kernel weights for given switches and switches for given weights.

    A row's switches are half the marks of its ``n_selected`` largest shares F_m(x) in the score and
    half of its smallest, so no label is needed to set them. No round need be better than the one
    before: the one that predicts the training rows with the least objective is kept. (Its machine's
    own objective would not do: switches of training rows know their labels from the round before.)
    """
    objective, base = descent.objective, descent.objective.grams
    n_kernels = base.n_kernels
    all_kernels, best, path = np.arange(n_kernels), None, []
    gates, weights = np.ones((base.n_rows, n_kernels)), start_weights(n_kernels)
    for n_round in range(max_rounds):
        gated = replace(objective, grams=GatedGrams(base, all_kernels, gates))
        gated = Descent(gated, descent.latest)
        found = solve_newton(gated, weights, tol=tol, max_iter=max_iter)
        descent.latest = gated.latest
        shares = _shares(base, found, gates, np.arange(base.n_rows))
        new = top_and_bottom(shares, n_selected)
        slack = objective.problem.targets - np.einsum("im,im->i", new, shares)
        bias, loss = objective.machine.fit_bias(objective.problem, slack)
        value = 0.5 * found.weights @ found.quadratics + loss
        path.append(value)
        if best is None or value < best.objective:
            best = SwitchedKernels(found, gates, n_selected, bias, value, found.gap, n_round + 1)
        if np.array_equal(new, gates):
            break
        gates = new
        weights = 0.9 * found.weights + 0.1 * start_weights(n_kernels)
    gated = replace(objective, grams=GatedGrams(base, all_kernels, best.gates))
    certified = gated.certified(best.evaluation, 0.5 * tol)
    return replace(best, evaluation=certified, path=tuple(path))


def held_out_errors(plans, restrict, kernels, X, problem, folds):
    """Weight of the rows of ``folds`` that each plan gets wrong, solved on the other rows.

    A plan makes ``SwitchedKernels`` by a Descent; ``restrict(problem, rows)`` gives J of some rows.
    """
    errors, weight = np.zeros(len(plans)), problem.upper - problem.lower
    grams = Grams(kernels, X)
    for held in folds:
        kept = np.setdiff1d(np.arange(len(problem)), held)
        descent = Descent(restrict(problem.take(kept), kept))
        for number, plan in enumerate(plans):
            model = plan(descent)
            shares = _shares(grams, model.evaluation, model.gates, held, of=kept)
            switches = top_and_bottom(shares, model.n_selected)
            scores = np.einsum("im,im->i", switches, shares) + model.bias
            errors[number] += weight[held] @ (scores * problem.targets[held] <= 0.0)
    return errors / max(sum(weight[held].sum() for held in folds), 1e-300)


def _shares(base, found, gates, rows, of=slice(None)):
    """F_m(x_i) = β_m Σ_j a_j γ_jm k_m(x_j, x_i) at ``rows``; the x_j are the rows ``of`` base."""
    coefs = np.zeros((base.n_kernels, base.n_rows, 1))
    coefs[:, of, 0] = (found.machine.dual_coef[:, None] * gates).T
    products = base.products_of_many(list(coefs), np.arange(base.n_kernels), rows)
    return np.hstack(products) * found.weights
