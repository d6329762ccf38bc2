"""Coordinate ascent on the dual of a machine without bias, or with a penalised one.

A penalised bias adds the constant ``shift`` to every entry of the Gram matrix.
"""

import numpy as np

from .._compile import compiled


@compiled
def best_value(a, slack, curvature, lower, upper, epsilon):
    """The best value of one coordinate, all others fixed."""
    if curvature <= 0.0:  # the row is zero under the kernel: its loss is constant
        if slack > epsilon:
            return upper
        return lower if slack < -epsilon else 0.0
    centre = a + slack / curvature
    threshold = epsilon / curvature
    if centre > threshold:
        return min(centre - threshold, upper)
    if centre < -threshold:
        return max(centre + threshold, lower)
    return min(max(0.0, lower), upper)


@compiled
def greedy_pass(gram, shift, lower, upper, epsilon, dual_coef, slack, tol, max_steps):
    """Steps on the coordinate of largest gain until every slope is within ``tol``.

    The gain is that of a step without bounds, slope² / 2 curvature: it needs no branch, so that one
    vectorised pass brings the slack up to date and finds the gains. Returns the number of steps.
    """
    n = len(dual_coef)
    curvatures, inverse, gains = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        curvatures[k] = gram[k, k] + shift
        inverse[k] = 1.0 / curvatures[k] if curvatures[k] > 0.0 else 1e300
    change, i = 0.0, 0
    for step in range(max_steps + 1):
        row = gram[i]
        for k in range(n):
            rest = slack[k] - change * (row[k] + shift)
            slack[k] = rest
            a = dual_coef[k]
            rise = rest - (epsilon if a >= 0.0 else -epsilon)
            fall = -rest - (epsilon if a <= 0.0 else -epsilon)
            rise = rise if a < upper[k] else 0.0
            fall = fall if a > lower[k] else 0.0
            slope = rise if rise > fall else fall
            slope = slope if slope > tol else 0.0
            gains[k] = slope * slope * inverse[k]
        i, largest = -1, 0.0
        for k in range(n):
            if gains[k] > largest:
                i, largest = k, gains[k]
        if i < 0 or step == max_steps:
            return step
        a = dual_coef[i]
        dual_coef[i] = best_value(a, slack[i], curvatures[i], lower[i], upper[i], epsilon)
        change = dual_coef[i] - a
    return max_steps


@compiled
def random_pass(gram, shift, lower, upper, epsilon, dual_coef, slack, order):
    """One step on every coordinate of ``order``; returns the largest change times its curvature."""
    violation = 0.0
    for i in order:
        curvature = gram[i, i] + shift
        moved = _take_step(gram, shift, lower, upper, epsilon, dual_coef, slack, i)
        violation = max(violation, abs(moved) * max(curvature, 0.0))
    return violation


@compiled
def _take_step(gram, shift, lower, upper, epsilon, dual_coef, slack, i):
    new = best_value(
        dual_coef[i], slack[i], gram[i, i] + shift, lower[i], upper[i], epsilon
    )  # fmt: skip
    change = new - dual_coef[i]
    if change != 0.0:
        dual_coef[i] = new
        row = gram[i]
        for k in range(len(slack)):
            slack[k] -= change * (row[k] + shift)
    return change


def largest_slopes(problem, dual_coef, slack):
    """How steeply each coordinate may still ascend; zero where it is optimal."""
    raising, lowering = problem.ascents(dual_coef, slack)
    return np.maximum(np.maximum(raising, -lowering), 0.0)
