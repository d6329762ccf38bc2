"""Splits, slopes and weights of a tree learned together by mini-batch Adam.

Minimizes λ/2 ‖W‖² + μ/2 (‖Θ‖² + ‖Θ'‖²) + mean_i loss(y_i, f(z_i)). The turns of the splits are
soft and sharpen from epoch to epoch; in the last part the splits stay where they are and rows
follow their hard path, which is what will be predicted.
"""

from dataclasses import dataclass

import numpy as np

from ..gates.tree import hard_paths
from .adam import Parameter, one_cycle
from .tree_gradients import SoftPass
from .tree_model import TreeModel
from .tree_paths import path_gradients

_STEPS_PER_UNIT = 20  # how often the unit of the sharpness is measured
_UNIT_ROWS = 256


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
    n_jobs=None,
):
    """Run ``n_epochs`` from ``start``, offering the averaged tree to ``keeper`` after each."""
    n_rows = Z.shape[0]
    row_weight = sample_weight / sample_weight.mean()
    ridge = 1.0 / (C * sample_weight.sum())
    tree = TreeInTraining(start, learning_rate, ridge, direction_ridge)
    batches = _Batches(Z, targets, row_weight, batch_size, jitter, rng)
    soft = SoftPass(start, batches.largest)
    n_hard = round(annealing.hard_share * n_epochs) if start.depth else n_epochs
    n_soft = n_epochs - n_hard
    n_steps, count = n_epochs * batches.n_batches, 0
    unit = soft.mean_distance(start, Z[:_UNIT_ROWS])
    for epoch in range(1, n_epochs + 1):
        is_soft = epoch <= n_soft
        if epoch == n_soft + 1:
            tree.settle()
        total = 0.0
        for rows, targets_of, share in batches:
            model = tree.now()
            if is_soft:
                if count % _STEPS_PER_UNIT == 0:
                    unit = soft.mean_distance(model, rows[:_UNIT_ROWS])
                progress = count / (n_soft * batches.n_batches)
                sharpness = annealing.sharpness(progress) / max(unit, 1e-12)
                value, gradients = soft.gradients(
                    model, rows, targets_of, share, sharpness, loss, n_jobs
                )
            else:
                paths = hard_paths(rows, model.splits, model.depth)
                value, gradients = path_gradients(model, rows, paths, targets_of, share, loss)
            total += value * rows.shape[0] / n_rows
            tree.step(gradients, one_cycle(count, n_steps), move_splits=is_soft)
            count += 1
        model = tree.averaged()
        objective = total + 0.5 * ridge * float(np.sum(model.weights**2, dtype=np.float64))
        sharpness = annealing.sharpness(min(1.0, epoch / max(1, n_soft))) / max(unit, 1e-12)
        if keeper.offer(epoch, objective, model, sharpness if is_soft else np.inf):
            break


class _Batches:
    """Mini-batches of one epoch, in a new order each time."""

    def __init__(self, Z, targets, row_weight, batch_size, jitter, rng):
        self._Z, self._targets, self._weight = Z, targets, row_weight
        self._rng = rng
        self.n_batches = -(-Z.shape[0] // batch_size)
        self.largest = -(-Z.shape[0] // self.n_batches)
        self._noise = None
        if jitter and isinstance(Z, np.ndarray):
            self._noise = Z.std(axis=0, dtype=np.float64).astype(Z.dtype) * Z.dtype.type(jitter)

    def __iter__(self):
        order = self._rng.permutation(self._Z.shape[0])
        for rows in np.array_split(order, self.n_batches):
            batch = self._Z[rows]
            if self._noise is not None:
                batch += self._noise * self._rng.standard_normal(batch.shape, dtype=batch.dtype)
            share = (self._weight[rows] / len(rows)).astype(batch.dtype, copy=False)
            yield batch, self._targets[rows], share
