"""Kernel machines from their formulas: full matrices, slopes always fresh, brute force.

A step makes slopes equal, and which of them is then the steepest is a matter of rounding. So a
step here has several outcomes: one for every choice among equals.
"""

import numpy as np
from scipy.optimize import minimize

_EQUAL = 1e-9


def gram(name, X):
    """One of three kernel matrices."""
    products = X @ X.T
    if name == "linear":
        return products
    if name == "quadratic":
        return (products + 1.0) ** 2
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))


def dual_value(gram, problem, a):
    return problem.targets @ a - problem.epsilon * np.abs(a).sum() - 0.5 * a @ gram @ a


def loss(problem, residual):
    """Σ_i of what a residual beyond ε costs: ``upper`` above, −``lower`` below."""
    price = np.where(residual > 0, problem.upper, -problem.lower)
    return np.sum(price * np.maximum(np.abs(residual) - problem.epsilon, 0.0))


def primal_value(gram, problem, a, bias):
    return 0.5 * a @ gram @ a + loss(problem, problem.targets - gram @ a - bias)


def smallest_loss(problem, slack):
    """Over all biases: the loss is piecewise linear, so a minimum lies at one of its kinks."""
    kinks = np.concatenate([slack - problem.epsilon, slack + problem.epsilon])
    return min(loss(problem, slack - kink) for kink in kinks)


def slopes(gram, problem, a):
    """One-sided derivatives of the dual, upwards and downwards; ∓∞ where the box ends."""
    slack = problem.targets - gram @ a
    sign = np.sign(a)
    raising = slack - problem.epsilon * np.where(sign == 0, 1, sign)
    lowering = slack - problem.epsilon * np.where(sign == 0, -1, sign)
    return (
        np.where(a == problem.upper, -np.inf, raising),
        np.where(a == problem.lower, np.inf, lowering),
    )


def pair_violation(gram, problem, a):
    raising, lowering = slopes(gram, problem, a)
    return max(0.0, raising.max() - lowering.min())


def coordinate_violation(gram, problem, a):
    raising, lowering = slopes(gram, problem, a)
    return max(0.0, raising.max(), -lowering.min())


def pair_step(gram, problem, a, i, j):
    """The best point on the way along e_i − e_j up to the next bound or zero of either."""
    raising, lowering = slopes(gram, problem, a)
    stops = [problem.lower, np.zeros(len(a)), problem.upper]
    above = min(stop[i] for stop in stops if stop[i] > a[i])
    below = max(stop[j] for stop in stops if stop[j] < a[j])
    direction = np.zeros(len(a))
    direction[i], direction[j] = 1.0, -1.0
    curvature = direction @ gram @ direction
    longest = min(above - a[i], a[j] - below)
    best = (raising[i] - lowering[j]) / curvature if curvature > 1e-12 else np.inf
    return a + min(best, longest) * direction


def pair_outcomes(gram, problem, a, tol):
    """Dual vectors after one pair step, of second order in the choice of its second row."""
    if pair_violation(gram, problem, a) <= tol:
        return [a]
    raising, lowering = slopes(gram, problem, a)
    diagonal = np.diag(gram)
    outcomes = []
    for i in np.flatnonzero(raising >= raising.max() - _EQUAL):
        slope = np.maximum(raising[i] - lowering, 0.0)
        gain = slope**2 / np.maximum(diagonal[i] + diagonal - 2.0 * gram[i], 1e-12)
        best = np.flatnonzero(gain >= gain.max() * (1.0 - _EQUAL))
        outcomes += [pair_step(gram, problem, a, i, j) for j in best]
    return outcomes


def coordinate_step(gram, problem, a, i):
    """The best value of coordinate i and its gain: the best of all points it could be at."""
    slack, curvature = (problem.targets - gram @ a)[i], gram[i, i]
    low, high, epsilon = problem.lower[i], problem.upper[i], problem.epsilon
    candidates = [0.0, low, high]
    if curvature > 0:
        candidates += [a[i] + (slack - epsilon) / curvature, a[i] + (slack + epsilon) / curvature]

    def gain(value):
        step = value - a[i]
        price = epsilon * (abs(value) - abs(a[i]))
        return slack * step - price - 0.5 * curvature * step**2

    best = max((np.clip(value, low, high) for value in candidates), key=gain)
    return best, gain(best)


def greedy_outcomes(gram, problem, a, tol):
    """Dual vectors after one step on the coordinate that gains most if bounds are left aside."""
    raising, lowering = slopes(gram, problem, a)
    steepest = np.maximum(raising, -lowering)
    gains = np.where(steepest > tol, steepest**2 / np.maximum(np.diag(gram), 1e-300), 0.0)
    if gains.max() == 0.0:
        return [a]
    outcomes = []
    for i in np.flatnonzero(gains >= gains.max() * (1.0 - _EQUAL)):
        outcomes.append(a.copy())
        outcomes[-1][i] = coordinate_step(gram, problem, a, i)[0]
    return outcomes


def coordinate_pass(gram, problem, a, order):
    """Dual vector after a step on every coordinate of ``order``, and the most a slack moved."""
    a, most = a.copy(), 0.0
    for i in order:
        value, _ = coordinate_step(gram, problem, a, i)
        most = max(most, abs(value - a[i]) * gram[i, i])
        a[i] = value
    return a, most


def solve_box(gram, problem):
    """Largest dual value without Σa = 0, by projected quasi-Newton steps on a = p − q."""
    n = len(problem.targets)

    def evaluate(parts):
        a = parts[:n] - parts[n:]
        slack = problem.targets - gram @ a
        value = 0.5 * a @ (problem.targets + slack) - problem.epsilon * parts.sum()
        return -value, np.concatenate([problem.epsilon - slack, problem.epsilon + slack])

    result = minimize(
        evaluate,
        np.zeros(2 * n),
        jac=True,
        bounds=[(0.0, c) for c in problem.upper] + [(0.0, -c) for c in problem.lower],
        method="L-BFGS-B",
        options={"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-10},
    )
    return result.x[:n] - result.x[n:], -result.fun
