"""Local models for a fixed gate, by the solver that suits the loss.

A loss with a dual box goes to coordinate ascent. The log loss has no closed step there: it is
minimized, with ½ Σ_j (‖W_j‖² + ‖b_j‖²), by L-BFGS on gated features γ(x) ⊗ [x; 1], never built.
"""

from functools import partial

import numpy as np
from scipy.optimize import minimize

from ..._compile import run_blocks
from ...gates.blend import gated_gradient, gated_scores
from ...losses import LOSSES
from ..solution import GatedSolution
from .dual import solve_gated_svm

_STEPS_KEPT = 10  # by L-BFGS, a pair of vectors for each


def copies_in_steps(loss):
    """How many float64 copies of all models the solver of a named loss takes beside the models."""
    return 0 if hasattr(LOSSES[loss], "dual_box") else 2 * _STEPS_KEPT + 10


def solve_gated_smooth(
    X, indices, codes, targets, *, loss, C, n_components, tol, max_iter, start=None
):
    """Solve for a matrix of ±1 ``targets``; ``C`` has one entry per row.

    The certificate returned as ``gap`` is the squared norm of the final gradient over two: the
    objective is 1-strongly convex, so it bounds the distance to the optimum.
    """
    shape = (n_components, X.shape[1] + 1, targets.shape[1])

    def evaluate(flat):
        value, products, sums = gated_sums(
            X, indices, codes, targets, flat.reshape(shape), loss=loss, C=C
        )
        gradient = flat.reshape(shape).copy()
        gradient[:, :-1] += products
        gradient[:, -1] += sums
        return 0.5 * flat @ flat + value, gradient.ravel()

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
        options={
            "maxiter": max_iter,
            "maxcor": _STEPS_KEPT,
            "ftol": 1e-3 * tol,
            "gtol": 1e-6 * tol * scale,
        },
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


def gated_sums(X, indices, codes, targets, model, *, loss, C):
    """Σ_i C_i loss(y_i, f(x_i)) and its slopes in the weights and biases of all components.

    ``model`` has shape (n_components, n_features + 1, n_outputs), biases last.
    """
    model = model.astype(codes.dtype, copy=False)
    weights = np.ascontiguousarray(model[:, :-1])
    scores = gated_scores(X, indices, codes, weights, np.ascontiguousarray(model[:, -1]))
    slopes = (C[:, None] * loss.slope(scores, targets)).astype(codes.dtype, copy=False)
    pair_slopes = codes[:, :, None] * slopes[:, None, :]
    all_rows = np.ones(len(scores), dtype=np.bool_)
    products, sums = gated_gradient(X, indices, pair_slopes, all_rows, len(model))
    return C @ loss.value(scores, targets), products, sums


def solve_local_models(
    X, indices, codes, targets, *, loss, C, n_components, tol, max_iter, rng, n_jobs
):
    """Minimize ½ Σ_j (‖W_j‖² + ‖b_j‖²) + Σ_i C_i loss(y_i, f(x_i)) for given codes.

    Returns the solution of all outputs and the list of solutions that carry the certificates.
    """
    if not hasattr(loss, "dual_box"):
        solution = solve_gated_smooth(
            X, indices, codes, targets, loss=loss, C=C, n_components=n_components,
            tol=tol, max_iter=max_iter,
        )  # fmt: skip
        return solution, [solution]
    upper, ridge = loss.dual_box(C)  # one problem of coordinate descent per output
    n_outputs = targets.shape[1]
    # one seed per output, drawn before any thread starts: the result does not depend on n_jobs
    seeds = rng.randint(np.iinfo(np.int32).max, size=n_outputs)
    solve = partial(
        solve_gated_svm, X, indices, codes, upper=upper, ridge=ridge, n_components=n_components,
        tol=tol, max_epochs=max_iter,
    )  # fmt: skip
    parts = [None] * n_outputs

    def work(output, _):
        parts[output] = solve(
            targets[:, output].astype(np.float64),
            rng=np.random.RandomState(seeds[output]),
        )

    run_blocks(work, n_outputs, 1, n_jobs)
    return _stack(parts), parts


def _stack(parts):
    return GatedSolution(
        np.ascontiguousarray(np.concatenate([part.weights for part in parts], axis=2)),
        np.ascontiguousarray(np.concatenate([part.biases for part in parts], axis=1)),
        sum(part.objective for part in parts),
        sum(part.gap for part in parts),
        max(part.n_iter for part in parts),
        np.stack([part.dual for part in parts], axis=1),
    )
