"""A tree that learns on from the rows of a stream, also one that comes from a file."""

from dataclasses import replace

import numpy as np

from ....predictors.averaged import Averaged
from ....predictors.combined import tree_and_projection
from ....solvers.trees.adam import TreeStream
from ..model import Learned, stream_rng
from ..outputs import keeping
from ..task import Regression
from ..tree_coordinates import TreeCoordinates, is_balanced
from ..tree_plan import check_size, tree_plan
from ..trees import TreeState, generator_of, sees_plain_rows, start_of_tree


def learn_trees_on(model, rows):
    """Steps on the rows of one call of a stream; the first call also makes the tree."""
    rows = _merged(rows)
    state = _sound_state(model, rows)
    plan = tree_plan(model, rows)
    is_begun = state is not None and isinstance(state.stream, TreeStream)
    rng, seed = stream_rng(model, state.seed if is_begun else None)
    if not is_begun:
        state = _begin_stream(model, rows, plan, state, rng)
    coordinates, weight_seen = state.coordinates, state.weight_seen + rows.weight.sum()
    with keeping("what was learned from the rows so far is") as interruption:
        state.stream.train(
            coordinates.rows(rows.X), coordinates.targets(rows), rows.weight,
            loss=plan.loss, ridge=1.0 / (plan.usual.C * weight_seen),
            direction_ridges=plan.direction_penalties, jitter=plan.usual.jitter,
            batch_size=plan.batch_size, n_jobs=model.n_jobs, rng=generator_of(rng),
        )  # fmt: skip
    predictor = coordinates.predictor(state.stream.model())
    state = replace(state, weight_seen=weight_seen, seed=seed)
    return Learned(predictor, state.attributes, state, interruption.kept)


def _sound_state(model, rows):
    """What a fitted model goes on from, None of a new one; refused where there is no way on."""
    previous, state = getattr(model, "predictor_", None), model._state
    if previous is not None and (
        getattr(model, "multilabel_", False) or previous.n_outputs != rows.task.n_outputs
    ):
        raise ValueError(
            "partial_fit takes one answer a row, and this model was fitted to several."
        )
    if state is not None and state.stream is not None:
        return state
    if model.n_trees not in (1, "auto") or isinstance(previous, Averaged):
        raise ValueError("partial_fit trains one tree; n_trees must be 1 from the first fit.")
    if model.solver != "adam":
        raise ValueError("partial_fit needs solver='adam'; the original schedule has an end.")
    if previous is not None and not is_balanced(previous):
        raise ValueError("partial_fit cannot go on from a pruned tree: fit with pruning=None.")
    return _state_of_file(model, rows) if previous is not None and state is None else state


def _merged(rows):
    """The canonical form of a stream's rows; equal rows of different values stay apart."""
    numbers = None
    if isinstance(rows.task, Regression):
        numbers = np.unique(rows.targets[:, 0], return_inverse=True)[1]
    rows = rows.merged(numbers)
    return replace(rows, targets=rows.targets.astype(rows.X.dtype, copy=False))


def _begin_stream(model, rows, plan, state, rng):
    """From the fitted tree if there is one, else from the rows of the first call."""
    previous, annealing = getattr(model, "predictor_", None), plan.annealing
    if previous is not None:
        start = state.coordinates.model(previous, rows.X.dtype)
        annealing = replace(annealing, first=annealing.last)
    else:
        check_size(model, rows, plan)
        state = TreeState(TreeCoordinates.of(model, rows), {})
        Z, targets = state.coordinates.rows(rows.X), state.coordinates.targets(rows)
        n_seen = state.coordinates.n_seen
        start = start_of_tree(
            model, plan, plan.usual, Z, targets, rows.weight, generator_of(rng), n_seen
        )
    return replace(state, stream=TreeStream(start, plan.learning_rate, annealing))


def _state_of_file(model, rows):
    """What a stream goes on from if the tree comes from a file: in coordinates of these rows."""
    if not sees_plain_rows(model):
        raise ValueError(
            f"This {type(model).__name__} with global_features comes from a file, which has what "
            "prediction needs and no more: fit it anew to learn on."
        )
    coordinates = TreeCoordinates.of(model, rows)
    tree, _ = tree_and_projection(model.predictor_)
    if isinstance(rows.task, Regression):
        coordinates = replace(coordinates, offset=float(tree.intercept[0]))
    names = ("history_", "n_iter_", "setting_", "settings_tried_")
    return TreeState(coordinates, {k: v for k, v in vars(model).items() if k in names})
