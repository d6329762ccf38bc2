"""Splits, slopes and weights of a tree learned together by mini-batch Adam.

Minimizes λ/2 ‖W − W̄‖² + μ/2 ‖Θ‖² + μ'/2 ‖Θ'‖² + mean_i loss(y_i, f(z_i)), where W̄ is zero but for a
linear root, which stays near the linear model that it starts from. The turns of the splits are
soft and sharpen from epoch to epoch; in the last part the splits stay where they are and rows
follow their hard path, which is what will be predicted.
A stream takes the same steps, portion by portion.
"""

from copy import copy

import numpy as np

from ..._interrupt import uninterrupted
from ...gates.trees.balanced import hard_paths
from ..minibatch import Batches, Parameter, RowNoise, one_cycle
from ..watch import Progress
from .model import TreeModel
from .paths import path_gradients
from .phases import HardPhase, SoftPhase, soft_gradients
from .soft import SoftPass
from .start import revive_splits

_PROJECTION_RATE = 0.1  # step of the projection relative to that of the tree
# Shares of the soft epochs after which splits that part nothing are put elsewhere.
_REVIVALS = (0.1, 0.2, 0.3, 0.4, 0.5)


class TreeInTraining:
    """The parameters of a tree with their steps and averages.

    ``ridge`` is the penalty of the weights, ``direction_ridges`` are those of splits and slopes.
    """

    def __init__(self, start, learning_rate, ridge, direction_ridges):
        slopes, self._center = start.center
        self._splits = Parameter(start.splits)
        self._slopes = Parameter(start.slopes, slopes)
        self._weights = Parameter(start.weights, self._center)
        self._projection = None if start.projection is None else Parameter(start.projection)
        self._node_gate = start.node_gate
        # a step of r / √(width) on all coordinates moves a projection of a scaled row by about r
        self._size = learning_rate / np.sqrt(start.weights.shape[2])
        if self._projection is not None:
            spread = np.sqrt(np.mean(start.projection.astype(np.float64) ** 2))
            self._projection_size = _PROJECTION_RATE * learning_rate * spread
        self._count = 0
        self.set_penalties(ridge, direction_ridges)

    def set_penalties(self, ridge, direction_ridges):
        self._ridge, (self._split_ridge, self._slope_ridge) = ridge, direction_ridges

    def step(self, gradients, factor, *, move_splits):
        self._count += 1
        size = factor * self._size
        if move_splits and gradients.splits.size:
            self._splits.step(gradients.splits, size, self._split_ridge, self._count)
        if gradients.slopes.size:
            self._slopes.step(gradients.slopes, size, self._slope_ridge, self._count)
        self._weights.step(gradients.weights, size, self._ridge, self._count)
        if gradients.projection is not None:
            size = factor * self._projection_size
            self._projection.step(gradients.projection, size, 0.0, self._count)

    def now(self):
        """The tree as it is, sharing memory with the parameters."""
        return self._assemble("value")

    def averaged(self):
        """The running average of the tree, in arrays of its own."""
        return self._assemble("average")

    def penalty(self, model):
        """λ/2 ‖W − W̄‖² of a model of this tree, W̄ being its linear root or zero."""
        weights = model.weights if self._center is None else model.weights - self._center
        return 0.5 * self._ridge * float(np.sum(weights**2, dtype=np.float64))

    def settle(self):
        """Go on from the average."""
        for parameter in self._parameters():
            parameter.value[...] = parameter.average

    def move_splits(self, splits):
        """Put some splits elsewhere, given as {node: direction}."""
        for node, direction in splits.items():
            self._splits.restart(node, direction)

    def _parameters(self):
        own = [self._splits, self._slopes, self._weights]
        return own if self._projection is None else [*own, self._projection]

    @property
    def count(self):
        return self._count

    def state(self):
        parts = enumerate(self._parameters())
        return {f"{number}.{k}": v for number, one in parts for k, v in one.state().items()}

    def restore(self, state, count):
        self._count = count
        for number, one in enumerate(self._parameters()):
            one.restore({k.removeprefix(f"{number}."): v for k, v in state.items()})

    def _assemble(self, which):
        arrays = [getattr(parameter, which) for parameter in self._parameters()]
        if which == "average":
            arrays = [array.copy() for array in arrays]
        return TreeModel(*arrays[:3], self._node_gate, *arrays[3:])


