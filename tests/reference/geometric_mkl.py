"""Minimax problem of the geometric soft margin from a general optimizer, and one exchange of α."""

import numpy as np
from scipy.optimize import minimize, minimize_scalar


def signed_grams(kernels, y, ridge):
    return [kernel * np.outer(y, y) + np.diag(ridge) for kernel in kernels]


def solve_saddle(kernels, y, ridge):
    """min_α max_m α'G_m α in epigraph form: α and its value."""
    grams = signed_grams(kernels, y, ridge)
    start = np.where(y > 0, 0.5 / np.sum(y > 0), 0.5 / np.sum(y < 0))
    scale = max(start @ gram @ start for gram in grams)
    constraints = [
        {"type": "ineq", "fun": lambda v, g=gram: v[-1] - v[:-1] @ g @ v[:-1] / scale,
         "jac": lambda v, g=gram: np.append(-2.0 * g @ v[:-1] / scale, 1.0)}
        for gram in grams
    ]  # fmt: skip
    constraints += [
        {"type": "eq", "fun": lambda v, s=sign: v[:-1][y == s].sum() - 0.5,
         "jac": lambda v, s=sign: np.append(y == s, 0.0)}
        for sign in (-1.0, 1.0)
    ]  # fmt: skip
    result = minimize(
        lambda v: v[-1],
        np.append(start, 1.0),
        jac=lambda v: np.append(np.zeros(len(y)), 1.0),
        bounds=[(0.0, None)] * (len(y) + 1),
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    alpha = result.x[:-1]
    return alpha, max(alpha @ gram @ alpha for gram in grams)


def smooth_maximum(grams, alpha, prior, sharpness):
    """log Σ_m π_m cosh(s u_m), u_m² = α'G_m α, as it is written."""
    roots = np.array([np.sqrt(alpha @ gram @ alpha) for gram in grams])
    return np.log(prior @ np.cosh(sharpness * roots))


def exchange(grams, y, alpha, prior, sharpness):
    """α after exchanges between the pair of a class that promises most, until ten times less."""
    first = None
    while True:
        values = np.array([alpha @ gram @ alpha for gram in grams])
        weights = prior * np.sinh(sharpness * np.sqrt(values)) / np.sqrt(values)
        gradient = sum(w * (gram @ alpha) for w, gram in zip(weights / weights.sum(), grams))
        promise, up, down = max(
            (gradient[j] - gradient[i], i, j)
            for i in range(len(y))
            for j in np.flatnonzero((y == y[i]) & (alpha > 0))
        )
        first = promise if first is None else first
        if promise <= 0.1 * first:
            return alpha
        direction = np.zeros(len(y))
        direction[up], direction[down] = 1.0, -1.0
        alpha = alpha + _best_step(grams, alpha, direction, prior, sharpness) * direction


def _best_step(grams, alpha, direction, prior, sharpness):
    longest = alpha[direction < 0].item()
    best = minimize_scalar(
        lambda size: smooth_maximum(grams, alpha + size * direction, prior, sharpness),
        bounds=(0.0, longest),
        method="bounded",
        options={"xatol": 1e-12},
    )
    # the search never tries the end itself
    at_end = smooth_maximum(grams, alpha + longest * direction, prior, sharpness)
    return longest if at_end <= best.fun else best.x
