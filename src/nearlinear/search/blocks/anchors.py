"""Local models around anchors from all rows: L-BFGS, summed over blocks, with the sample's gate."""

import numpy as np
from scipy.optimize import minimize

from ...losses import LogLoss, SquaredError
from ...solvers.anchors.fixed_gate import gated_sums

_TOL, _EVALUATIONS = 1e-3, 60


def refit_anchors(candidate, predictor, rows, seed, n_jobs):
    """Weights and biases of the local models, which share a linear model, from where they are."""
    scale, C = candidate.local_scale, candidate.C
    center = 0.0 if rows.is_of_classes else rows.center
    loss = LogLoss() if rows.is_of_classes else SquaredError()
    start = _taken_apart(predictor, scale, center)

    def evaluate(flat):
        model = flat.reshape(start.shape)
        value, gradient = 0.5 * flat @ flat, model.copy()
        for X, targets, weight in rows.blocks():
            X = X.astype(predictor.dtype, copy=False)
            indices, codes = predictor.gate.codes(X, n_jobs)
            everyone = np.full((len(indices), 1), len(model) - 1, dtype=indices.dtype)
            ones = np.ones((len(codes), 1), dtype=codes.dtype)
            more, products, sums = gated_sums(
                X, np.hstack([indices, everyone]),
                np.hstack([codes * codes.dtype.type(scale), ones]), targets - center, model,
                loss=loss, C=C * weight,
            )  # fmt: skip
            value += more
            gradient[:, :-1] += products
            gradient[:, -1] += sums
        return value, gradient.ravel()

    found = minimize(
        evaluate, start.ravel(), jac=True, method="L-BFGS-B",
        options={"maxfun": _EVALUATIONS, "ftol": 1e-3 * _TOL,
                 "gtol": 1e-6 * _TOL * C * rows.total_weight},
    )  # fmt: skip
    model = found.x.reshape(start.shape)
    together = (scale * model[:-1] + model[-1]).astype(predictor.dtype)
    return {
        "weights": np.ascontiguousarray(together[:, :-1]),
        "biases": (together[:, -1] + center).astype(predictor.dtype),
    }


def _taken_apart(predictor, scale, center):
    """Local models τ u_j + w as the u_j and w of the least Σ_j ‖u_j‖² + ‖w‖²."""
    local = np.concatenate(
        [predictor.weights, predictor.biases[:, None] - center], axis=1, dtype=np.float64
    )
    shared = local.sum(axis=0) / (scale**2 + len(local))
    return np.concatenate([(local - shared) / scale, shared[None]])
