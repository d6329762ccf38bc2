"""Splits, slopes and weights of a tree learned together by mini-batch Adam.

Minimizes λ/2 ‖W − W̄‖² + μ/2 (‖Θ‖² + ‖Θ'‖²) + mean_i loss(y_i, f(z_i)), where W̄ is zero but for a
linear root, which stays near the linear model that it starts from. The turns of the splits are
soft and sharpen from epoch to epoch; in the last part the splits stay where they are and rows
follow their hard path, which is what will be predicted.
"""

import numpy as np

from .adam import Parameter, one_cycle
from .batches import Batches, RowNoise
from .tree_gradients import SoftPass
from .tree_model import TreeModel
from .tree_phases import HardPhase, SoftPhase
from .tree_start import revive_splits

_PROJECTION_RATE = 0.1  # step of the projection relative to that of the tree
# Shares of the soft epochs after which splits that part nothing are put elsewhere.
_REVIVALS = (0.1, 0.2, 0.3, 0.4, 0.5)


class TreeInTraining:
    """The parameters of a tree with their steps and averages."""

    def __init__(self, start, learning_rate, ridge, direction_ridge):
        slopes, self._center = start.center
        self._splits = Parameter(start.splits)
        self._slopes = Parameter(start.slopes, slopes)
        self._weights = Parameter(start.weights, self._center)
        self._projection = None if start.projection is None else Parameter(start.projection)
        self._feature = start.feature
        # a step of r / √(width) on all coordinates moves a projection of a scaled row by about r
        self._size = learning_rate / np.sqrt(start.weights.shape[2])
        if self._projection is not None:
            spread = np.sqrt(np.mean(start.projection.astype(np.float64) ** 2))
            self._projection_size = _PROJECTION_RATE * learning_rate * spread
        self._ridge, self._direction_ridge = ridge, direction_ridge
        self._count = 0

    def set_penalties(self, ridge, direction_ridge):
        self._ridge, self._direction_ridge = ridge, direction_ridge

    def step(self, gradients, factor, *, move_splits):
        self._count += 1
        size = factor * self._size
        if move_splits and gradients.splits.size:
            self._splits.step(gradients.splits, size, self._direction_ridge, self._count)
        if gradients.slopes.size:
            self._slopes.step(gradients.slopes, size, self._direction_ridge, self._count)
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
        return TreeModel(*arrays[:3], self._feature, *arrays[3:])


def train_tree(
    Z,
    targets,
    sample_weight,
    start,
    keeper,
    *,
    loss,
    C,
    direction_ridge,
    annealing,
    n_epochs,
    batch_size,
    learning_rate,
    jitter,
    rng,
    compare=None,
    n_jobs=None,
):
    """Run ``n_epochs`` from ``start``, offering the averaged tree to ``keeper`` after each.

    When the keeper has seen nothing better for a while, soft epochs give way to the hard ones, and
    those to the end. ``compare(model, sharpness)`` gives the soft and the hard score of a tree.
    """
    row_weight = sample_weight / sample_weight.mean()
    ridge = 1.0 / (C * sample_weight.sum())
    tree = TreeInTraining(start, learning_rate, ridge, direction_ridge)
    noise = RowNoise(Z, jitter, rng, start.rows)
    soft = SoftPhase(SoftPass(start, batch_size), noise, loss, annealing, compare, n_jobs)
    n_soft = n_epochs - round(annealing.hard_share * n_epochs) if start.depth else 0
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
            if keeper.offer(epoch, objective, model, **phase.notes(model)):
                break
            if phase is soft and time + 1 in revivals:
                tree.move_splits(revive_splits(model, Z, rng))
        keeper.wait_again()
        tree.settle()
