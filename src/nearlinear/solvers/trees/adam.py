"""Splits, slopes and weights of a tree learned together by mini-batch Adam.

Minimizes λ/2 ‖W − W̄‖² + μ/2 ‖Θ‖² + μ'/2 ‖Θ'‖² + mean_i loss(y_i, f(z_i)), where W̄ is zero but for a
linear root, which stays near the linear model that it starts from. The turns of the splits are
soft and sharpen from epoch to epoch; in the last part the splits stay where they are and rows
follow their hard path, which is what will be predicted.
A stream takes the same steps, portion by portion.
"""

from dataclasses import dataclass

import numpy as np

from ..._interrupt import uninterrupted
from ...gates.trees.balanced import hard_paths
from ..minibatch import Batches, Parameter, RowNoise, one_cycle
from ..watch import Progress
from .model import TreeModel
from .paths import path_gradients
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

    def _assemble(self, which):
        arrays = [getattr(parameter, which) for parameter in self._parameters()]
        if which == "average":
            arrays = [array.copy() for array in arrays]
        return TreeModel(*arrays[:3], self._node_gate, *arrays[3:])


def train_tree(
    Z,
    targets,
    sample_weight,
    start,
    watch,
    *,
    loss,
    C,
    direction_ridges,
    annealing,
    n_epochs,
    batch_size,
    learning_rate,
    jitter,
    rng,
    compare=None,
    n_jobs=None,
):
    """Run ``n_epochs`` from ``start``, and tell ``watch`` of the averaged tree after each.

    When the watch has seen nothing better for a while, soft epochs give way to the hard ones, and
    those to the end. ``compare(model, sharpness)`` gives figures of soft and hard splits.
    """
    row_weight = sample_weight / sample_weight.mean()
    ridge = 1.0 / (C * sample_weight.sum())
    tree = TreeInTraining(start, learning_rate, ridge, direction_ridges)
    noise = RowNoise(Z, jitter, rng, start.rows)
    soft = SoftPhase(SoftPass(start, batch_size), noise, loss, annealing, compare, n_jobs)
    n_soft = n_epochs - round(annealing.hard_fraction * n_epochs) if start.depth else 0
    revivals = {round(share * n_soft) for share in _REVIVALS}
    epoch = 0
    for phase, first, last in ((soft, 0, n_soft), (HardPhase(noise, loss), n_soft, n_epochs)):
        batches = Batches(phase.rows(tree.now(), Z), targets, row_weight, batch_size, rng)
        for time in range(first, last):
            epoch, total = epoch + 1, 0.0
            for number, (rows, targets_of, share) in enumerate(batches):
                passed = time + number / batches.n_batches
                value, gradients = phase.gradients(
                    tree.now(), rows, targets_of, share, (passed - first) / (last - first)
                )
                total += value * rows.shape[0] / Z.shape[0]
                factor = one_cycle(passed * batches.n_batches, n_epochs * batches.n_batches)
                tree.step(gradients, factor, move_splits=phase.moves_splits)
            model = tree.averaged()
            objective = float(total + tree.penalty(model))
            if watch(Progress(epoch, objective, state=model, figures=phase.figures(model))):
                break
            if phase is soft and time + 1 in revivals:
                tree.move_splits(revive_splits(model, Z, rng))
        watch.wait_again()
        tree.settle()


_STEPS_PER_UNIT = 20  # how often the unit of the sharpness is measured
_UNIT_ROWS = 256


@dataclass(frozen=True)
class Annealing:
    """Sharpness of the turns, in units of one over the rows' mean distance from a split.

    It grows by a constant factor per step from ``first`` to ``last``; after that, for the last
    ``hard_fraction`` of the epochs, turns are hard.
    """

    first: float
    last: float
    hard_fraction: float

    def sharpness(self, progress):
        return self.first * (self.last / self.first) ** progress


class SoftPhase:
    """Rows take all paths, in shares; splits, slopes, weights and projection learn.

    ``compare(model, sharpness)`` gives figures of soft and hard splits, or is None.
    """

    moves_splits = True

    def __init__(self, soft: SoftPass, noise: RowNoise, loss, annealing, compare, n_jobs):
        self._soft, self._noise, self._loss = soft, noise, loss
        self._annealing, self._compare, self._n_jobs = annealing, compare, n_jobs
        self._count, self._unit, self._sharpness = 0, 1.0, 1.0

    def rows(self, model, Z):
        """The projection still moves: rows are projected batch by batch."""
        return Z

    def gradients(self, model, rows, targets, share, progress):
        seen = self._noise(model.rows(rows))
        if self._count % _STEPS_PER_UNIT == 0:
            self._unit = max(self._soft.mean_distance(model, seen[:_UNIT_ROWS]), 1e-12)
        self._count += 1
        self._sharpness = self._annealing.sharpness(progress) / self._unit
        return soft_gradients(
            self._soft, model, rows, seen, targets, share, self._sharpness, self._loss, self._n_jobs
        )

    def figures(self, model):
        """What a line of progress says beside the objective."""
        return {} if self._compare is None else self._compare(model, self._sharpness)


class HardPhase:
    """Each row follows its path; weights and slopes adapt to what will be predicted.

    ``kept`` says which nodes of a pruned tree are left, or is None for all.
    """

    moves_splits = False

    def __init__(self, noise: RowNoise, loss, kept=None):
        self._noise, self._loss, self._kept = noise, loss, kept

    def rows(self, model, Z):
        """The projection stays: rows are projected once."""
        return model.rows(Z)

    def gradients(self, model, rows, targets, share, progress):
        seen = self._noise(rows)
        paths = hard_paths(seen, model.splits, model.depth)
        return path_gradients(model, seen, paths, targets, share, self._loss, self._kept)

    def figures(self, model):
        return {}


def soft_gradients(soft, model, rows, seen, targets, share, sharpness, loss, n_jobs=None):
    """Loss and gradients of a batch, that of the projection included."""
    if model.projection is None:
        return soft.gradients(model, seen, targets, share, sharpness, loss, n_jobs)
    row_slopes = np.empty_like(seen)
    value, gradients = soft.gradients(
        model, seen, targets, share, sharpness, loss, n_jobs, row_slopes=row_slopes
    )
    projection = np.ascontiguousarray((rows[:, :-1].T @ row_slopes[:, :-1]).T)
    return value, gradients._replace(projection=projection)


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
