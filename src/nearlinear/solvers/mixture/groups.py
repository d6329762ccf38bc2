"""Kernel weights with one ball Σ_m β_lm^p ≤ 1 for every group l of kernels.

As ``kernel_weights``, where all kernels are one group: the gradient of J is −½ S, and

    gap = ½ Σ_l (‖S_l‖_{p/(p−1)} − β_lᵀS_l) + the machine's own.
"""

import numpy as np

from .objective import told
from .simplex import ball_norm, closed_form_weights

_ARMIJO = 0.05


def solve_groups(descent, n_groups, *, p, tol, max_iter, watch=None):
    """Closed-form steps for p > 1, Newton steps for p = 1; weights are grouped one after another.

    Returns the last ``Evaluation`` and its gap.
    """
    n_kernels = descent.objective.grams.n_kernels // n_groups
    weights = np.full(descent.objective.grams.n_kernels, n_kernels ** (-1.0 / p))
    improve = _newton_step if p == 1.0 else _closed_form_step
    inner = 0.05
    now = descent.at(weights, inner)
    for step in range(1, max_iter + 1):
        gap = group_gap(now, n_groups, p)
        if told(watch, step, now, gap, descent.objective.all_kernels) or gap <= tol * now.objective:
            break
        inner = min(inner, max(0.1 * gap / now.objective, 0.3 * tol))
        now = improve(descent, now, n_groups, p, inner)
    return now, group_gap(now, n_groups, p)


def group_gap(evaluation, n_groups, p):
    """Distance to the optimum over all weights."""
    quadratics = evaluation.quadratics.reshape(n_groups, -1)
    best = sum(ball_norm(part, p) for part in quadratics)
    spread = best - evaluation.weights @ evaluation.quadratics
    return 0.5 * max(0.0, spread) + evaluation.machine.gap


def _closed_form_step(descent, now, n_groups, p, inner):
    parts = zip(
        now.weights.reshape(n_groups, -1), now.quadratics.reshape(n_groups, -1), strict=True
    )
    weights = np.concatenate([closed_form_weights(beta, S, p) for beta, S in parts])
    return descent.at(weights, inner)


def _newton_step(descent, now, n_groups, p, inner):
    """The quadratic model of J on a product of simplices, with damping until J falls."""
    curvature = descent.objective.curvature(now, descent.objective.all_kernels)
    scale = max(float(np.abs(now.gradient).max()), 1e-300)
    damping = 1e-3
    for _ in range(6):
        weights = _model_minimum(now, curvature, damping * scale, n_groups)
        slope = now.gradient @ (weights - now.weights)
        trial = descent.at(weights, inner)
        if trial.objective <= now.objective + _ARMIJO * slope + trial.machine.gap:
            return trial
        damping *= 10.0
    return _closed_form_step(descent, now, n_groups, p, inner)


def _model_minimum(now, curvature, damping, n_groups, n_steps=500):
    """Accelerated projected gradients: the model has a few dozen variables."""
    bend = curvature + damping * np.eye(len(curvature))
    step = 1.0 / max(float(np.linalg.eigvalsh(bend)[-1]), 1e-300)
    weights, ahead, momentum = now.weights, now.weights, 1.0
    for _ in range(n_steps):
        slope = now.gradient + bend @ (ahead - now.weights)
        new = _onto_simplices(ahead - step * slope, n_groups)
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = new + (momentum - 1.0) / following * (new - weights)
        done = np.abs(new - weights).max() < 1e-10
        weights, momentum = new, following
        if done:
            break
    return weights


def _onto_simplices(points, n_groups):
    """The nearest point with every group on its simplex."""
    points = points.reshape(n_groups, -1)
    ordered = -np.sort(-points, axis=1)
    counts = np.arange(1, points.shape[1] + 1)
    excess = (np.cumsum(ordered, axis=1) - 1.0) / counts
    last = (ordered > excess).sum(axis=1) - 1
    shift = excess[np.arange(n_groups), last]
    return np.maximum(points - shift[:, None], 0.0).ravel()
