"""The parameters of trees and what "auto" stands for: from a model and rows to numbers."""

from dataclasses import dataclass, replace
from numbers import Real

import numpy as np

from ..._warn import warn_user
from ...gates.trees.balanced import count_nodes
from ...gates.trees.node_gates import NODE_GATES, node_gate_of
from ...losses import LOSSES, EpsilonInsensitive, LabelLogLoss, SquaredError
from ...solvers.trees.phases import Annealing
from .capacity import given, usual_epochs
from .checks import (
    at_least,
    cost,
    fraction,
    integer_between,
    one_of,
    positive,
    require_memory,
    row_copies,
    shared,
)
from .task import Classification, MultiLabel, Regression
from .tree_coordinates import count_global_columns

_WIDE = 100  # features from which a projection pays
_USUAL_COMPONENTS = 32
_ADAM_RATE = 0.1
_MOST_LEVELS = 9
_FIRST_SHARPNESS, _LAST_SHARPNESS = 2.0, 20.0  # in units of one over the mean distance to a split
_MAX_DEPTH = 30  # 2**31 - 1 nodes, which 32-bit integers number
_FEW_ROWS = 20_000  # up to so many, three trees are averaged
_WIDE_EPOCHS = 60  # a projection takes longer to learn
_HUGE = 200_000  # rows with structure enough for splits that take long to find (covertype)

TREE_CONSTRAINTS = {
    **shared("n_jobs", "random_state", "verbose"),
    "depth": [integer_between(0, _MAX_DEPTH), one_of("auto")],
    "C": [cost(), one_of("auto")],
    "max_iter": [at_least(1), one_of("auto")],
    "n_components": [at_least(1), one_of("auto"), None],
    "node_gate": [one_of(*NODE_GATES)],
    "sigma": [positive()],
    "splits": [one_of("top_down", "random")],
    "solver": [one_of("adam", "sgd")],
    "batch_size": [at_least(1), one_of("auto")],
    "learning_rate": [positive(), one_of("auto")],
    "direction_penalty": [at_least(0, Real), tuple, list],
    "global_features": [one_of("identity", "quadratic"), callable],
    "pruning": [one_of("l1", "l2"), None],
    "jitter": [at_least(0, Real), one_of("auto")],
    "hard_fraction": [fraction()],
    "n_trees": [at_least(1), one_of("auto")],
    "linear_root": ["boolean", one_of("auto")],
    **shared("device"),
}


@dataclass(frozen=True)
class TreeDefaults:
    """What "auto" stands for in one kind of task.

    ``C`` and ``jitter`` are for a given depth. Other settings are (further levels, C, jitter).
    """

    original_rate: float
    C: float
    jitter: float
    candidates: tuple
    for_many_rows: tuple  # too many for a search
    for_wide_rows: tuple  # many, and projected


