"""Weights on the simplex that minimize J(β): Newton steps, the closed form, the reduced gradient.

All take a ``Descent`` and the numbers ``which`` of the kernels to weigh, and return an
``Evaluation`` whose gap over these kernels is at most ``tol`` × its value, if ``max_iter`` allows.
"""

import numpy as np

from ..machine.steps import pair_pass
from .objective import told

_ARMIJO = 0.05
# Weights below this share of the largest are tried as zero.
_PRUNE = 1e-4


def start_weights(n_kernels):
    return np.full(n_kernels, 1.0 / n_kernels)


def solve_newton(descent, weights, *, tol, max_iter=200, which=None, watch=None):
    """Newton steps: a damped quadratic model of J on the simplex, solved exactly."""
    which = descent.objective.all_kernels if which is None else which
    inner = _InnerTolerance(tol)
    now = descent.at(weights, inner.tol, which)
    damping = 1e-2
    for step in range(1, max_iter + 1):
        if _is_done(now, tol, inner, watch, step, which):
            break
        better, damping = _damped_step(descent, now, damping, inner, which)
        if better is None:  # the model misled: the closed form always descends
            better = descent.at(_closed_form(now, 1.0), inner.tol, which)
        if better.objective < now.objective * (1.0 - 0.01 * tol) or better.gap < 0.9 * now.gap:
            now = better
        elif inner.tighten():  # lost in the machines' own gaps
            now = descent.at(now.weights, inner.tol, which)
        else:
            break
    return now


def solve_closed_form(descent, weights, *, tol, p=1.0, max_iter=1000, which=None, watch=None):
    """β_m ∝ ‖w_m‖^{2/(p+1)} on the ball Σ β^p ≤ 1, one machine a step, no line search.

    A weight that starts at zero stays there. For p > 1 the gap is that of the ball.
    """
    which = descent.objective.all_kernels if which is None else which
    inner = _InnerTolerance(tol)
    weights = weights / (weights**p).sum() ** (1.0 / p)
    now = descent.at(weights, inner.tol, which)
    for step in range(1, max_iter + 1):
        gap = ball_gap(now, p)
        if told(watch, step, now, gap, which) or gap <= tol * now.objective:
            break
        inner.follow(gap / max(now.objective, 1e-300))
        weights = _closed_form(now, p)
        if p == 1.0:
            kept = weights >= _PRUNE * weights.max()
            below = now.quadratics < (1.0 - tol) * (now.weights @ now.quadratics)
            weights = np.where(kept | ~below, weights, 0.0)
            weights /= weights.sum()
        now = descent.at(weights, inner.tol, which)
    return now


def ball_gap(evaluation, p):
    """Duality gap over the ball Σ β^p ≤ 1 (the simplex for p = 1)."""
    spread = ball_norm(evaluation.quadratics, p) - evaluation.weights @ evaluation.quadratics
    return 0.5 * max(0.0, spread) + evaluation.machine.gap


def ball_norm(quadratics, p):
    """max βᵀS over the ball: the norm of S for the exponent p / (p − 1)."""
    top = float(quadratics.max())
    if p == 1.0 or not top > 0.0:
        return max(top, 0.0)
    power = p / (p - 1.0)
    return top * float(((quadratics / top) ** power).sum() ** (1.0 / power))


def solve_reduced_gradient(descent, weights, *, tol, max_iter=500, which=None, watch=None):
    """SimpleMKL: down the reduced gradient; weights that reach zero on the way are dropped."""
    which = descent.objective.all_kernels if which is None else which
    inner = _InnerTolerance(tol, loosest=0.3 * tol)
    now = descent.at(weights, inner.tol, which)
    for step in range(1, max_iter + 1):
        if _is_done(now, tol, inner, watch, step, which):
            break
        before = now
        now, direction, slope = _to_the_edge(descent, now, inner, which)
        now = _line_search(descent, now, direction, slope, inner, which)
        if np.abs(now.weights - before.weights).max() < 1e-4 * tol:
            if not inner.tighten():  # lost in the machines' own gaps
                break
            now = descent.at(now.weights, inner.tol, which)
    return now


class _InnerTolerance:
    """Machines are solved loosely at first, and as exactly as the weights deserve at the end."""

    def __init__(self, tol, loosest=0.05):
        self.finest = 0.3 * tol
        self.floor = min(0.01, tol) * self.finest
        self.tol = loosest

    def follow(self, relative_gap):
        self.tol = min(self.tol, max(0.1 * relative_gap, self.finest))

    def tighten(self):
        """False when there is nothing left to tighten."""
        self.tol *= 0.1
        return self.tol >= 0.999 * self.floor


def _is_done(now, tol, inner, watch, step, which):
    gap = now.gap
    inner.follow(gap / max(now.objective, 1e-300))
    return told(watch, step, now, gap, which) or gap <= tol * now.objective


def _closed_form(now, p):
    return closed_form_weights(now.weights, now.quadratics, p)


