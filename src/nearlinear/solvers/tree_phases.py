"""The two phases of training a tree: soft splits that sharpen and move, then hard ones."""

from dataclasses import dataclass

import numpy as np

from ..gates.tree import hard_paths
from .batches import RowNoise
from .tree_gradients import SoftPass
from .tree_paths import path_gradients

_STEPS_PER_UNIT = 20  # how often the unit of the sharpness is measured
_UNIT_ROWS = 256


@dataclass(frozen=True)
class Annealing:
    """Sharpness of the turns, in units of one over the rows' mean distance from a split.

    It grows by a constant factor per step from ``first`` to ``last``; after that, for the last
    ``hard_share`` of the epochs, turns are hard.
    """

    first: float
    last: float
    hard_share: float

    def sharpness(self, progress):
        return self.first * (self.last / self.first) ** progress


class SoftPhase:
    """Rows take all paths, in shares; splits, slopes, weights and projection learn.

    ``compare(model, sharpness)`` gives the soft and the hard score of a tree, or is None.
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

    def notes(self, model):
        """What a record of the epoch says beside its objective."""
        if self._compare is None:
            return {}
        soft_score, hard_score = self._compare(model, self._sharpness)
        return {"soft_score": soft_score, "hard_score": hard_score}


class HardPhase:
    """Each row follows its path; weights and slopes adapt to what will be predicted."""

    moves_splits = False

    def __init__(self, noise: RowNoise, loss):
        self._noise, self._loss = noise, loss

    def rows(self, model, Z):
        """The projection stays: rows are projected once."""
        return model.rows(Z)

    def gradients(self, model, rows, targets, share, progress):
        seen = self._noise(rows)
        paths = hard_paths(seen, model.splits, model.depth)
        return path_gradients(model, seen, paths, targets, share, self._loss)

    def notes(self, model):
        return {}


def soft_gradients(soft, model, rows, seen, targets, share, sharpness, loss, n_jobs=None):
    """Loss and gradients of a batch, that of the projection included."""
    if model.projection is None:
        return soft.gradients(model, seen, targets, share, sharpness, loss, n_jobs)
    pull = np.empty_like(seen)
    value, gradients = soft.gradients(
        model, seen, targets, share, sharpness, loss, n_jobs, row_slopes=pull
    )
    projection = np.ascontiguousarray((rows[:, :-1].T @ pull[:, :-1]).T)
    return value, gradients._replace(projection=projection)