_DEFAULTS = {
    Classification: TreeDefaults(
        100.0, 10.0, 0.2, ((0, 0.1, 0.2), (2, 0.1, 0.2), (2, 10.0, 0.2)), (0, 1.0, 0.1),
        (-3, 1.0, 0.3),
    ),
    Regression: TreeDefaults(
        1.0, 0.1, 0.1, ((0, 0.03, 0.2), (2, 0.03, 0.1), (2, 0.3, 0.1)), (0, 0.1, 0.1),
        (-3, 0.1, 0.1),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class TreeSetting:
    """How much a tree may learn: its depth, its penalty, its noise, and the root below it.

    ``depth`` None is the linear model alone; ``deeper`` is added to a depth that depends on the
    rows. ``root_C`` is the linear root's weight of the losses, or None where there is no such root.
    """

    depth: int | str | None
    C: float
    jitter: float
    root_C: float | None
    deeper: int = 0


@dataclass(frozen=True)
class TreePlan:
    """What the parameters of a model mean for some rows."""

    loss: object
    node_gate: object
    learning_rate: float
    adam_rate: float  # the same, also where another schedule comes before Adam
    annealing: Annealing
    n_components: int | None  # columns after the projection, None for none
    n_epochs: int
    batch_size: int
    n_trees: int
    usual_depth: int  # so deep that a leaf has rows enough for its model
    usual: TreeSetting  # for a depth that is given, and for streams, in which nothing is held out
    defaults: TreeDefaults
    is_searched: bool  # whether held-out rows say how much the trees may learn
    direction_penalties: tuple  # of splits and of slopes
    n_global: int  # columns that the weights see beside the features

    def depth(self, setting):
        if setting.depth is None:
            return 0
        if setting.depth == "auto":
            return int(np.clip(self.usual_depth + setting.deeper, 1, _MOST_LEVELS))
        return setting.depth

    def count(self, setting):
        """Trees whose scores are averaged; one linear model is enough."""
        return 1 if setting.depth is None else self.n_trees


def tree_plan(model, rows):
    n_rows, n_features = rows.n_rows, rows.X.shape[1]
    kind = Regression if isinstance(rows.task, Regression) else Classification
    defaults, n_components = _DEFAULTS[kind], _rank(model, rows.X)
    node_gate = node_gate_of(model.node_gate, model.sigma)
    can_have_root = node_gate.name == "tanh" and model.solver == "adam"
    is_searched = model.depth == "auto" and model.linear_root is not False and can_have_root
    root_C = 1.0 if model.linear_root is True and can_have_root else None
    usual = TreeSetting(model.depth, defaults.C, defaults.jitter, root_C)
    width = n_components or n_features
    rate = _ADAM_RATE if model.solver == "adam" else defaults.original_rate
    is_few = n_rows <= _FEW_ROWS and rows.n_all is None
    n_trees = 3 if is_searched and is_few else 1
    return TreePlan(
        loss=_loss(model, rows.task),
        node_gate=node_gate,
        learning_rate=_or_usual(model.learning_rate, rate),
        adam_rate=_or_usual(model.learning_rate if model.solver == "adam" else "auto", _ADAM_RATE),
        annealing=Annealing(_FIRST_SHARPNESS, _LAST_SHARPNESS, model.hard_fraction),
        n_components=n_components,
        n_epochs=_or_usual(model.max_iter, _usual_epochs(model, rows, n_components)),
        batch_size=_batch_size(model, n_rows),
        n_trees=_or_usual(model.n_trees, n_trees),
        usual_depth=int(np.clip(np.log2(n_rows / (50.0 + 2.0 * width)), 1, _MOST_LEVELS)),
        usual=replace(usual, **given(model, "C", "jitter")),
        defaults=defaults,
        is_searched=is_searched,
        direction_penalties=_direction_penalties(model.direction_penalty),
        n_global=count_global_columns(model.global_features, rows.X),
    )


def original_rates(model, plan):
    """Steps of splits, slopes and weights in the original schedule: 1/λ of each."""
    weights = plan.learning_rate
    return *(1.0 / one if one else weights for one in plan.direction_penalties), weights


def _direction_penalties(given):
    """Of splits and of slopes; one number stands for both."""
    pair = (given, given) if isinstance(given, Real) else tuple(given)
    good = len(pair) == 2 and all(
        isinstance(one, Real) and not isinstance(one, bool) and 0 <= one < np.inf for one in pair
    )
    if not good:
        raise ValueError(
            f"direction_penalty={given!r} must be a number of 0 or more, or two of them: of the "
            "splits and of the slopes."
        )
    return tuple(float(one) for one in pair)


def _or_usual(value, usual):
    return usual if value == "auto" else value


def _usual_epochs(model, rows, n_components):
    if model.solver == "sgd" or rows.n_rows > _HUGE:
        return 100
    return usual_epochs(rows) if n_components is None else _WIDE_EPOCHS


def _batch_size(model, n_rows):
    if model.batch_size == "auto":
        return int(np.clip(n_rows // 64, 32, 1024))
    return min(int(model.batch_size), n_rows)


def _loss(model, task):
    if isinstance(task, MultiLabel):
        if model.loss == "crammer_singer":
            raise ValueError(
                "loss='crammer_singer' compares the one right class with others: for several "
                "labels a row take 'log_loss', 'hinge' or 'squared_hinge'."
            )
        return LabelLogLoss() if model.loss == "log_loss" else LOSSES[model.loss]
    if model.loss == "epsilon_insensitive":
        return EpsilonInsensitive(model.epsilon)
    return SquaredError() if model.loss == "squared_error" else LOSSES[model.loss]


def _rank(model, X):
    """Columns after the projection, or None for none."""
    is_plain = isinstance(model.global_features, str) and model.global_features == "identity"
    if model.n_components == "auto":
        is_wide = X.shape[1] >= _WIDE and isinstance(X, np.ndarray) and is_plain
        return _USUAL_COMPONENTS if is_wide and model.solver == "adam" else None
    if model.n_components is None:
        return None
    if not is_plain:
        raise ValueError(
            "global_features stand beside all features, and n_components projects these: set "
            "n_components=None, or put a PCA before the model."
        )
    if model.solver != "adam":
        raise ValueError("n_components needs solver='adam'; the original has no projection.")
    return min(model.n_components, X.shape[1])


def tree_settings(model, root_C, candidates):
    """Trees on top of a linear root, simplest first; what the user has set is the same in all."""
    settings = (TreeSetting("auto", C, jitter, root_C, deeper) for deeper, C, jitter in candidates)
    chosen = given(model, "C", "jitter")
    return list(dict.fromkeys(replace(setting, **chosen) for setting in settings))


def check_size(model, rows, plan, beside=0, advice="lower depth, n_trees or batch_size"):
    """Before anything is trained: warn of empty leaves, refuse what memory does not hold.

    ``beside`` is what other rows take, in bytes.
    """
    setting = plan.usual
    if plan.is_searched:
        setting = TreeSetting("auto", 1.0, 0.0, 1.0, deeper=2)  # the deepest that may be tried
    elif model.depth != "auto" and 2**model.depth > rows.n_distinct:
        warn_user(
            f"depth={model.depth} gives 2**{model.depth} leaves for {rows.n_distinct} distinct "
            "rows; lower depth."
        )
    n_rows, n_features = rows.X.shape
    n_features += plan.n_global
    n_outputs, itemsize = rows.targets.shape[1], rows.X.dtype.itemsize
    width = 1 + (n_features if plan.n_components is None else plan.n_components)
    n_nodes = count_nodes(plan.depth(setting))
    numbers = n_nodes * width * (2 + n_outputs) + (plan.n_components or 0) * n_features
    chunks = plan.batch_size * n_nodes * (6 + n_outputs)
    is_dense = isinstance(rows.X, np.ndarray)
    data = n_rows * (n_features + 1) * itemsize if is_dense else 2 * rows.X.data.nbytes
    # a search holds some rows out, which copies them all
    if plan.n_global:
        data += n_rows * plan.n_global * (itemsize + 16)  # their spreads are taken in double
    states = (11 + plan.count(setting)) * numbers  # one tree trains, and each one stays
    need = (states + chunks) * itemsize + (3 if plan.is_searched else 2) * data
    require_memory(need + row_copies(rows.X) + beside, advice)
