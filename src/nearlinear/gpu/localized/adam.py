"""Gates and their linear models learned by mini-batch Adam on a device, all outputs at once.

The objective, the steps and the names are those of ``solvers/localized/gate.py``. Different are the
batches (all of one size, the last one filled up with rows of no weight, the same for all outputs)
and the precision: float32, of the gate, too, without TF32. A gate of a user's own has no form here.
"""

import numpy as np
import torch
from scipy.sparse import issparse

from ...losses import EpsilonInsensitive
from ...solvers.localized.gate import GatedModels
from ...solvers.watch import Progress
from ..anchors.adam import schedule_of
from ..anchors.forms import Form, Steps, plain_or_compiled, slices_of
from ..anchors.step import padded
from ..feed import Feed
from . import step

PLAIN = Form(step.gather, step.middle, step.update)
_BLOCK = 1 << 16  # rows that travel at once


def placed_rows(X, view, device):
    """Rows in float32 on the device, a block at a time; beside them what ``view`` makes of them."""
    there, n_rows = None, X.shape[0]
    for first in range(0, n_rows, _BLOCK):
        part = X[first : first + _BLOCK]
        parts = [part] if view is None else [part, view(part)]
        parts = [one.toarray() if issparse(one) else np.asarray(one) for one in parts]
        block = np.hstack([one.astype(np.float32, copy=False) for one in parts])
        if there is None:
            there = torch.empty(n_rows, block.shape[1], device=device)
        there[first : first + _BLOCK] = torch.as_tensor(block).to(device)
    return there


