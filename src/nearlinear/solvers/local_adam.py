"""Anchors and local models learned together by mini-batch Adam, in matrix products.

Minimizes λ/2 (‖W‖² + ‖b‖²) + mean_i loss(y_i, f(x_i)), f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j), over the
local models, the anchors and, if asked, the sharpness and the metric of the soft assignment γ.
Where the models have a linear root, the penalty is on their distance from it.
"""

from dataclasses import dataclass

import numpy as np

from .adam import Parameter, one_cycle
from .batches import Batches, RowNoise
from .local_gradients import batch_gradients
from .solution import LocalModels

_LOG_RANGE = 7.0  # a thousandfold either way is a hard or a uniform gate already


@dataclass(frozen=True)
class StepSizes:
    """Step of each kind of parameter, in the units of the data."""

    weights: float
    anchors: float
    gate: float


def relative_steps(X, learning_rate):
    """Step sizes that do not change when the features are scaled.

    One Adam step of size r / rms‖[x; 1]‖ on all weights moves a score by about r; anchors move by
    a tenth of r times the features' spread, logarithms of the gate's numbers by a tenth of r.
    """
    size = np.sqrt(1.0 + np.einsum("id,id->", X, X, dtype=np.float64) / len(X))
    spread = np.sqrt(np.mean(X.var(axis=0, dtype=np.float64))) if X.shape[1] else 1.0
    return StepSizes(learning_rate / size, 0.1 * learning_rate * spread, 0.1 * learning_rate)


class _ModelInTraining:
    """All parameters of a model, each with its step size; what is not learned stays."""

    def __init__(self, start, steps, ridge, *, learn_sharpness, learn_metric):
        metric = np.ones(start.anchors.shape[1]) if start.metric is None else start.metric
        self._learn_sharpness, self._learn_metric = learn_sharpness, learn_metric
        self._steps, self._ridge = steps, ridge
        self._anchors = Parameter(start.anchors)
        self._root = start.root
        self._weights, self._biases = (
            Parameter(array, None if start.root is None else start.root[number])
            for number, array in enumerate((start.weights, start.biases))
        )
        self._log_sharpness = Parameter(np.array([np.log(start.sharpness)]))
        self._log_metric = Parameter(np.log(metric.astype(np.float64)))
        self._plain_metric = start.metric is None and not learn_metric
        self._count = 0

    def step(self, gradients, factor):
        self._count += 1
        weights, anchors, gate = (
            factor * size for size in (self._steps.weights, self._steps.anchors, self._steps.gate)
        )
        self._anchors.step(gradients.anchors, anchors, 0.0, self._count)
        if self._weights.value.size:
            self._weights.step(gradients.weights, weights, self._ridge, self._count)
        self._biases.step(gradients.biases, weights, self._ridge, self._count)
        if self._learn_sharpness:
            slope = np.array([gradients.log_sharpness])
            self._log_sharpness.step(slope, gate, 0.0, self._count, _LOG_RANGE)
        if self._learn_metric:
            slope = gradients.log_metric.astype(np.float64)
            self._log_metric.step(slope, gate, 0.0, self._count, _LOG_RANGE)

    def now(self):
        """The model as it is, sharing memory with the parameters."""
        return self._assemble("value")

    def averaged(self):
        """The running average of the model, in arrays of its own."""
        return self._assemble("average")

    def _assemble(self, which):
        def of(parameter):
            array = getattr(parameter, which)
            return array if which == "value" else array.copy()

        metric = np.exp(of(self._log_metric)).astype(self._anchors.value.dtype)
        return LocalModels(
            of(self._anchors),
            float(np.exp(of(self._log_sharpness)[0])),
            of(self._weights),
            of(self._biases),
            None if self._plain_metric else metric,
            self._root,
        )


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
    learn_metric,
    rng,
):
    """Run ``n_epochs`` from ``start``, offering the averaged model to ``keeper`` after each.

    ``jitter`` adds Gaussian noise to every row, in units of each feature's standard deviation.
    """
    row_weight = sample_weight / sample_weight.mean()
    ridge = 1.0 / (C * sample_weight.sum())
    current = _ModelInTraining(
        start, relative_steps(X, learning_rate), ridge,
        learn_sharpness=learn_sharpness, learn_metric=learn_metric,
    )  # fmt: skip
    batches = Batches(X, targets, row_weight, batch_size, rng)
    noise = RowNoise(X, jitter, rng)
    n_steps, count = n_epochs * batches.n_batches, 0
    for epoch in range(1, n_epochs + 1):
        total = 0.0
        for rows, targets_of, share in batches:
            value, gradients = batch_gradients(
                noise(rows), targets_of, share, current.now(), n_neighbors, loss
            )
            total += value * len(rows) / len(X)
            current.step(gradients, one_cycle(count, n_steps))
            count += 1
        model = current.averaged()
        if keeper.offer(epoch, total + 0.5 * ridge * model.squared_norm, model):
            break
