"""Slopes of the loss with respect to local models and the gate that blends them.

f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j) with γ_j ∝ exp(−β ‖x − v_j‖²) on the nearest anchors of x and
‖x − v‖² = Σ_d μ_d (x_d − v_d)². With s_j the answer of local model j,

    ∂f/∂v_j = 2 β γ_j (s_j − f) μ (x − v_j),    ∂f/∂log β = −β Σ_j γ_j (s_j − f) ‖x − v_j‖²,
    ∂f/∂log μ_d = −β Σ_j γ_j (s_j − f) μ_d (x_d − v_jd)².
"""

from typing import NamedTuple

import numpy as np

from ..gates.local_models import local_scores
from .gated_gradient import gated_gradient


class Gradients(NamedTuple):
    """Slopes of the loss; those of the sharpness and the metric are with respect to their logs."""

    anchors: np.ndarray
    log_sharpness: float
    weights: np.ndarray
    biases: np.ndarray
    log_metric: np.ndarray


def batch_gradients(X, targets, row_weight, model, n_neighbors, loss):
    """Loss of a batch and its gradients.

    The pull on an anchor is one more output column of the same grouped product.
    """
    indices, codes, halves = model.gate(n_neighbors).encode(X)
    features = model.local_features(X)
    local = local_scores(features, indices, model.weights, model.biases)
    scores = np.einsum("ik,ikc->ic", codes, local)
    slopes = (row_weight[:, None] * loss.slope(scores, targets)).astype(X.dtype, copy=False)
    active = slopes.any(axis=1)

    pull = np.einsum("ic,ikc->ik", slopes, local) - (slopes * scores).sum(axis=1)[:, None]
    pull *= codes
    n_anchors, n_outputs = model.biases.shape
    columns = np.empty((*codes.shape, n_outputs + 1), dtype=X.dtype)
    np.multiply(codes[:, :, None], slopes[:, None, :], out=columns[:, :, :n_outputs])
    np.multiply(2.0 * model.sharpness, pull, out=columns[:, :, n_outputs])
    if features is X:
        products, sums = gated_gradient(X, indices, columns, active, n_anchors)
    else:
        products, _ = gated_gradient(X, indices, columns[:, :, n_outputs:], active, n_anchors)
        _, sums = gated_gradient(features, indices, columns, active, n_anchors)
    pulls, total_pull = products[:, :, -1], sums[:, -1:]
    anchors = pulls - total_pull * model.anchors
    # the pulls of one row add up to zero, so the squares of its features drop out
    metric = 0.5 * np.sum((2.0 * pulls - total_pull * model.anchors) * model.anchors, axis=0)
    if model.metric is not None:
        anchors *= model.metric
        metric *= model.metric
    # Σ_j γ_j (s_j − f) = 0, so h stands for half the squared distance
    log_sharpness = -2.0 * model.sharpness * float(np.sum(pull * halves))
    value = float(row_weight @ loss.value(scores, targets))
    weights = products[:, : features.shape[1], :n_outputs] if features is X else model.weights
    return value, Gradients(anchors, log_sharpness, weights, sums[:, :n_outputs], metric)
