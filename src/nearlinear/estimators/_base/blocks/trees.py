"""LDKL from rows in blocks: a tree that starts from a sample and is trained on all rows."""

from dataclasses import dataclass

import numpy as np

from ....gpu.device import batch_on, on_device
from ....solvers.minibatch import Batches
from ....solvers.trees.adam import TreeTraining
from ....solvers.watch import Watch
from ..model import Learned
from ..outputs import Teller, keeping
from ..tree_coordinates import TreeCoordinates
from ..tree_plan import check_size, tree_plan
from ..trees import (
    VALIDATION_FRACTION,
    TreeState,
    choose_tree_setting,
    compare_with_linear,
    comparison_of_splits,
    generator_of,
    run_training,
    start_of_tree,
)
from .memory import SMALLER_BLOCKS
from .training import train_on_blocks


class _Scaled:
    """Rows of a block as a tree sees them, made where they are asked for: no block is copied."""

    def __init__(self, X, *views):
        self._X, self._views, self.shape = X, views, X.shape

    def __getitem__(self, rows):
        seen = self._X[rows]
        for view in self._views:
            seen = view(seen)
        return seen


@dataclass(frozen=True)
class _TakeBlock:
    """What a training of a tree does with a block."""

    coordinates: TreeCoordinates
    batch_size: int

    def __call__(self, training, X, targets, weight):
        view = [self.coordinates.rows]
        if not training.phase.moves_splits:
            view.append(training.tree.now().rows)
        targets = self.coordinates.in_units(targets, X.dtype)
        batches = Batches(_Scaled(X, *view), targets, weight, self.batch_size, training.rng)
        training.take(batches)


@dataclass(frozen=True)
class _TakeScaled:
    """The same on a device, which makes the batches itself."""

    coordinates: TreeCoordinates

    def __call__(self, training, X, targets, weight):
        targets = self.coordinates.in_units(targets, X.dtype)
        training.take(self.coordinates.rows(X), targets, weight)


def learn_trees_from(model, rows, keeper):
    """A ``Learned`` of one tree, or of a linear model where held-out rows ask for no more."""
    _require_streaming(model)
    rng, tell, held_out, sample = np.random.RandomState(rows.seed), Teller(model), None, None
    plan = tree_plan(model, rows.sample())
    if plan.is_searched:
        rows, held_out = rows.split(VALIDATION_FRACTION)
    sample = rows.sample()
    plan = tree_plan(model, sample)
    check_size(model, sample, plan, rows.memory, f"lower depth, or {SMALLER_BLOCKS}")
    setting, tried = choose_tree_setting(model, sample, plan, rng, tell)
    coordinates = TreeCoordinates.of(model, sample)
    batch = batch_on(model.device, rows.rows_a_step(plan.batch_size))
    watch, compare = Watch(tell.steps("epoch")), comparison_of_splits(sample, coordinates)
    Z, generator = coordinates.rows(sample.X), generator_of(rng)
    start = start_of_tree(
        model, plan, setting, Z, coordinates.targets(sample), sample.weight, generator,
        coordinates.n_seen,
    )  # fmt: skip
    is_cpu = model.device == "cpu"
    make = on_device(model.device, TreeTraining)
    take = _TakeBlock(coordinates, batch) if is_cpu else _TakeScaled(coordinates)
    training = make(
        start if is_cpu else (start,), Z, n_rows=rows.n_rows, n_batches=rows.count_batches(batch),
        loss=plan.loss, ridge=1.0 / (setting.C * rows.total_weight),
        direction_ridges=plan.direction_penalties, annealing=plan.annealing, n_epochs=plan.n_epochs,
        batch_size=batch,
        learning_rate=plan.learning_rate * np.sqrt(plan.batch_size / batch),
        jitter=setting.jitter, rng=generator, compare=compare, n_jobs=model.n_jobs,
    )  # fmt: skip

    with keeping("the model trained so far is") as interruption:
        train_on_blocks(training, rows, watch, keeper, take)
    tree = watch.best
    if plan.is_searched and held_out is not None and watch.history:
        tried = compare_with_linear(
            model, plan, setting, [tree], coordinates, sample, held_out, rng
        )
        if tried[0].loss <= tried[1].loss:
            setting, coordinates = tried[0].setting, TreeCoordinates.of(model, sample)
            watch = run_training(model, sample, coordinates, setting, generator_of(rng), Watch())
            tree = watch.best
    attributes = {
        "history_": watch.history,
        "n_iter_": watch.history[-1].step if watch.history else 1,
        "setting_": setting,
        "settings_tried_": tried,
    }
    state = TreeState(coordinates, attributes)
    return Learned(coordinates.predictor(tree), attributes, state, interruption.kept)


def _require_streaming(model):
    """Refuse what needs all rows at once, or several trainings."""
    for name, usual in (("n_trees", (1, "auto")), ("solver", ("adam",))):
        if getattr(model, name) not in usual:
            raise ValueError(
                f"{name}={getattr(model, name)!r} needs all rows at once: give {usual[0]!r} "
                "for rows in blocks."
            )
    if model.pruning:
        raise ValueError("pruning needs all rows at once: leave it out for rows in blocks.")
