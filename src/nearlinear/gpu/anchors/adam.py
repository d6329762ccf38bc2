"""Anchors and local models learned together by mini-batch Adam on a device.

The objective, the steps and the names are those of ``solvers/anchors/adam.py``. Different are the
batches (all of one size, the last one filled up with rows of no weight), the numbers of the noise,
and the precision: float32, with bfloat16 products on CUDA where features are many and centered.
"""

import numpy as np
import torch

from ...solvers.anchors.adam import StepSizes
from ...solvers.minibatch import one_cycle
from ...solvers.solution import LocalModels
from ...solvers.watch import Progress
from ..feed import Feed, give_back, stored, unit_of
from .forms import Steps, form_of, slices_of
from .step import LOSSES, Layout, State, padded

_MANY_FEATURES = 64  # from where on products are worth their rounding
SAMPLE = 65_536  # rows that tell the spread of all


def sample_of(X, n_rows=SAMPLE):
    """Rows from all over a matrix, as float32 tensors; bytes as fractions."""
    if not isinstance(X, torch.Tensor):
        X = torch.as_tensor(X)
    some = X[:: max(1, -(-X.shape[0] // n_rows))].to(torch.float32)
    return some * unit_of(X)


def relative_steps(X, learning_rate):
    """Step sizes that do not change when the features are scaled, from some rows."""
    size = torch.sqrt(1.0 + (X.double() ** 2).sum() / len(X)).item()
    spread = torch.sqrt(X.double().var(0, correction=0).mean()).item() if X.shape[1] else 1.0
    return StepSizes(learning_rate / size, 0.1 * learning_rate * spread, 0.1 * learning_rate)


def precision_for(X, device):
    """The precision of products: rows far from the origin would lose their digits to rounding."""
    if torch.device(device).type != "cuda" or X.shape[1] < _MANY_FEATURES:
        return torch.float32
    variance, mean = X.double().var(0, correction=0).sum(), X.double().mean(0).square().sum()
    return torch.bfloat16 if mean <= 4.0 * variance else torch.float32


def schedule_of(n_steps):
    """(step size with Adam's corrections, share of the average that is kept) for each step."""
    steps = np.arange(n_steps)
    rise = max(1.0, 0.1 * n_steps)
    fall = 0.5 * (1.0 + np.cos(np.pi * (steps - rise) / max(1.0, n_steps - rise)))
    factor = np.where(steps < rise, (steps + 1) / rise, fall)
    if factor[0] != one_cycle(0, n_steps) or factor[-1] != one_cycle(n_steps - 1, n_steps):
        raise AssertionError("The schedule is not that of solvers/minibatch.")
    count = steps + 1.0
    scale = np.sqrt(1.0 - 0.999**count) / (1.0 - 0.9**count)
    return np.column_stack([factor * scale, np.minimum(0.998, count / (count + 9.0))])


def _matrix(layout, anchors, weights, biases, device):
    """Anchors and models in their places."""
    values = torch.zeros(layout.n_rows, layout.n_columns, device=device)
    first, D = layout.first, layout.n_features
    if anchors is not None:
        values[:D, : layout.n_anchors] = torch.as_tensor(anchors, device=device).float().T
    models = torch.as_tensor(np.ascontiguousarray(weights), device=device).float()
    last = first + layout.n_models
    values[: layout.width, first:last] = models.permute(1, 2, 0).flatten(1)
    biases = torch.as_tensor(np.ascontiguousarray(biases), device=device).float()
    values[D, first:last] = biases.T.flatten()
    return values


class AnchorTraining:
    """Epochs of Adam on rows that come in one block or in several, as arrays or tensors.

    ``like`` are rows that tell the spread of all. An epoch has ``n_rows`` rows in ``n_batches``
    mini-batches, whatever its blocks are.
    """

    def __init__(
        self, start, like, *, n_rows, n_batches, n_neighbors, loss, ridge, n_epochs, batch_size,
        learning_rate, jitter, learn_metric, rng, device="cuda", form="auto",
        dtype=None,
    ):  # fmt: skip
        self.device = torch.device(device)
        self._start, self._plain_metric = start, start.metric is None and not learn_metric
        n_anchors, width, n_outputs = start.weights.shape
        layout = Layout(start.anchors.shape[1], n_anchors, n_outputs, width)
        some = sample_of(like).to(self.device)
        sizes = relative_steps(some, learning_rate)
        rates = [sizes.weights, sizes.anchors, sizes.gate,
                 sizes.gate * learn_metric, ridge]  # fmt: skip
        metric = np.ones(layout.n_features) if start.metric is None else start.metric
        gate = np.append(np.log(metric), np.log(start.sharpness))
        root = None
        if start.root is not None:
            root = [np.broadcast_to(one, like_.shape)
                    for one, like_ in zip(start.root, (start.weights, start.biases))]  # fmt: skip
            root = _matrix(layout, None, *root, self.device)
        n_steps = n_epochs * n_batches
        self._state = State(
            layout, _matrix(layout, start.anchors, start.weights, start.biases, self.device),
            self._tensor(gate), root, self._tensor(rates), self._tensor(schedule_of(n_steps)),
            loss=LOSSES[type(loss).__name__], n_neighbors=n_neighbors,
            dtype=precision_for(some, device) if dtype is None else dtype,
        )  # fmt: skip
        noise = jitter * some.std(0, correction=0) if jitter else None
        self._feed = Feed(self.device, batch_size, noise, self._steps_of)
        self._form = form_of(form, self.device)
        self._ridge, self._n_rows, self._rng = ridge, n_rows, rng
        self._n_epochs, self._n_steps = n_epochs, n_steps
        self.epoch, self._count, self._sizes, self._is_stopped = 0, 0, [], False

    def _tensor(self, values):
        return torch.as_tensor(np.asarray(values), device=self.device).float()

    @property
    def is_over(self):
        return self._is_stopped or self.epoch >= self._n_epochs

    def take(self, X, targets, row_weight):
        """One step for each mini-batch of a block; ``targets`` are ±1, or numbers of classes."""
        sizes = self._feed.run(X, targets, row_weight, self._state.place, self._rng)
        self._count += len(sizes)
        self._sizes += sizes

    def _steps_of(self, block):
        self._state.n_slices = slices_of(block.batch, self._state.values)
        return Steps(self._form, self._state, block)

    def end_epoch(self, watch):
        """Tell ``watch`` of the averaged model, after all blocks of an epoch."""
        self.epoch, model = self.epoch + 1, self.model()
        done = self._state.losses[self._count - len(self._sizes) : self._count].double().cpu()
        total = float(done.numpy() @ np.asarray(self._sizes)) / self._n_rows
        objective = total + 0.5 * self._ridge * model.squared_norm
        self._sizes = []
        self._is_stopped = watch(Progress(self.epoch, objective, state=model))

    def model(self):
        """The running average of the model, as arrays in the precision that training began with."""
        state, start = self._state, self._start
        layout, dtype, average = state.layout, start.anchors.dtype, state.average
        gate = state.gate_average.double().cpu().numpy()
        D, first, last = layout.n_features, layout.first, layout.first + layout.n_models
        shape = -1, layout.n_outputs, layout.n_anchors
        weights = average[: layout.width, first:last].reshape(shape).permute(2, 0, 1)
        parts = average[:D, : layout.n_anchors].T, weights, average[D, first:last].view(shape)[0].T
        # put in order where they lie, which takes no time there
        anchors, weights, biases = (
            part.clone(memory_format=torch.contiguous_format)
            .cpu()
            .numpy()
            .astype(dtype, copy=False)
            for part in parts
        )
        metric = None if self._plain_metric else np.exp(gate[:D]).astype(dtype)
        return LocalModels(anchors, float(np.exp(gate[D])), weights, biases, metric, start.root)

    def state(self):
        """Arrays by name, and all else that the next blocks depend on as plain values."""
        plain = {"epoch": self.epoch, "count": self._count, "sizes": list(self._sizes)}
        plain["rng"] = self._rng.bit_generator.state
        return stored(self._state), plain

    def restore(self, arrays, plain):
        give_back(self._state, arrays)
        self.epoch, self._count = plain["epoch"], plain["count"]
        self._sizes = list(plain["sizes"])
        self._rng.bit_generator.state = plain["rng"]


def train_by_adam(X, targets, sample_weight, start, watch, *, C, batch_size, **settings):
    """Run epochs from ``start``, and tell ``watch`` of the averaged model after each.

    ``settings`` are those of ``AnchorTraining``.
    """
    row_weight = sample_weight / sample_weight.mean()
    batch = padded(-(-len(X) // -(-len(X) // batch_size)))
    training = AnchorTraining(
        start, X, n_rows=len(X), n_batches=-(-len(X) // batch),
        ridge=1.0 / (C * float(sample_weight.sum())), batch_size=batch, **settings,
    )  # fmt: skip
    while not training.is_over:
        training.take(X, targets, row_weight)
        training.end_epoch(watch)
