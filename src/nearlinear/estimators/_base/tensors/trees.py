"""LDKL from rows that are torch tensors: all trees learn at once, where the rows lie."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.utils import check_random_state

from ...._config import with_caller_context
from ....predictors.averaged import Averaged
from ....solvers.trees.model import RowScaling
from ....solvers.trees.start import start_tree
from ....solvers.watch import Watch
from ..model import Learned
from ..outputs import Teller, keeping
from ..tree_coordinates import TreeCoordinates
from ..tree_plan import tree_plan
from ..trees import TreeState, generator_of
from .coordinates import BLOCK, mean_of, precision_of

_LEAF_ROWS, _FEWEST_ROWS = 16, 2048  # a start needs some rows in every leaf, and no more


def learn_trees_from_tensors(model, rows):
    """A tree of a given depth or of the usual one, or several whose scores are averaged."""
    import torch

    from ....gpu.anchors.step import padded
    from ....gpu.trees.adam import TreeTraining, layout_of, models_in

    _require_plain(model)
    plan, tell = tree_plan(model, rows), Teller(model)
    rng, device = check_random_state(model.random_state), rows.X.device
    generator = torch.Generator(device).manual_seed(int(rng.randint(2**31 - 1)))
    scaling = scaling_of(rows)
    Z = scaled_rows(rows.X, scaling)
    setting, draw, depth = plan.usual, generator_of(rng), plan.depth(plan.usual)
    n_outputs = rows.task.n_outputs
    draws = draw.spawn(plan.n_trees)
    samples = [
        Z[rows_to_start(Z, depth, generator)].float().cpu().numpy() for _ in draws
    ]  # fmt: skip

    def start(number):
        return start_tree(
            samples[number], depth, n_outputs, plan.node_gate, draws[number],
            from_data=model.splits == "top_down",
        )  # fmt: skip

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        starts = list(pool.map(with_caller_context(start), range(plan.n_trees)))
    layout = layout_of(starts)
    watch = Watch(tell.steps("epoch"))
    if device.type == "cuda":
        tell("the step is being compiled for the device", {})
    n_rows, total = rows.n_rows, float(rows.weight.sum())
    batch = padded(-(-n_rows // -(-n_rows // min(n_rows, plan.batch_size))))
    training = TreeTraining(
        starts, Z, n_rows=n_rows, n_batches=-(-n_rows // batch), loss=plan.loss,
        ridge=1.0 / (setting.C * total), direction_ridges=plan.direction_penalties,
        annealing=plan.annealing, n_epochs=plan.n_epochs, batch_size=batch,
        learning_rate=plan.learning_rate, jitter=setting.jitter, rng=draw, device=device,
        found=lambda average: average.clone(),
    )  # fmt: skip
    with keeping("the model trained so far is") as interruption:
        share = rows.weight * (n_rows / total)
        while not training.is_over:
            training.take(Z, rows.labels, share)
            training.end_epoch(watch)
    if watch.best is None:
        raise KeyboardInterrupt  # before the first epoch has ended
    coordinates = TreeCoordinates(scaling)
    trees = models_in(layout, watch.best, plan.node_gate, precision_of(rows.X))
    trees = tuple(coordinates.predictor(tree) for tree in trees)
    attributes = {
        "history_": watch.history, "n_iter_": watch.history[-1].step,
        "setting_": setting, "settings_tried_": [],
    }  # fmt: skip
    predictor = trees[0] if len(trees) == 1 else Averaged(trees, (1.0,) * len(trees))
    state = TreeState(coordinates, attributes)
    return Learned(predictor, attributes, state, interruption.kept)


def rows_to_start(X, depth, generator):
    """Which rows a tree of some depth starts from: some for every leaf, at random."""
    import torch

    n_some = max(_FEWEST_ROWS, _LEAF_ROWS * 2**depth)
    return torch.randperm(len(X), generator=generator, device=X.device)[:n_some]


def _require_plain(model):
    """What tensors are learned with; the rest is there for arrays."""
    for name, value in (
        ("solver", "adam"), ("pruning", None), ("global_features", "identity"),
    ):  # fmt: skip
        if getattr(model, name) != value:
            raise ValueError(
                f"From tensors {type(model).__name__} learns with {name}={value!r}: give X as an "
                "array for the rest."
            )
    if model.linear_root is True:
        raise ValueError(
            f"{type(model).__name__} has no linear_root=True for tensors: give X as an array."
        )


def scaling_of(rows):
    """Center and spread of the rows, in double precision, a block at a time."""
    center, weight, moment = mean_of(rows), rows.weight.double(), 0.0
    for part, share in zip(rows.X.split(BLOCK), weight.split(BLOCK)):
        moment += float(share @ (part.double() - center).square().sum(1))
    variance = moment / float(weight.sum()) / rows.X.shape[1]
    scale = float(np.sqrt(variance)) if variance > 0 else 1.0
    return RowScaling(center.cpu().numpy(), scale)


def scaled_rows(X, scaling):
    """Scaled rows with their constant column; of half precision where products will be."""
    import torch

    from ....gpu.anchors.adam import precision_for
    from ....gpu.feed import is_kept

    # rows far from the origin keep the digits that they have
    wide = torch.float32 if is_kept(X) else torch.float64
    center = torch.as_tensor(scaling.center, device=X.device).to(wide)
    some = (X[:4096].to(wide) - center) / scaling.scale
    dtype = precision_for(some, X.device)
    Z = torch.empty(len(X), X.shape[1] + 1, dtype=dtype, device=X.device)
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        Z[part, :-1] = ((X[part].to(wide) - center) / scaling.scale).to(dtype)
    Z[:, -1] = 1.0
    return Z
