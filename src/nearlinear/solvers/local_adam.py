"""Anchors and local models learned together by mini-batch Adam, in matrix products.

Minimizes λ/2 (‖W‖² + ‖b‖²) + mean_i loss(y_i, f(x_i)), f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j), over the
local models, the anchors and the sharpness of the soft assignment γ. For j among the nearest
anchors of x, with s_j the answer of local model j,

    ∂f/∂v_j = 2 β γ_j (s_j − f) (x − v_j),      ∂f/∂log β = −β Σ_j γ_j (s_j − f) ‖x − v_j‖².
"""

from dataclasses import dataclass

import numpy as np

from .._compile import compiled
from ..gates.anchors import SoftAssignment
from ..gates.local_models import local_scores
from .gated_gradient import gated_gradient
from .solution import LocalModels

_WARM_UP = 0.1  # share of the steps in which the step size rises
_MOMENTUM, _SCALE_MEMORY, _AVERAGE = 0.9, 0.999, 0.998


@dataclass(frozen=True)
class StepSizes:
    """Step of each kind of parameter, in the units of the data."""

    weights: float
    anchors: float
    log_sharpness: float


def relative_steps(X, learning_rate):
    """Step sizes that do not change when the features are scaled.

    One Adam step of size r / rms‖[x; 1]‖ on all weights moves a score by about r; anchors move by
    a tenth of r times the features' spread.
    """
    size = np.sqrt(1.0 + np.einsum("id,id->", X, X, dtype=np.float64) / len(X))
    spread = np.sqrt(np.mean(X.var(axis=0, dtype=np.float64))) if X.shape[1] else 1.0
    return StepSizes(learning_rate / size, 0.1 * learning_rate * spread, 0.1 * learning_rate)


def one_cycle(step, n_steps):
    """Factor of the step size: a linear rise, then half a cosine to zero."""
    rise = max(1.0, _WARM_UP * n_steps)
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1.0 + np.cos(np.pi * (step - rise) / max(1.0, n_steps - rise)))


def batch_gradients(X, targets, row_weight, model, n_neighbors, loss):
    """Loss of a batch and its gradients with respect to anchors, log β, weights and biases.

    The pull on an anchor is one more output column of the same grouped product.
    """
    gate = SoftAssignment(model.anchors, n_neighbors, model.sharpness)
    indices, codes, halves = gate.encode(X)
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
    anchors = products[:, :, -1] - sums[:, -1:] * model.anchors
    # Σ_j γ_j (s_j − f) = 0, so h stands for half the squared distance
    log_sharpness = -2.0 * model.sharpness * float(np.sum(pull * halves))
    value = float(row_weight @ loss.value(scores, targets))
    weights = products[:, : features.shape[1], :n_outputs] if features is X else model.weights
    return value, (anchors, log_sharpness, np.ascontiguousarray(weights), sums[:, :n_outputs])


class _Adam:
    """One parameter array with its moments and its running average."""

    def __init__(self, parameter):
        self.value = parameter.copy()
        self.average = parameter.copy()
        self._mean = np.zeros_like(parameter)
        self._square = np.zeros_like(parameter)

    def step(self, gradient, size, ridge, count):
        scale = np.sqrt(1.0 - _SCALE_MEMORY**count) / (1.0 - _MOMENTUM**count)
        keep = min(_AVERAGE, count / (count + 9.0))  # a short run must forget its start
        as_type = self.value.dtype.type
        _adam_pass(
            self.value.ravel(),
            np.ascontiguousarray(gradient).ravel(),
            self._mean.ravel(),
            self._square.ravel(),
            self.average.ravel(),
            as_type(size * scale),
            as_type(ridge),
            as_type(keep),
        )


@compiled
def _adam_pass(value, gradient, mean, square, average, size, ridge, keep):
    one = value.dtype.type(1.0)
    momentum, memory = value.dtype.type(0.9), value.dtype.type(0.999)
    tiny = value.dtype.type(1e-8)
    for t in range(len(value)):
        slope = gradient[t] + ridge * value[t]
        mean[t] = momentum * mean[t] + (one - momentum) * slope
        square[t] = memory * square[t] + (one - memory) * slope * slope
        value[t] -= size * mean[t] / (np.sqrt(square[t]) + tiny)
        average[t] = keep * average[t] + (one - keep) * value[t]


def train_by_adam(
    X,
    targets,
    sample_weight,
    start,
    keeper,
    *,
    n_neighbors,
    loss,
    C,
    n_epochs,
    batch_size,
    learning_rate,
    jitter,
    learn_sharpness,
    rng,
):
    """Run ``n_epochs`` from ``start``, offering the averaged model to ``keeper`` after each.

    Learns the anchors too. ``jitter`` adds Gaussian noise to every row, in units of each
    feature's standard deviation.
    """
    n_rows = len(X)
    row_weight = sample_weight / sample_weight.mean()
    ridge = 1.0 / (C * sample_weight.sum())
    steps = relative_steps(X, learning_rate)
    spread = X.std(axis=0, dtype=np.float64).astype(X.dtype) * X.dtype.type(jitter)
    anchors, weights, biases = _Adam(start.anchors), _Adam(start.weights), _Adam(start.biases)
    log_sharpness = _Adam(np.array([np.log(start.sharpness)]))
    sharpness_bounds = (log_sharpness.value[0] - 7.0, log_sharpness.value[0] + 7.0)
    n_batches = -(-n_rows // batch_size)
    n_steps, count = n_epochs * n_batches, 0
    for epoch in range(1, n_epochs + 1):
        order = rng.permutation(n_rows)
        total = 0.0
        for rows in np.array_split(order, n_batches):
            batch = X[rows]
            if jitter:
                batch += spread * rng.standard_normal(batch.shape, dtype=X.dtype)
            model = LocalModels(
                anchors.value, float(np.exp(log_sharpness.value[0])), weights.value, biases.value
            )
            share = (row_weight[rows] / len(rows)).astype(X.dtype, copy=False)
            value, gradients = batch_gradients(
                batch, targets[rows], share, model, n_neighbors, loss
            )
            total += value * len(rows) / n_rows
            factor = one_cycle(count, n_steps)
            count += 1
            anchors.step(gradients[0], factor * steps.anchors, 0.0, count)
            if learn_sharpness:
                log_sharpness.step(
                    np.array([gradients[1]]), factor * steps.log_sharpness, 0.0, count
                )
                # a thousandfold either way is a hard or a uniform gate already
                np.clip(log_sharpness.value, *sharpness_bounds, out=log_sharpness.value)
            if weights.value.size:
                weights.step(gradients[2], factor * steps.weights, ridge, count)
            biases.step(gradients[3], factor * steps.weights, ridge, count)
        averaged = LocalModels(
            anchors.average.copy(),
            float(np.exp(log_sharpness.average[0])),
            weights.average.copy(),
            biases.average.copy(),
        )
        norm = np.sum(averaged.weights**2, dtype=float) + np.sum(averaged.biases**2, dtype=float)
        if keeper.offer(epoch, total + 0.5 * ridge * norm, averaged):
            break
