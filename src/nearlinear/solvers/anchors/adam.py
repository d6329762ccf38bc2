"""Anchors and local models learned together by mini-batch Adam, in matrix products.

Minimizes λ/2 (‖W‖² + ‖b‖²) + mean_i loss(y_i, f(x_i)), f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j), over the
local models, the anchors, the sharpness and, if ``learn_metric``, the metric of the soft
assignment γ.
Where the models have a linear root, the penalty is on their distance from it.

The slopes: with ‖x − v‖² = Σ_d μ_d (x_d − v_d)² and s_j the answer of local model j,

    ∂f/∂v_j = 2 β γ_j (s_j − f) μ (x − v_j),    ∂f/∂log β = −β Σ_j γ_j (s_j − f) ‖x − v_j‖²,
    ∂f/∂log μ_d = −β Σ_j γ_j (s_j − f) μ_d (x_d − v_jd)².
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...gates.blend import gated_gradient, local_scores
from ..minibatch import Batches, Parameter, RowNoise, one_cycle
from ..solution import LocalModels
from ..watch import Progress


class Gradients(NamedTuple):
    """Slopes of the loss; those of the sharpness and the metric are with respect to their logs."""

    anchors: np.ndarray
    log_sharpness: float
    weights: np.ndarray
    biases: np.ndarray
    log_metric: np.ndarray


def batch_gradients(X, targets, row_weight, model, n_neighbors, loss):
    """Loss of a batch and its gradients.

    The slope of the gate in an anchor is one more output column of the same grouped product.
    """
    indices, codes, half_distances = model.gate(n_neighbors).encode(X)
    features = model.local_features(X)
    local = local_scores(features, indices, model.weights, model.biases)
    scores = np.einsum("ik,ikc->ic", codes, local)
    slopes = (row_weight[:, None] * loss.slope(scores, targets)).astype(X.dtype, copy=False)
    active = slopes.any(axis=1)

    slope_logits = np.einsum("ic,ikc->ik", slopes, local) - (slopes * scores).sum(axis=1)[:, None]
    slope_logits *= codes
    n_anchors, n_outputs = model.biases.shape
    columns = np.empty((*codes.shape, n_outputs + 1), dtype=X.dtype)
    np.multiply(codes[:, :, None], slopes[:, None, :], out=columns[:, :, :n_outputs])
    np.multiply(2.0 * model.sharpness, slope_logits, out=columns[:, :, n_outputs])
    if features is X:
        products, sums = gated_gradient(X, indices, columns, active, n_anchors)
    else:
        products, _ = gated_gradient(X, indices, columns[:, :, n_outputs:], active, n_anchors)
        _, sums = gated_gradient(features, indices, columns, active, n_anchors)
    weighted_rows, total_slope = products[:, :, -1], sums[:, -1:]
    anchors = weighted_rows - total_slope * model.anchors
    # the slopes of one row add up to zero, so the squares of its features drop out
    metric = 0.5 * np.sum(
        (2.0 * weighted_rows - total_slope * model.anchors) * model.anchors, axis=0
    )
    if model.metric is not None:
        anchors *= model.metric
        metric *= model.metric
    # Σ_j γ_j (s_j − f) = 0, so h stands for half the squared distance
    log_sharpness = -2.0 * model.sharpness * float(np.sum(slope_logits * half_distances))
    value = float(row_weight @ loss.value(scores, targets))
    weights = products[:, : features.shape[1], :n_outputs] if features is X else model.weights
    return value, Gradients(anchors, log_sharpness, weights, sums[:, :n_outputs], metric)


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

    def __init__(self, start, steps, ridge, *, learn_metric):
        metric = np.ones(start.anchors.shape[1]) if start.metric is None else start.metric
        self._learn_metric = learn_metric
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
        slope = np.array([gradients.log_sharpness])
        self._log_sharpness.step(slope, gate, 0.0, self._count, _LOG_RANGE)
        if self._learn_metric:
            slope = gradients.log_metric.astype(np.float64)
            self._log_metric.step(slope, gate, 0.0, self._count, _LOG_RANGE)

    def _parameters(self):
        found = vars(self).items()
        return {name[1:]: one for name, one in found if isinstance(one, Parameter)}

    def state(self):
        parts = self._parameters().items()
        return {f"{name}.{k}": v for name, one in parts for k, v in one.state().items()}

    def restore(self, state, count):
        self._count = count
        for name, one in self._parameters().items():
            one.restore({k.removeprefix(f"{name}."): v for k, v in state.items()})

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


class AnchorTraining:
    """Epochs of Adam on rows that come in one block or in several.

    ``like`` are rows that tell the spread of all. An epoch has ``n_rows`` rows in ``n_batches``
    mini-batches, whatever its blocks are. ``jitter`` adds Gaussian noise to every row, in units of
    each feature's standard deviation.
    """

    def __init__(
        self, start, like, *, n_rows, n_batches, n_neighbors, loss, ridge, n_epochs, batch_size,
        learning_rate, jitter, learn_metric, rng,
    ):  # fmt: skip
        self._current = _ModelInTraining(
            start, relative_steps(like, learning_rate), ridge, learn_metric=learn_metric
        )
        self._noise, self._rng = RowNoise(like, jitter, rng), rng
        self._n_neighbors, self._loss, self._ridge = n_neighbors, loss, ridge
        self._n_rows, self._batch_size = n_rows, batch_size
        self._n_epochs, self._n_steps = n_epochs, n_epochs * n_batches
        self.epoch, self._count, self._total, self._is_stopped = 0, 0, 0.0, False

    @property
    def is_over(self):
        return self._is_stopped or self.epoch >= self._n_epochs

    def take(self, X, targets, row_weight):
        """One step for each mini-batch of a block."""
        current = self._current
        for rows, targets_of, share in Batches(X, targets, row_weight, self._batch_size, self._rng):
            value, gradients = batch_gradients(
                self._noise(rows), targets_of, share, current.now(), self._n_neighbors, self._loss
            )
            self._total += value * len(rows) / self._n_rows
            current.step(gradients, one_cycle(self._count, self._n_steps))
            self._count += 1

    def end_epoch(self, watch):
        """Tell ``watch`` of the averaged model, after all blocks of an epoch."""
        self.epoch, model = self.epoch + 1, self.model()
        objective = float(self._total + 0.5 * self._ridge * model.squared_norm)
        self._total = 0.0
        self._is_stopped = watch(Progress(self.epoch, objective, state=model))

    def model(self):
        return self._current.averaged()

    def state(self):
        """Arrays by name, and all else that the next blocks depend on as plain values."""
        plain = {"epoch": self.epoch, "count": self._count, "total": self._total}
        plain["rng"] = self._rng.bit_generator.state
        return self._current.state(), plain

    def restore(self, arrays, plain):
        self._current.restore(arrays, plain["count"])
        self.epoch, self._count, self._total = plain["epoch"], plain["count"], plain["total"]
        self._rng.bit_generator.state = plain["rng"]

    def apart(self):
        """What takes blocks elsewhere and shares its state; the mean of states is rejoined."""
        return self

    share, rejoin = state, restore


def train_by_adam(
    X,
    targets,
    sample_weight,
    start,
    watch,
    *,
    C,
    batch_size,
    **settings,
):
    """Run epochs from ``start``, and tell ``watch`` of the averaged model after each.

    ``settings`` are those of ``AnchorTraining``.
    """
    row_weight = sample_weight / sample_weight.mean()
    training = AnchorTraining(
        start, X, n_rows=len(X), n_batches=-(-len(X) // batch_size),
        ridge=1.0 / (C * sample_weight.sum()), batch_size=batch_size, **settings,
    )  # fmt: skip
    while not training.is_over:
        training.take(X, targets, row_weight)
        training.end_epoch(watch)
