"""The two phases of training a tree: soft splits that sharpen, then hard paths.

A phase says what a mini-batch teaches; who calls it takes the steps.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from ...gates.trees.balanced import hard_paths
from ..minibatch import RowNoise
from .paths import path_gradients
from .soft import SoftPass

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

    def state(self):
        return [self._count, self._unit, self._sharpness]

    def restore(self, state):
        self._count, self._unit, self._sharpness = state

    def apart(self):
        """The same without what only ``figures`` asks for."""
        other = copy(self)
        other._compare = None
        return other

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
