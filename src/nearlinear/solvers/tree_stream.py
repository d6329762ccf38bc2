"""A tree that learns from a stream: Adam steps on each portion of rows, one after the other."""

from .._interrupt import uninterrupted
from ..gates.tree import hard_paths
from .batches import Batches, RowNoise
from .tree_adam import TreeInTraining
from .tree_gradients import SoftPass
from .tree_paths import path_gradients
from .tree_phases import soft_gradients

_STEPS = 500  # after so many steps splits are as sharp as they get


class TreeStream:
    """Each mini-batch takes a step with soft splits and one along hard paths.

    A stream has no end to anneal towards: the sharpness reaches its last value after a fixed number
    of steps and stays there, and the second step keeps the weights true to what is predicted.
    """

    def __init__(self, start, learning_rate, annealing):
        self._tree = TreeInTraining(start, learning_rate, 0.0, 0.0)
        self._annealing = annealing
        self._count = 0

    def train(
        self, Z, targets, weight, *, loss, ridge, direction_ridge, batch_size, jitter, rng, n_jobs
    ):
        tree = self._tree
        tree.set_penalties(ridge, direction_ridge)
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
