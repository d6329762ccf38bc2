"""Training of trees: the search for a setting, training runs, streams."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from ...gpu.device import on_device
from ...predictors.averaged import Averaged
from ...solvers.anchors.linear_root import solve_linear
from ...solvers.trees.adam import TreeStream, train_tree
from ...solvers.trees.model import project_rows, with_linear_root, without_constant
from ...solvers.trees.original import start_original, train_original
from ...solvers.trees.paths import SplitComparison, hard_scores
from ...solvers.trees.start import start_projection, start_tree
from ...solvers.watch import Progress, Watch
from .capacity import are_many, choose_setting, judge, tell_verdicts
from .model import Learned
from .outputs import Teller, keeping
from .pruning import prune_trees
from .tree_coordinates import TreeCoordinates
from .tree_plan import TreeSetting, check_size, original_rates, tree_plan, tree_settings

_ROOT_C = (1.0, 0.1, 10.0, 0.01)  # strengths of the linear root that are tried, the usual first
_FEW_SHARE = 8  # at most an eighth of the components are the linear model's directions
_ROOT_ROWS = 10_000  # enough for the linear model that training goes on from
COMPARED_ROWS = 500  # enough to measure the gap between soft and hard splits
VALIDATION_FRACTION = 0.1  # of the rows, to prune or to compare with a linear model


@dataclass(frozen=True)
class TreeState:
    """State from which a stream continues training."""

    coordinates: TreeCoordinates
    attributes: dict  # of the fit, which stay true in a stream
    stream: TreeStream | None = None
    weight_seen: float = 0.0
    seed: int | None = None


def sees_plain_rows(model):
    """Whether weights see the features alone: further columns would fill sparse rows."""
    return isinstance(model.global_features, str) and model.global_features == "identity"


def learn_trees(model, rows):
    """A tree, or the mean of several; or a linear model where held-out rows ask for no more."""
    plan, tell = tree_plan(model, rows), Teller(model)
    check_size(model, rows, plan)
    rng = check_random_state(model.random_state)
    setting, tried = choose_tree_setting(model, rows, plan, rng, tell)
    train, held_out = rows, None
    is_checked = plan.is_searched and are_many(rows)
    if is_checked or model.pruning is not None:
        train, held_out = rows.split(VALIDATION_FRACTION, rng)
    coordinates, watches = TreeCoordinates.of(model, train), []
    compare = comparison_of_splits(train, coordinates)
    with keeping("the model trained so far is") as interruption:
        for _ in range(plan.count(setting)):
            generator = generator_of(rng)
            watches.append(Watch(tell.steps("epoch")))
            run_training(model, train, coordinates, setting, generator, watches[-1], compare)
    watches = [watch for watch in watches if watch.history]
    if not watches:
        raise KeyboardInterrupt  # before the first epoch has ended
    if is_checked and held_out is not None:
        trees = [watch.best for watch in watches]
        tried = compare_with_linear(model, plan, setting, trees, coordinates, train, held_out, rng)
        if tried[0].loss <= tried[1].loss:
            setting, coordinates = tried[0].setting, TreeCoordinates.of(model, rows)
            watches = [run_training(model, rows, coordinates, setting, generator_of(rng), Watch())]
    trees = [watch.best for watch in watches]
    kept, is_stopped = [None] * len(trees), interruption.kept
    can_prune = held_out is not None and setting.depth is not None and not is_stopped
    if model.pruning is not None and can_prune:
        parts = [
            (coordinates.rows(part.X), coordinates.targets(part), part.weight)
            for part in (train, held_out)
        ]
        with keeping("the model before pruning is") as interruption:
            trees, kept = prune_trees(
                model.pruning, trees, *parts, plan.loss, plan.n_epochs, C=setting.C,
                direction_ridges=plan.direction_penalties, batch_size=plan.batch_size,
                learning_rate=plan.adam_rate, jitter=setting.jitter, rng=generator_of(rng),
            )  # fmt: skip
    trees = tuple(map(coordinates.predictor, trees, kept))
    history = watches[0].history
    attributes = {
        "history_": history,
        "n_iter_": history[-1].step,
        "setting_": setting,
        "settings_tried_": tried,
    }
    return Learned(
        trees[0] if len(trees) == 1 else Averaged(trees, (1.0,) * len(trees)), attributes,
        TreeState(coordinates, attributes), interruption.kept,
    )  # fmt: skip


def choose_tree_setting(model, rows, plan, rng, tell):
    """The linear model, and then the trees on top of it, judged on held-out rows."""
    if not plan.is_searched:
        return plan.usual, []
    if are_many(rows):
        is_wide = plan.n_components is not None
        one = plan.defaults.for_wide_rows if is_wide else plan.defaults.for_many_rows
        return tree_settings(model, _ROOT_C[0], [one])[0], []

    def losses(train, held_out, setting, seed):
        """Of held-out rows under as many trees as there will be, trained on the others."""
        coordinates = TreeCoordinates.of(model, train)
        Z, generator = coordinates.rows(held_out.X), np.random.default_rng(seed)
        n_trees, scores = tree_plan(model, train).count(setting), 0.0
        for _ in range(n_trees):
            tree = run_training(model, train, coordinates, setting, generator, Watch()).best
            scores = scores + hard_scores(tree, Z) / n_trees
        return plan.loss.value(scores, coordinates.targets(held_out))

    linear = [TreeSetting(None, C, 0.0, C) for C in _ROOT_C]
    root, tried = choose_setting(rows, linear, losses, rng)
    settings = [root, *tree_settings(model, root.root_C, plan.defaults.candidates)]
    setting, judged = choose_setting(rows, settings, losses, rng)
    tell_verdicts(tell, tried + judged)
    return setting, tried + judged


def compare_with_linear(model, plan, setting, trees, coordinates, train, held_out, rng):
    """Held-out losses of the linear model and of trees of many rows."""
    Z, targets = coordinates.rows(held_out.X), coordinates.targets(held_out)
    linear = TreeSetting(None, 1.0, 0.0, 1.0)
    line = run_training(model, train, coordinates, linear, generator_of(rng), Watch()).best

    def losses(trees):
        scores = sum(hard_scores(tree, Z) for tree in trees) / len(trees)
        return plan.loss.value(scores, targets)

    return judge([(linear, losses([line])), (setting, losses(trees))], held_out.weight)


def comparison_of_splits(rows, coordinates):
    """Function of (tree, sharpness): scores of soft and of hard splits on some training rows."""
    rows = rows.take(np.arange(min(COMPARED_ROWS, rows.X.shape[0])))
    return SplitComparison(
        coordinates.rows(rows.X), coordinates.targets(rows), rows.weight, rows.task.score
    )


def run_training(model, train, coordinates, setting, rng, watch, compare=None):
    """The watch after one training run; ``compare(tree, sharpness)`` gives figures of splits."""
    plan = tree_plan(model, train)
    Z, targets = coordinates.rows(train.X), coordinates.targets(train)
    loss, n_seen = plan.loss, coordinates.n_seen
    start = start_of_tree(model, plan, setting, Z, targets, train.weight, rng, n_seen)
    if setting.depth is None:
        losses = loss.value(hard_scores(start, Z), targets)
        watch(Progress(1, float(np.average(losses, weights=train.weight)), state=start))
        return watch
    common = dict(
        loss=loss, n_epochs=plan.n_epochs, rng=rng, n_jobs=model.n_jobs, compare=compare,
    )  # fmt: skip
    if model.solver == "sgd":
        train_original(
            Z, targets, train.weight, start, watch, learning_rates=original_rates(model, plan),
            **common,
        )  # fmt: skip
    else:
        train_on = on_device(model.device, train_tree)
        train_on(
            Z, targets, train.weight, start, watch, C=setting.C, annealing=plan.annealing,
            direction_ridges=plan.direction_penalties, learning_rate=plan.learning_rate,
            batch_size=plan.batch_size, jitter=setting.jitter, **common,
        )  # fmt: skip
    return watch


def start_of_tree(model, plan, setting, Z, targets, weight, rng, n_seen):
    depth, n_components, n_outputs = plan.depth(setting), plan.n_components, targets.shape[1]
    if model.solver == "sgd":
        return start_original(Z, depth, n_outputs, plan.node_gate, rng, seen=n_seen)
    some = slice(None)
    if Z.shape[0] > _ROOT_ROWS and setting.depth is not None:
        some = np.sort(rng.choice(Z.shape[0], _ROOT_ROWS, replace=False))

    def linear_model(Z):
        features = without_constant(Z[some])
        return solve_linear(features, targets[some], weight[some], loss=plan.loss, C=setting.root_C)

    projection = None
    if n_components is not None:
        # the linear model's own directions, where they leave room for others
        first = None
        if setting.root_C is not None and _FEW_SHARE * n_outputs <= n_components:
            first = linear_model(Z)[:, :-1]
        projection = start_projection(Z, n_components, rng, first)
        Z = project_rows(Z, projection)
    from_data = model.splits == "top_down"
    start = start_tree(Z, depth, n_outputs, plan.node_gate, rng, from_data=from_data, seen=n_seen)
    if setting.root_C is not None:
        start = with_linear_root(start, linear_model(Z))
    return replace(start, projection=projection)


def generator_of(rng):
    return np.random.default_rng(rng.randint(np.iinfo(np.int32).max))
