"""Optima of small SVM problems from a general optimizer, and coordinate steps one by one."""

import numpy as np
from scipy.optimize import minimize


def solve_dual(gram, y, upper, ridge):
    """argmin ½ aᵀKa + ½ Σ r α² − Σα over 0 ≤ α ≤ u, a = α y, by projected quasi-Newton steps.

    A search along a line may give up early: steps begin anew until that changes nothing.
    """
    hessian = gram * np.outer(y, y) + np.diag(ridge)

    def evaluate(alpha):
        slope = hessian @ alpha - 1.0
        return 0.5 * alpha @ (slope - 1.0), slope

    bounds = [(0.0, u if np.isfinite(u) else None) for u in upper]
    options = {"maxiter": 100_000, "maxfun": 1_000_000, "ftol": 1e-16, "gtol": 1e-10}
    alpha, value = np.zeros(len(y)), np.inf
    while True:
        found = minimize(
            evaluate, alpha, jac=True, bounds=bounds, method="L-BFGS-B", options=options
        )
        if not found.fun < value:
            return alpha, -value
        alpha, value = found.x, found.fun


def hinge_objective(features, w, y, C):
    return 0.5 * w @ w + np.sum(C * np.maximum(0.0, 1.0 - y * (features @ w)))


def squared_hinge_objective(features, w, y, C):
    return 0.5 * w @ w + np.sum(C * np.maximum(0.0, 1.0 - y * (features @ w)) ** 2)


def coordinate_pass(features, y, upper, ridge, order, alpha):
    """New α after one exact step on each coordinate in ``order``; w is recomputed every time."""
    alpha = alpha.copy()
    for i in order:
        w = features.T @ (alpha * y)
        slope = 1.0 - y[i] * (features[i] @ w) - ridge[i] * alpha[i]
        best = alpha[i] + slope / (features[i] @ features[i] + ridge[i])
        alpha[i] = np.clip(best, 0.0, upper[i])
    return alpha