def closed_form_weights(weights, quadratics, p):
    """β_m ∝ ‖w_m‖^{2/(p+1)} with Σ β^p = 1; the old ones where all w are zero."""
    norms = weights * np.sqrt(np.maximum(quadratics, 0.0))
    if not norms.max() > 0:
        return weights
    norms = norms / norms.max()
    return norms ** (2.0 / (p + 1.0)) / (norms ** (2.0 * p / (p + 1.0))).sum() ** (1.0 / p)


def _damped_step(descent, now, damping, inner, which):
    """The first step that lowers J enough, with ever more damping, or None; and the damping."""
    curvature = descent.objective.curvature(now, which)
    for _ in range(6):
        weights = _model_minimum(now, curvature, damping)
        slope = now.gradient @ (weights - now.weights)
        trial = descent.at(weights, inner.tol, which)
        if trial.objective <= now.objective + _ARMIJO * slope + trial.machine.gap:
            return trial, max(0.1 * damping, 1e-8)
        damping *= 10.0
    return None, damping


def _model_minimum(now, curvature, damping):
    """argmin over the simplex of the quadratic model: a dual problem that pair steps solve."""
    scale = max(float(np.abs(now.gradient).max()), 1e-300)
    curvature = curvature / scale
    curvature[np.diag_indices_from(curvature)] += damping
    new = now.weights.copy()
    slack = -now.gradient / scale
    zeros = np.zeros(len(new))
    pair_pass(curvature, zeros, zeros + 1.0, 0.0, new, slack, 1e-9, 1000 * len(new))
    return _onto_simplex_edge(new)


def _onto_simplex_edge(weights):
    """Tiny negative weights are rounding."""
    weights = np.where(weights > 1e-12 * np.abs(weights).max(), weights, 0.0)
    return weights / weights.sum()


def _reduced_direction(now):
    """Descent direction that keeps Σβ = 1; the largest weight pays for all others."""
    reference = int(now.weights.argmax())
    direction = now.gradient[reference] - now.gradient
    direction[(now.weights <= 0.0) & (direction < 0.0)] = 0.0
    direction[reference] = 0.0
    direction[reference] = -direction.sum()
    return direction, reference


def _to_the_edge(descent, now, inner, which):
    """Follow the reduced gradient past every edge at which J still falls: weights become zero.

    Whether it falls is told by its slope: values of two machines are less certain. Of the edges,
    which are known beforehand, the 1st, 2nd, 4th ... are tried, then those between the last good
    and the first bad one. Returns where that ends, the way to the next edge and the slope there.
    """
    points, directions = _edges(now)
    good, bad, step = -1, len(points), 1
    slope_at_bad, trial_at = 0.0, 0
    while bad - good > 1:
        trial = descent.at(points[trial_at], inner.tol, which)
        slope = trial.gradient @ directions[trial_at]
        if slope < 0.0:
            good, now = trial_at, trial
        else:
            bad, slope_at_bad = trial_at, slope
        step *= 2
        trial_at = min(good + step, (good + bad) // 2 if bad < len(points) else len(points) - 1)
        trial_at = max(trial_at, good + 1)
    if bad == len(points):
        return now, np.zeros_like(now.weights), 0.0
    way = points[bad] - now.weights
    scale = np.abs(way).max() / max(np.abs(directions[bad]).max(), 1e-300)
    return now, way, scale * slope_at_bad


def _edges(now):
    """Where weights become zero along the reduced gradient, and the direction before each."""
    direction, reference = _reduced_direction(now)
    rounding = 1e-12 * np.abs(direction).max()
    weights, points, directions = now.weights.copy(), [], []
    while True:
        falling = np.flatnonzero(direction < -rounding)
        if len(falling) == 0:
            return points, directions
        steps = -weights[falling] / direction[falling]
        first = falling[steps.argmin()]
        weights = weights + steps.min() * direction
        weights[first] = 0.0
        points.append(_onto_simplex_edge(weights))
        directions.append(direction.copy())
        if first == reference:
            return points, directions
        direction[reference] += direction[first]
        direction[first] = 0.0


def _line_search(descent, now, direction, slope_at_end, inner, which):
    """Where J's slope along the step is all but zero.

    Danskin's theorem gives the slope with every machine, so this takes a few machines where a
    golden section takes dozens.
    """
    low, slope_low, high, slope_high = 0.0, now.gradient @ direction, 1.0, slope_at_end
    best, enough = now, 0.1 * abs(slope_low)
    while slope_low < 0.0 < slope_high and high > 1e-8 and high - low > 0.01 * high:
        at = low - slope_low * (high - low) / (slope_high - slope_low)
        at = min(max(at, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        weights = _onto_simplex_edge(now.weights + at * direction)
        best = descent.at(weights, inner.tol, which)
        slope = best.gradient @ direction
        if abs(slope) <= enough:
            break
        if slope < 0.0:
            low, slope_low = at, slope
        else:
            high, slope_high = at, slope
    return best