class TreeTraining:
    """Epochs of Adam on rows that come in one block or in several, soft ones and then hard ones.

    The noise is scaled by the spread of the rows ``like``, among which dead splits start again. An
    epoch has ``n_rows`` rows in ``n_batches`` mini-batches, whatever its blocks are.
    ``compare(model, sharpness)`` gives figures of soft and hard splits.
    """

    def __init__(
        self, start, like, *, n_rows, n_batches, loss, ridge, direction_ridges, annealing, n_epochs,
        batch_size, learning_rate, jitter, rng, compare=None, n_jobs=None,
    ):  # fmt: skip
        self.tree = TreeInTraining(start, learning_rate, ridge, direction_ridges)
        noise = RowNoise(like, jitter, rng, start.rows)
        soft = SoftPhase(SoftPass(start, batch_size), noise, loss, annealing, compare, n_jobs)
        n_soft = n_epochs - round(annealing.hard_fraction * n_epochs) if start.depth else 0
        self._revivals = {round(share * n_soft) for share in _REVIVALS}
        self._stages = ((soft, 0, n_soft), (HardPhase(noise, loss), n_soft, n_epochs))
        self._like, self.rng = like, rng
        self._n_rows, self._n_batches, self._n_epochs = n_rows, n_batches, n_epochs
        self._stage, self._time, self._number, self._total = 0, 0, 0, 0.0
        self.epoch = 0
        if n_soft == 0:
            self._begin_stage(1)

    def _begin_stage(self, stage):
        self._stage = stage
        if stage < len(self._stages):
            self._time = self._stages[stage][1]
            if self._time == self._stages[stage][2]:
                self._begin_stage(stage + 1)

    @property
    def is_over(self):
        return self._stage == len(self._stages)

    @property
    def phase(self):
        return self._stages[self._stage][0]

    def take(self, batches):
        """One step for each mini-batch of a block of rows that ``phase.rows`` has seen."""
        phase, first, last = self._stages[self._stage]
        tree, n_batches = self.tree, self._n_batches
        for rows, targets, share in batches:
            passed = self._time + self._number / n_batches
            value, gradients = phase.gradients(
                tree.now(), rows, targets, share, (passed - first) / (last - first)
            )
            self._total += value * rows.shape[0] / self._n_rows
            factor = one_cycle(passed * n_batches, self._n_epochs * n_batches)
            tree.step(gradients, factor, move_splits=phase.moves_splits)
            self._number += 1

    def end_epoch(self, watch):
        """Tell ``watch`` of the averaged tree, after all blocks of an epoch."""
        phase, _, last = self._stages[self._stage]
        self.epoch, self._time, model = self.epoch + 1, self._time + 1, self.tree.averaged()
        objective = float(self._total + self.tree.penalty(model))
        self._number, self._total = 0, 0.0
        figures = phase.figures(model)
        watch(Progress(self.epoch, objective, state=model, figures=figures))
        if phase.moves_splits and self._time in self._revivals:
            self.tree.move_splits(revive_splits(model, self._like, self.rng))
        if self._time == last:
            self.tree.settle()
            self._begin_stage(self._stage + 1)

    def model(self):
        return self.tree.averaged()

    def state(self):
        """Arrays by name, and all else that the next blocks depend on as plain values."""
        plain = {name: getattr(self, name) for name in _PLACE}
        plain["soft"] = self._stages[0][0].state()
        plain["rng"] = self.rng.bit_generator.state
        return self.tree.state(), plain | {"count": self.tree.count}

    def restore(self, arrays, plain):
        self.tree.restore(arrays, plain["count"])
        for name in _PLACE:
            setattr(self, name, plain[name])
        self._stages[0][0].restore(plain["soft"])
        self.rng.bit_generator.state = plain["rng"]

    def apart(self):
        """What takes blocks elsewhere and shares its state; the mean of states is rejoined.

        Without the rows that only the end of an epoch asks for.
        """
        other = copy(self)
        (soft, *soft_times), hard = self._stages
        other._like, other._stages = None, ((soft.apart(), *soft_times), hard)
        return other

    share, rejoin = state, restore


_PLACE = ("epoch", "_stage", "_time", "_number", "_total")  # how far training is


def train_tree(Z, targets, sample_weight, start, watch, *, C, batch_size, rng, **settings):
    """Run epochs from ``start``, and tell ``watch`` of the averaged tree after each.

    ``settings`` are those of ``TreeTraining``.
    """
    row_weight = sample_weight / sample_weight.mean()
    training = TreeTraining(
        start, Z, n_rows=Z.shape[0], n_batches=-(-Z.shape[0] // batch_size),
        ridge=1.0 / (C * sample_weight.sum()), batch_size=batch_size, rng=rng, **settings,
    )  # fmt: skip
    phase = None
    while not training.is_over:
        if training.phase is not phase:
            phase = training.phase
            seen = phase.rows(training.tree.now(), Z)
            batches = Batches(seen, targets, row_weight, batch_size, rng)
        training.take(batches)
        training.end_epoch(watch)


_STEPS = 500  # after so many steps splits are as sharp as they get


class TreeStream:
    """Each mini-batch takes a step with soft splits and one along hard paths.

    A stream has no end to anneal toward: the sharpness reaches its last value after a fixed number
    of steps and stays there, and the second step keeps the weights true to what is predicted.
    """

    def __init__(self, start, learning_rate, annealing):
        self._tree = TreeInTraining(start, learning_rate, 0.0, (0.0, 0.0))
        self._annealing = annealing
        self._count = 0

    def train(
        self, Z, targets, weight, *, loss, ridge, direction_ridges, batch_size, jitter, rng, n_jobs
    ):
        tree = self._tree
        tree.set_penalties(ridge, direction_ridges)
        batches = Batches(Z, targets, weight / weight.mean(), batch_size, rng)
        noise = RowNoise(tree.now().rows(Z), jitter, rng)
        soft = SoftPass(tree.now(), batches.largest)
        for rows, targets_of, share in batches:
            with uninterrupted():
                self._step(rows, targets_of, share, soft, noise, loss, n_jobs)

    def _step(self, rows, targets, share, soft, noise, loss, n_jobs):
        tree = self._tree
        model = tree.now()
        seen = noise(model.rows(rows))
        progress = min(1.0, self._count / _STEPS)
        if model.depth:
            unit = max(soft.mean_distance(model, seen), 1e-12)
            sharpness = self._annealing.sharpness(progress) / unit
            _, gradients = soft_gradients(
                soft, model, rows, seen, targets, share, sharpness, loss, n_jobs
            )
            tree.step(gradients, self._step_size(), move_splits=True)
        paths = hard_paths(seen, model.splits, model.depth)
        _, gradients = path_gradients(model, seen, paths, targets, share, loss)
        tree.step(gradients, self._step_size(), move_splits=False)
        self._count += 1

    def _step_size(self):
        """Long steps while the splits are soft, then ever shorter ones."""
        return 1.0 / (1.0 + self._count / _STEPS) ** 0.5

    def model(self):
        """The averaged tree."""
        return self._tree.averaged()
