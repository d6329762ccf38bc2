"""LMKL with linear kernels from rows in blocks: gate and models by mini-batches over all rows.

Scales of the kernels and the gate's start come from a sample. What is told of training rows
(the objective, support rows, shares of components) is that of the sample, weighted as all rows are.
"""

from dataclasses import replace

import numpy as np

from ....kernels.affine import affine_map
from ....solvers.localized.gate import GatedTraining
from ....solvers.minibatch import Batches
from ....solvers.watch import Progress, Watch
from ..checks import require_memory
from ..gating import gate_for
from ..localized import (
    count_epochs,
    gated_setup,
    localized_outputs,
    primal_loss,
    primal_output,
)
from ..outputs import Teller, keeping
from .memory import SMALLER_BLOCKS
from .training import restore_all, states_of, train_on_blocks

_COPIES = 6  # of every parameter


def learn_gated_from(model, rows, keeper):
    """A ``Learned`` of one gate and its linear models for each output."""
    if model.solver not in ("auto", "adam"):
        raise ValueError(f"solver={model.solver!r} needs all rows at once: give 'adam'.")
    sample = rows.weighted_sample()
    setup, gate = gated_setup(model, sample), gate_for(model, sample)
    maps = [affine_map(kernel, sample.X.shape[1]) for kernel in setup.kernels] * model.n_copies
    if any(one is None for one in maps):
        raise ValueError(
            f"{type(model).__name__} learns from rows in blocks with kernels 'linear' and 'affine' "
            "alone, not normalized to a unit diagonal: give arrays for others."
        )
    size = 8 * _COPIES * len(maps) * 2 * (rows.n_features + 1) * rows.task.n_outputs
    advice = f"lower n_copies, or {SMALLER_BLOCKS}"
    require_memory(size + rows.memory, model.max_memory, advice)
    problems = sample.task.problems(sample, model.C, getattr(model, "epsilon", None))
    rng, n_epochs = np.random.RandomState(rows.seed), count_epochs(model, rows.n_rows)
    batch = rows.rows_a_step(model.batch_size)
    trainings = [
        GatedTraining(
            gate.start(sample.X, len(maps), rng), maps, sample.X.dtype, primal_loss(model),
            total=model.C * rows.total_weight, penalty=model.gate_penalty * model.C,
            n_epochs=n_epochs, n_steps=n_epochs * rows.count_batches(batch), n_rows=rows.n_rows,
            learning_rate=model.learning_rate * np.sqrt(model.batch_size / batch),
        )
        for _ in problems
    ]  # fmt: skip
    training = _SideBySide(trainings, sample.task.units, batch, rows.seed)
    watch = Watch(Teller(model).steps("epoch"))
    with keeping("the gate as it was is") as interruption:
        train_on_blocks(training, rows, watch, keeper)
    found = [
        primal_output(model, sample, problem, one.model(), one.epoch)
        for problem, one in zip(problems, trainings, strict=True)
    ]
    return replace(localized_outputs(setup, found, False), kept=interruption.kept)


class _SideBySide:
    """The trainings of all outputs, which see the same blocks."""

    def __init__(self, trainings, units, batch_size, seed):
        self._trainings, self._units, self._batch_size = trainings, units, batch_size
        self._rng = np.random.default_rng([seed, 0])

    @property
    def epoch(self):
        return self._trainings[0].epoch

    @property
    def is_over(self):
        return self._trainings[0].is_over

    def model(self):
        return tuple(one.model() for one in self._trainings)

    def take(self, X, targets, weight):
        for one, own in zip(self._trainings, targets.T, strict=True):
            wanted = self._units.scaled(own)[:, None].astype(X.dtype)
            one.take(Batches(X, wanted, weight, self._batch_size, self._rng))

    def end_epoch(self, watch):
        for one in self._trainings:
            one.end_epoch()
        loss = float(sum(one.path[-1] for one in self._trainings))
        watch(Progress(self.epoch, loss, state=self._trainings))

    def state(self):
        arrays, plain = states_of(self._trainings)
        plain["total"] = [one.loss_sum for one in self._trainings]
        return arrays, plain | {"rng": self._rng.bit_generator.state}

    def restore(self, arrays, plain):
        restore_all(self._trainings, arrays, plain)
        for one, total in zip(self._trainings, plain["total"], strict=True):
            one.loss_sum = float(total)
        self._rng.bit_generator.state = plain["rng"]

    def apart(self):
        """What takes blocks elsewhere and shares its state; the mean of states is rejoined."""
        return self

    def share(self):
        """The state, with losses that can be added up."""
        arrays, plain = self.state()
        return arrays, plain | {"total": np.array(plain["total"])}

    rejoin = restore
