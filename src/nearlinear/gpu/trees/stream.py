"""A tree that learns on from a stream, on a device: as ``TreeStream`` of ``solvers/trees/adam``."""

import numpy as np
import torch

from ..anchors.forms import Steps, one_step, slices_of
from ..streams import TABLE, Endless, rates_from
from .adam import TreeTraining

_STEPS = 500  # after so many batches splits are as sharp as they get


def _soft_then_hard(form, state, block):
    """A step with soft splits, and on the same rows one along hard paths."""
    if state.layout.depth:
        state.is_hard = False
        one_step(form, state, block)
        state.place.sub_(1)
    state.is_hard = True
    one_step(form, state, block)


class TreeStream(Endless, TreeTraining):
    """Two steps of Adam for each batch; ``plan`` says how long the next ones are."""

    def __init__(self, start, like, annealing, **settings):
        super().__init__(
            (start,), like, n_rows=1, n_batches=TABLE, n_epochs=1, ridge=0.0, annealing=annealing,
            **settings,
        )  # fmt: skip
        self._annealing, self.steps_a_batch = annealing, 2 if self.layout.depth else 1

    def _steps_of(self, block):
        self._state.n_slices = slices_of(block.batch, self._state.values)
        return Steps(self._form, self._state, block, _soft_then_hard)

    def plan(self, count, time, n_batches, ridge):
        """Step sizes, sharpness and the penalty of the next batches."""
        twice, state = self.steps_a_batch, self._state
        batches = np.repeat(count + np.arange(n_batches), twice)
        sharpness = self._annealing.sharpness(np.minimum(1.0, batches / _STEPS))
        rates = rates_from(twice * count, twice * time, twice * n_batches, twice * _STEPS)
        table = np.column_stack([rates, sharpness])
        state.schedule[: len(table)] = torch.as_tensor(table, device=self.device).float()
        first, last = self.layout.parts[2]
        state.ridges[first:last] = ridge
        state.count.zero_()
        self._sizes = []
