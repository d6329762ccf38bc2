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

    Returns the number of steps.
    """
    n = len(dual_coef)
    curvatures = np.diag(gram).astype(np.float64) + shift
    for step in range(max_steps):
        i, gain, violation = -1, 0.0, 0.0
        for k in range(n):
            curvature = curvatures[k]
            old = dual_coef[k]
            new = best_value(old, slack[k], curvature, lower[k], upper[k], epsilon)
            change = new - old
            if change != 0.0:
                rises = change > 0.0
                slope = slack[k] + epsilon if (old < 0.0 or (old == 0.0 and not rises)) else (
                    slack[k] - epsilon
                )  # fmt: skip
                violation = max(violation, abs(slope))
                worth = change * slack[k] - epsilon * (abs(new) - abs(old))
                worth -= 0.5 * change * change * curvature
                if worth > gain or i < 0:
                    i, gain = k, worth
        if violation <= tol or i < 0:
            return step
        _take_step(gram, shift, lower, upper, epsilon, dual_coef, slack, i)
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
