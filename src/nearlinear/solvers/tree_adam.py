"""Splits, slopes and weights of a tree learned together by mini-batch Adam.

Minimizes λ/2 ‖W‖² + μ/2 (‖Θ‖² + ‖Θ'‖²) + mean_i loss(y_i, f(z_i)). The turns of the splits are
soft and sharpen from epoch to epoch; in the last part the splits stay where they are and rows
follow their hard path, which is what will be predicted.
"""

from dataclasses import dataclass

import numpy as np

from ..gates.tree import hard_paths
from .adam import Parameter, one_cycle
from .batches import Batches
from .tree_gradients import SoftPass
from .tree_model import TreeModel
from .tree_paths import path_gradients
from .tree_start import revive_splits

_STEPS_PER_UNIT = 20  # how often the unit of the sharpness is measured
_UNIT_ROWS = 256
# Shares of the soft epochs after which splits that part nothing are put elsewhere.
_REVIVALS = (0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Annealing:
    """Sharpness of the turns, in units of the rows' mean distance from a split.

    It grows by a constant factor per step from ``first`` to ``last``; after that, for the last
    ``hard_share`` of the epochs, turns are hard.
    """

    first: float
    last: float
    hard_share: float

    def sharpness(self, progress):
        return self.first * (self.last / self.first) ** progress


class TreeInTraining:
    """The parameters of a tree with their steps and averages."""

    def __init__(self, start, learning_rate, ridge, direction_ridge):
        self._splits, self._slopes, self._weights = (
            Parameter(start.splits), Parameter(start.slopes), Parameter(start.weights)
        )  # fmt: skip
        self._feature = start.feature
        # a step of r / √(width) on all coordinates moves a projection of a scaled row by about r
        self._size = learning_rate / np.sqrt(start.weights.shape[2])
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

    def now(self):
        """The tree as it is, sharing memory with the parameters."""
        return self._assemble("value")

    def averaged(self):
        """The running average of the tree, in arrays of its own."""
        return self._assemble("average")

    def settle(self):
        """Go on from the average."""
        for parameter in (self._splits, self._slopes, self._weights):
            parameter.value[...] = parameter.average

    def move_splits(self, splits):
        """Put some splits elsewhere, given as {node: direction}."""
        for node, direction in splits.items():
            self._splits.restart(node, direction)

    def _assemble(self, which):
        arrays = [
            getattr(parameter, which) for parameter in (self._splits, self._slopes, self._weights)
        ]
        if which == "average":
            arrays = [array.copy() for array in arrays]
        return TreeModel(*arrays, self._feature)


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
    score_soft=None,
    n_jobs=None,
):
    """Run ``n_epochs`` from ``start``, offering the averaged tree to ``keeper`` after each.

    When the keeper has seen nothing better for a while, soft epochs give way to the hard ones, and
    those to the end.
    """
    n_rows = Z.shape[0]
    row_weight = sample_weight / sample_weight.mean()
    ridge = 1.0 / (C * sample_weight.sum())
    tree = TreeInTraining(start, learning_rate, ridge, direction_ridge)
    batches = Batches(Z, targets, row_weight, batch_size, jitter, rng)
    soft = SoftPass(start, batches.largest)
    n_soft = n_epochs - round(annealing.hard_share * n_epochs) if start.depth else 0
    n_steps, step = n_epochs * batches.n_batches, 0
    unit = soft.mean_distance(start, Z[:_UNIT_ROWS])
    revivals = {round(share * n_soft) for share in _REVIVALS}
    epoch, is_soft = 0, n_soft > 0
    while step < n_steps:
        epoch += 1
        total = 0.0
        for rows, targets_of, share in batches:
            model = tree.now()
            if is_soft:
                if step % _STEPS_PER_UNIT == 0:
                    unit = max(soft.mean_distance(model, rows[:_UNIT_ROWS]), 1e-12)
                sharpness = annealing.sharpness(step / (n_soft * batches.n_batches)) / unit
                value, gradients = soft.gradients(
                    model, rows, targets_of, share, sharpness, loss, n_jobs
                )
            else:
                paths = hard_paths(rows, model.splits, model.depth)
                value, gradients = path_gradients(model, rows, paths, targets_of, share, loss)
            total += value * rows.shape[0] / n_rows
            tree.step(gradients, one_cycle(step, n_steps), move_splits=is_soft)
            step += 1
        model = tree.averaged()
        norm = float(np.sum(model.weights**2, dtype=np.float64))
        objective = float(total + 0.5 * ridge * norm)
        notes = {}
        if is_soft and score_soft is not None:
            notes["soft_score"] = score_soft(model, sharpness)
        is_stuck = keeper.offer(epoch, objective, model, **notes)
        if is_soft and (is_stuck or step >= n_soft * batches.n_batches):
            is_soft, step = False, max(step, n_soft * batches.n_batches)
            keeper.wait_again()
            tree.settle()
        elif is_soft and epoch in revivals:
            tree.move_splits(revive_splits(model, Z, rng))
        elif is_stuck:
            break
