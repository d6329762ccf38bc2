"""The compiled steps of a machine's dual, for a free bias and for a fixed one.

A free bias asks for pairs: (i, j) move in opposite directions, which keeps Σa. The first member is
the coordinate of steepest ascent, the second the one that promises the largest gain to second
order. Without bias, or with a penalized one, single coordinates ascend; a penalized bias adds the
constant ``shift`` to every entry of the Gram matrix.
"""

import numpy as np

from ..._compile import compiled

_FLAT = 1e-12


@compiled
def _slopes(a, slack, lower, upper, epsilon):
    """Slope of the dual for raising and for lowering a coordinate."""
    raising, lowering = -np.inf, np.inf
    if a < upper:
        raising = slack - epsilon if a >= 0.0 else slack + epsilon
    if a > lower:
        lowering = slack + epsilon if a <= 0.0 else slack - epsilon
    return raising, lowering


@compiled
def pair_pass(gram, lower, upper, epsilon, dual_coef, slack, tol, max_steps):
    """Take pair steps until no pair violates optimality by more than ``tol``.

    ``slack`` is y − Ka and is kept up to date. Returns the number of steps.
    """
    n = len(dual_coef)
    diagonal = np.diag(gram).astype(np.float64)
    flat = _FLAT * max(diagonal.mean(), 1e-200)
    # slack + rise is the slope for raising, slack + fall for lowering: only i and j ever change
    rise, fall = np.empty(n), np.empty(n)
    first, best, least = -1, -np.inf, np.inf
    for k in range(n):
        up, down = _slopes(dual_coef[k], 0.0, lower[k], upper[k], epsilon)
        rise[k], fall[k] = up, down
        if slack[k] + up > best:
            first, best = k, slack[k] + up
        least = min(least, slack[k] + down)
    for step in range(max_steps):
        if best - least <= tol:
            return step
        i = first
        row = gram[i]
        own = diagonal[i]
        j, gain, bend = -1, 0.0, 1.0
        for k in range(n):
            slope = best - (slack[k] + fall[k])
            if slope > 0.0:
                curvature = max(own + diagonal[k] - 2.0 * row[k], flat)
                # slope² / curvature > gain / bend without the division
                if slope * slope * bend > gain * curvature:
                    j, gain, bend = k, slope * slope, curvature
        length = (best - (slack[j] + fall[j])) / bend
        # up to the bound, or to zero where the slope changes by 2ε
        room_i = upper[i] - dual_coef[i] if dual_coef[i] >= 0.0 else -dual_coef[i]
        room_j = dual_coef[j] - lower[j] if dual_coef[j] <= 0.0 else dual_coef[j]
        length = min(length, room_i, room_j)
        if length == room_i:
            dual_coef[i] = upper[i] if dual_coef[i] >= 0.0 else 0.0
        else:
            dual_coef[i] += length
        if length == room_j:
            dual_coef[j] = lower[j] if dual_coef[j] <= 0.0 else 0.0
        else:
            dual_coef[j] -= length
        rise[i], fall[i] = _slopes(dual_coef[i], 0.0, lower[i], upper[i], epsilon)
        rise[j], fall[j] = _slopes(dual_coef[j], 0.0, lower[j], upper[j], epsilon)
        other = gram[j]
        first, best, least = -1, -np.inf, np.inf
        for k in range(n):
            # not length × the difference, which would be rounded to the matrix's precision
            slack[k] -= length * row[k] - length * other[k]
            up = slack[k] + rise[k]
            if up > best:
                first, best = k, up
            down = slack[k] + fall[k]
            if down < least:
                least = down
    return max_steps


@compiled
def best_value(a, slack, curvature, lower, upper, epsilon):
    """The best value of one coordinate, all others fixed."""
    if curvature <= 0.0:  # the row is zero under the kernel: its loss is constant
        if slack > epsilon:
            return upper
        return lower if slack < -epsilon else 0.0
    center = a + slack / curvature
    threshold = epsilon / curvature
    if center > threshold:
        return min(center - threshold, upper)
    if center < -threshold:
        return max(center + threshold, lower)
    return min(max(0.0, lower), upper)


@compiled
def greedy_pass(gram, shift, lower, upper, epsilon, dual_coef, slack, tol, max_steps):
    """Steps on the coordinate of largest gain until every slope is within ``tol``.

    The gain is that of a step without bounds, slope² / 2 curvature: it needs no branch, so that one
    vectorized pass brings the slack up to date and finds the gains. Returns the number of steps.
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
