"""LaSVM on a full Gram matrix, every gradient computed afresh before every step.

A step makes two gradients equal, and which of them is then the larger is a matter of rounding. So
a step here has several outcomes: one for every choice among equals.
"""

from functools import partial

import numpy as np

_EQUAL = 1e-9


def can_grow(y, C, a):
    return a < np.where(y > 0, C, 0.0)


def can_shrink(y, C, a):
    return a > np.where(y > 0, 0.0, -C)


def largest(candidates, value):
    """The candidates whose value is the largest, but for rounding."""
    values = np.array([value(s) for s in candidates])
    return [s for s, v in zip(candidates, values) if v >= values.max() - _EQUAL * abs(values.max())]


def pair_step(gram, y, C, a, i, j):
    """Exact line search from a along e_i − e_j, inside the box."""
    direction = np.zeros(len(a))
    direction[i], direction[j] = 1.0, -1.0
    slope = direction @ (y - gram @ a)
    low, high = np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    longest = min(high[i] - a[i], a[j] - low[j])
    curvature = direction @ gram @ direction
    step = longest if curvature <= 0 else min(slope / curvature, longest)
    moved = a + step * direction
    moved = np.where(np.isclose(moved, low, rtol=0, atol=1e-14), low, moved)
    return np.where(np.isclose(moved, high, rtol=0, atol=1e-14), high, moved)


def process(gram, y, C, a, known, k, tol):
    """Outcomes of PROCESS of row k against the rows in ``known``."""
    gradient = y - gram @ a
    free = can_shrink(y, C, a) if y[k] > 0 else can_grow(y, C, a)
    partners = largest([s for s in known if free[s]], lambda s: -y[k] * gradient[s])
    if not partners or y[k] * (gradient[k] - gradient[partners[0]]) <= tol:
        return [a]
    pairs = [(k, s) if y[k] > 0 else (s, k) for s in partners]
    return [pair_step(gram, y, C, a, i, j) for i, j in pairs]


def reprocess(gram, y, C, a, known, tol):
    """Outcomes of REPROCESS, its second row chosen by the gain of a step without bounds."""
    gradient = y - gram @ a
    growing = [s for s in known if can_grow(y, C, a)[s]]
    shrinking = [s for s in known if can_shrink(y, C, a)[s]]
    if not growing or not shrinking or max(gradient[growing]) - min(gradient[shrinking]) <= tol:
        return [a]

    def gain(i, j):
        return (gradient[i] - gradient[j]) ** 2 / (gram[i, i] + gram[j, j] - 2 * gram[i, j])

    outcomes = []
    for i in largest(growing, lambda s: gradient[s]):
        below = [s for s in shrinking if gradient[s] < gradient[i] - _EQUAL]
        outcomes += [pair_step(gram, y, C, a, i, j) for j in largest(below, partial(gain, i))]
    return outcomes


def take_rows(gram, y, C, a, known, rows, tol):
    """Outcomes of PROCESS and REPROCESS for each of ``rows`` in turn."""
    outcomes, known = [a], list(known)
    for k in rows:
        outcomes = [after for a in outcomes for after in process(gram, y, C, a, known, k, tol)]
        known.append(k)
        outcomes = [after for a in outcomes for after in reprocess(gram, y, C, a, known, tol)]
    return outcomes


def drop(gram, y, C, a, known):
    """What is left of ``known`` without the rows at zero that lie beyond the extreme gradients."""
    gradient = y - gram @ a
    growing = [gradient[s] for s in known if can_grow(y, C, a)[s]]
    shrinking = [gradient[s] for s in known if can_shrink(y, C, a)[s]]
    if not growing or not shrinking:
        return list(known)
    satisfied = np.where(y > 0, gradient <= min(shrinking), gradient >= max(growing))
    return [s for s in known if a[s] != 0 or not satisfied[s]]


def hinge_loss(scores, bias, y, C):
    return np.sum(C * np.maximum(0.0, 1.0 - y * (scores + bias)))
