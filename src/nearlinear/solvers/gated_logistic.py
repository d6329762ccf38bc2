"""Logistic regression on gated features γ(x) ⊗ [x; 1], by L-BFGS, features never built.

Minimizes ½ Σ_j (‖W_j‖² + ‖b_j‖²) + Σ_i C_i loss(y_i, f(x_i)) for any smooth loss of a score
matrix; used for the log loss, whose dual has no closed-form coordinate step.
"""

import numpy as np
from scipy.optimize import minimize

from ..gates.local_models import gated_scores
from .gated_gradient import gated_gradient
from .solution import GatedSolution


def solve_gated_smooth(
    X, indices, codes, targets, *, loss, C, n_components, tol, max_iter, start=None
):
    """Solve for a matrix of ±1 ``targets``; ``C`` has one entry per row.

    The certificate returned as ``gap`` is the squared norm of the final gradient over two: the
    objective is 1-strongly convex, so it bounds the distance to the optimum.
    """
    shape = (n_components, X.shape[1] + 1, targets.shape[1])

    def evaluate(flat):
        model = flat.reshape(shape).astype(codes.dtype, copy=False)
        weights = np.ascontiguousarray(model[:, :-1])
        scores = gated_scores(X, indices, codes, weights, np.ascontiguousarray(model[:, -1]))
        slopes = (C[:, None] * loss.slope(scores, targets)).astype(codes.dtype, copy=False)
        pair_slopes = codes[:, :, None] * slopes[:, None, :]
        everyone = np.ones(len(scores), dtype=np.bool_)
        products, sums = gated_gradient(X, indices, pair_slopes, everyone, n_components)
        gradient = flat.reshape(shape).copy()
        gradient[:, :-1] += products
        gradient[:, -1] += sums
        return 0.5 * flat @ flat + C @ loss.value(scores, targets), gradient.ravel()

    initial = (
        np.zeros(shape)
        if start is None
        else np.concatenate([start.weights, start.biases[:, None]], axis=1).astype(np.float64)
    )
    scale = float(C.sum())
    result = minimize(
        evaluate,
        initial.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "ftol": 1e-3 * tol, "gtol": 1e-6 * tol * scale},
    )
    model = result.x.reshape(shape).astype(codes.dtype)
    gap = 0.5 * float(result.jac @ result.jac)
    return GatedSolution(
        np.ascontiguousarray(model[:, :-1]),
        np.ascontiguousarray(model[:, -1]),
        float(result.fun),
        gap,
        int(result.nit),
    )