class GatedTraining:
    """Epochs of Adam on gates that start at ``gates``, one for each output.

    ``maps`` has one ``AffineMap`` a component. ``total`` is Σ C_i over all rows.
    """

    def __init__(
        self, X, targets, row_weight, gates, maps, loss, *, total, penalty, n_epochs, batch_size,
        learning_rate, rng, device="cuda", form="auto",
    ):  # fmt: skip
        self.device, self._gates, self._dtype = torch.device(device), gates, X.dtype
        n_rows, self._n_features = X.shape
        inner, columns = step.gate_and_columns(gates[0], self._n_features)
        if inner is None:
            raise ValueError(
                "On a device gates are 'softmax', 'sigmoid' or 'gaussian': leave device out for a "
                "gate of your own."
            )
        self._X = placed_rows(X, gates[0].view if columns is None else None, self.device)
        width = self._X.shape[1]
        self._columns = list(range(self._n_features, width) if columns is None else columns)
        self.layout = step.GatedLayout(width, len(gates), len(maps), type(inner).__name__)
        self._targets = self._told(targets)
        self._weight = torch.as_tensor(row_weight, device=self.device).float()
        self._penalty, self._n_rows, self._n_epochs = penalty, n_rows, n_epochs
        scales, ridges = self._scales(maps), np.zeros(self.layout.n_columns)
        ridges[: self.layout.n_models] = penalty / total
        ridges[self.layout.first : self.layout.last] = 1.0 / total
        schedule = schedule_of(n_epochs * -(-n_rows // batch_size)) * [learning_rate, 1.0]
        units = None
        if self.layout.is_gaussian:
            scales_of_gates = [step.gate_and_columns(one, 0)[0].scale for one in gates]
            units = np.repeat(scales_of_gates, len(maps))
        self._state = step.GatedState(
            self.layout, self._tensor(self._values()), self._tensor(scales), self._tensor(ridges),
            None if units is None else self._tensor(units), self._tensor(schedule),
            epsilon=self._tensor(loss.epsilon) if isinstance(loss, EpsilonInsensitive) else None,
        )  # fmt: skip
        self._form = plain_or_compiled(PLAIN, form, self.device)
        self._feed = Feed(device, batch_size, None, self._steps_of, lambda targets: targets)
        self._rng, self.epoch, self._paths = rng, 0, []

    def _tensor(self, values):
        return torch.as_tensor(np.asarray(values), device=self.device).float()

    def _told(self, targets):
        """Targets, and squared norms of what the gate sees where it is Gaussian."""
        targets = torch.as_tensor(np.ascontiguousarray(targets), device=self.device).float()
        if not self.layout.is_gaussian:
            return targets
        norms = [part[:, self._columns].double().square().sum(1) for part in self._X.split(_BLOCK)]
        return torch.column_stack([targets, torch.cat(norms).float()])

    def _scales(self, maps):
        """What parameters are multiplied with, so that rows may be; 0 where there are none."""
        layout, D = self.layout, self.layout.width
        scales, m = np.zeros((layout.n_rows, layout.n_columns)), layout.n_models
        scales[self._columns, :m] = 1.0
        scales[D, :m] = 0.0 if layout.is_gaussian else 1.0
        models = np.sqrt([affine.scales for affine in maps]).T
        scales[: self._n_features, layout.first : layout.last] = np.tile(models, layout.n_outputs)
        constants = np.sqrt([affine.constant for affine in maps])
        scales[D, layout.first : layout.last] = np.tile(constants, layout.n_outputs)
        scales[D, layout.last : layout.last + layout.n_outputs] = 1.0
        return scales

    def _values(self):
        """Gates at their start, and models of zero."""
        layout, q = self.layout, self.layout.n_components
        values = np.zeros((layout.n_rows, layout.n_columns))
        for number, gate in enumerate(self._gates):
            own = slice(number * q, (number + 1) * q)
            values[self._columns, own] = gate.parameters[:-q].reshape(q, -1).T
            values[layout.width, own] = gate.parameters[-q:]
        return values

    def _steps_of(self, block):
        self._state.n_slices = slices_of(block.batch, self._state.values)
        return Steps(self._form, self._state, block)

    @property
    def is_over(self):
        return self.epoch >= self._n_epochs

    def take(self):
        """One epoch: a step for each mini-batch."""
        told = self._targets, self._weight, self._state.place, self._rng
        sizes = self._feed.run(self._X, *told)
        last = int(self._state.count)
        losses = self._state.losses[last - len(sizes) : last].double().cpu().numpy()
        self._paths.append(np.asarray(sizes) @ losses / self._n_rows)
        self.epoch += 1

    def end_epoch(self, watch=None):
        """True where the watch, which is told the losses of all outputs together, asks to stop."""
        return watch is not None and watch(Progress(self.epoch, float(self._paths[-1].sum())))

    def models(self):
        """The running averages, as ``GatedModels`` of each output."""
        layout, q, D = self.layout, self.layout.n_components, self.layout.width
        average, scales = (
            part.double().cpu().numpy() for part in (self._state.average, self._state.scales)
        )
        found = []
        for number, gate in enumerate(self._gates):
            own = slice(number * q, (number + 1) * q)
            parts = average[self._columns, own].T, average[D, own]
            moving = np.concatenate([part.ravel() for part in parts])
            place = slice(layout.first + number * q, layout.first + (number + 1) * q)
            u, models = average[:, place], (scales * average)[:, place].astype(self._dtype)
            price = 0.5 * float((u**2).sum() + self._penalty * (moving**2).sum())
            path = tuple(float(losses[number]) for losses in self._paths)
            found.append(GatedModels(
                gate.with_parameters(moving), models[: self._n_features], models[D],
                float(average[D, layout.last + number]), price, path,
            ))  # fmt: skip
        return tuple(found)


def learn_gated_models(
    X, targets, C, gates, maps, loss, *, penalty, max_epochs, batch_size, learning_rate, rng,
    watch=None, device="cuda", form="auto",
):  # fmt: skip
    """Learn from ``gates``, one for each column of ``targets``; ``C`` has an entry per row."""
    n_rows, total = X.shape[0], float(C.sum())
    training = GatedTraining(
        X, targets, n_rows * C / total, gates, maps, loss, total=total, penalty=penalty,
        n_epochs=max_epochs, batch_size=padded(-(-n_rows // -(-n_rows // batch_size))),
        learning_rate=learning_rate, rng=np.random.default_rng(rng.randint(2**31 - 1)),
        device=device, form=form,
    )  # fmt: skip
    while not training.is_over:
        training.take()
        if training.end_epoch(watch):
            break
    return training.models()
