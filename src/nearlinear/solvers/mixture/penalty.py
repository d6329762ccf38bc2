"""Generalized MKL by spectral projected gradients: weights with a penalty instead of a simplex.

    min_{d ≥ 0}  T(d) = J(d) + σ r(d),     r(d) = Σ d^p / p

For p = 1 its solution, divided by its sum, is that of the simplex for rescaled kernels; p > 1 keeps
every kernel.
"""

from dataclasses import dataclass

import numpy as np

from .objective import told
from .simplex import solve_newton

_ARMIJO = 1e-4
_MEMORY = 5
_SCALE_TOL = 1e-4  # of the penalty: rounding must not change the problem
_SHORTEST, _LONGEST = 1e-10, 1e10
_MOST_GROWTH = 10.0  # of the weights in one step: machines on huge kernels are hard to solve


@dataclass(frozen=True)
class Penalty:
    """σ Σ d^p / p."""

    sigma: float
    p: float = 1.0

    def value(self, weights):
        return self.sigma * float((weights**self.p).sum()) / self.p

    def slope(self, weights):
        return self.sigma * weights ** (self.p - 1.0) if self.p > 1.0 else self.sigma

    def gap(self, evaluation, problem, shift):
        """T minus a dual value, at the machine's dual vector (shrunk into bounds for p = 1)."""
        coef, quadratics = evaluation.machine.dual_coef, evaluation.quadratics
        linear = problem.dual_value(coef, 0.0)
        bias_part = 0.5 * shift * coef.sum() ** 2
        if self.p == 1.0:
            scale = min(1.0, np.sqrt(2.0 * self.sigma / max(quadratics.max(), 1e-300)))
            dual = scale * linear - scale**2 * bias_part
        else:
            ratio = np.maximum(quadratics, 0.0) / (2.0 * self.sigma)
            conjugate = (ratio ** (self.p / (self.p - 1.0))).sum() * (1.0 - 1.0 / self.p)
            dual = linear - bias_part - self.sigma * conjugate
        return evaluation.objective + self.value(evaluation.weights) - dual


def natural_sigma(descent, weights):
    """The σ at which the weights sum to about one.

    On the simplex the best weights have one common price aᵀK_m a, and half of it is this σ.
    """
    return 0.5 * float(solve_newton(descent, weights, tol=_SCALE_TOL).quadratics.max())


def solve_spectral_gradient(descent, weights, penalty, *, tol, max_iter=500, watch=None):
    """Minimize T until the gap is ``tol`` of its value; returns the evaluation and its gap."""
    problem, shift = descent.objective.problem, descent.objective.bias.shift
    all_kernels = np.arange(len(weights))
    inner = 0.1 * tol
    now = descent.at(weights, inner)
    recent, step = [], 1.0 / max(np.abs(_gradient(now, penalty)).max(), 1e-300)
    for number in range(1, max_iter + 1):
        value = now.objective + penalty.value(now.weights)
        gap = penalty.gap(now, problem, shift)
        if told(watch, number, now, gap, all_kernels) or gap <= tol * value:
            break
        recent = [*recent[1 - _MEMORY :], value]
        gradient = _gradient(now, penalty)
        farthest = _MOST_GROWTH * max(now.weights.max(), 1e-12)
        direction = np.clip(now.weights - step * gradient, 0.0, farthest) - now.weights
        trial = _search(descent, now, direction, gradient @ direction, max(recent), penalty, inner)
        if trial is None:
            if inner < 1e-4 * tol:
                break
            inner *= 0.1
            now = descent.at(now.weights, inner)
            continue
        moved = trial.weights - now.weights
        bent = moved @ (_gradient(trial, penalty) - gradient)
        length = moved @ moved / bent if bent > 0 else _LONGEST
        step = float(np.clip(length, _SHORTEST, _LONGEST))
        now = trial
    return now, penalty.gap(now, problem, shift)


def _gradient(evaluation, penalty):
    return evaluation.gradient + penalty.slope(evaluation.weights)


def _search(descent, now, direction, slope, ceiling, penalty, inner):
    """Backtrack until T is below the worst of the last values; None if no step is."""
    length = 1.0
    for _ in range(12):
        weights = np.maximum(now.weights + length * direction, 0.0)
        if np.any(weights > 0):
            trial = descent.at(weights, inner)
            if trial.objective + penalty.value(weights) <= ceiling + _ARMIJO * length * slope:
                return trial
        length *= 0.5
    return None
