"""Sequential minimal optimisation: pairs of dual coordinates, for machines with a free bias.

A pair (i, j) moves in opposite directions, which keeps Σa. The first member is the coordinate of
steepest ascent, the second the one that promises the largest gain to second order.
"""

import numpy as np

from .._compile import compiled

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
