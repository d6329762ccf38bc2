"""LDKL that learns on from a stream on a device."""

from dataclasses import replace

import numpy as np
from sklearn.utils import check_random_state

from ..model import Learned
from ..outputs import keeping
from ..task import Regression
from ..tree_coordinates import TreeCoordinates, deviation_and_mean
from ..tree_plan import tree_plan
from ..trees import TreeState, generator_of, start_of_tree
from .coordinates import precision_of
from .rows import rows_on
from .streams import DeviceStream, n_before
from .trees import rows_to_start, scaled_rows, scaling_of


def learn_tree_there(model, rows, device, state):
    """Two steps of Adam for each mini-batch, with soft splits and along hard paths.

    ``state`` is what a fitted model goes on from, or None.
    """
    there = rows_on(device, rows)
    plan = tree_plan(model, there)
    if state is None or not isinstance(state.stream, DeviceStream):
        state = _begin(model, there, plan, state)
    coordinates = state.coordinates
    Z, targets = scaled_rows(there.X, coordinates.scaling), _targets(there, coordinates)
    with keeping("what was learned from the rows so far is") as interruption:
        state.stream.take(Z, targets, there.weight, plan.usual.C, plan.batch_size)
    predictor = coordinates.predictor(state.stream.model())
    return Learned(predictor, state.attributes, state, interruption.kept)


def coordinates_there(model, rows):
    """``TreeCoordinates.of`` rows that are tensors."""
    scaling = scaling_of(model, rows)
    if not isinstance(rows.task, Regression):
        return TreeCoordinates(scaling)
    values, weight = rows.labels[:, 0].cpu().numpy(), rows.weight.cpu().numpy()
    return TreeCoordinates(scaling, *deviation_and_mean(values, weight))


def _targets(rows, coordinates):
    """Classes by number, or a column of values in their unit."""
    if not isinstance(rows.task, Regression):
        return rows.labels
    return (rows.labels - coordinates.offset) / coordinates.scale


def _begin(model, rows, plan, state):
    """From the fitted tree if there is one, else from the rows of the first call."""
    from ....gpu.streams import rows_like

    rng, before = check_random_state(model.random_state), getattr(model, "predictor_", None)
    annealing = plan.annealing
    if before is not None:
        start = state.coordinates.model(before, before.dtype)
        annealing = replace(annealing, first=annealing.last)
    else:
        state = TreeState(coordinates_there(model, rows), {})
        start = _first_tree(model, rows, plan, state.coordinates, rng)
    settings = {
        "start": start, "like": rows_like(scaled_rows(rows.X, state.coordinates.scaling)),
        "annealing": annealing, "loss": plan.loss, "direction_ridges": plan.direction_penalties,
        "learning_rate": plan.learning_rate, "jitter": plan.usual.jitter,
        "seed": int(rng.randint(2**31 - 1)),
    }  # fmt: skip
    return replace(state, stream=DeviceStream(_tree, settings, n_before(model, rows)))


def _first_tree(model, rows, plan, coordinates, rng):
    """A tree from some of the rows, as on the CPU: it needs a few in every leaf."""
    import torch

    generator = torch.Generator(rows.X.device).manual_seed(int(rng.randint(2**31 - 1)))
    some = rows.take(rows_to_start(rows.X, plan.depth(plan.usual), generator))
    dtype = precision_of(rows.X)  # which the tree has from its rows
    Z = scaled_rows(some.X, coordinates.scaling).float().cpu().numpy().astype(dtype)
    targets = _targets(some, coordinates).cpu().numpy()
    if not isinstance(rows.task, Regression):
        targets = rows.task.targets(targets, dtype)
    return start_of_tree(
        model, plan, plan.usual, Z, targets.astype(dtype), some.weight.cpu().numpy(),
        generator_of(rng), None,
    )  # fmt: skip


def _tree(device, batch, *, seed, **settings):
    from ....gpu.trees.stream import TreeStream

    rng = np.random.default_rng(seed)
    return TreeStream(device=device, batch_size=batch, rng=rng, **settings)
