"""Trees from growers that exist: nothing of a tree builder is written here."""

from dataclasses import dataclass, replace

import numpy as np

from ...._compile import one_openmp_thread
from ....gates.forests.gate import rounded_down
from ....gates.forests.readers.reading import read_forest
from ....losses import AbsoluteError, LogLoss, PoissonLoss, QuantileError, SquaredError
from ....solvers.forests.pairs import PairColumns
from .codes import Codes

_HIST_LOSSES = {
    SquaredError: "squared_error", AbsoluteError: "absolute_error", PoissonLoss: "poisson"
}  # fmt: skip
_LIGHTGBM_LOSSES = {
    SquaredError: "regression", AbsoluteError: "regression_l1", PoissonLoss: "poisson"
}  # fmt: skip
_STEP = 4.0  # most of a working response: rows that are sure and wrong would count alone


@dataclass(frozen=True)
class Shape:
    """How much is grown. ``n_trees`` counts rounds: several classes have a tree each in one."""

    n_trees: int
    max_leaves: int
    learning_rate: float
    min_rows: int = 20  # of a leaf


@dataclass(frozen=True)
class Columns:
    """What is known of the columns, and the pair columns after them."""

    pairs: PairColumns
    categorical: np.ndarray | None = None  # which are categories
    monotonic: np.ndarray | None = None
    interactions: object = None

    @property
    def is_plain(self):
        """Whether any tree of numbers will do."""
        return self.categorical is None and self.monotonic is None and self.interactions is None

    @property
    def _sign(self):
        return np.concatenate([self.monotonic, np.zeros(len(self.pairs), dtype=int)])

    def of_hist(self):
        """Arguments of HistGradientBoosting."""
        found = {"categorical_features": None}
        if self.categorical is not None and self.categorical.any():
            more = np.zeros(len(self.pairs), dtype=bool)
            found["categorical_features"] = np.concatenate([self.categorical, more])
        if self.monotonic is not None:
            found["monotonic_cst"] = self._sign
        if self.interactions is not None:
            found["interaction_cst"] = self.interactions
        return found

    def of_lightgbm(self):
        found = {}
        if self.monotonic is not None:
            found["monotone_constraints"] = self._sign.tolist()
        if self.interactions is not None:
            found["interaction_constraints"] = [sorted(group) for group in self.interactions]
        return found


@dataclass(frozen=True)
class GrownForest:
    """A gate and what its leaves hold as grown; ``intercept`` (n_outputs,) comes before them."""

    gate: object
    values: np.ndarray
    outputs: np.ndarray
    covers: np.ndarray
    intercept: np.ndarray

    def first(self, n_trees):
        """The same forest with its first trees."""
        return self if n_trees == self.gate.n_trees else self._some(0, n_trees)

    def tree(self, number):
        return self._some(number, number + 1)

    def _some(self, first, last):
        gate = self.gate
        start, stop = gate.starts[[first, last]]
        leaf, last_leaf = gate.leaf_starts[[first, last]]
        names = ("columns", "thresholds", "missing_left")
        some = {name: getattr(gate, name)[start:stop] for name in names}
        children = gate.children[start:stop] - np.where(some["columns"] < 0, leaf, start)
        sets, categories = gate.sets[start:stop], gate.categories
        if len(gate.sets):
            used, sets = np.unique(np.append(sets, -1), return_inverse=True)
            sets, categories = (sets[:-1] - 1).astype(np.int32), categories[used[1:]]
        gate = replace(
            gate, starts=gate.starts[first : last + 1] - start, sets=sets, categories=categories,
            children=children.astype(np.int32), **some,
        )  # fmt: skip
        return replace(
            self, gate=gate, values=self.values[leaf:last_leaf],
            outputs=self.outputs[first:last], covers=self.covers[leaf:last_leaf],
        )  # fmt: skip


def joined(forests):
    """Forests one after another, as one."""
    first = forests[0]
    if len(forests) == 1:
        return first
    gates = [one.gate for one in forests]
    node_offsets = np.cumsum([0, *(len(gate.columns) for gate in gates)])
    leaf_offsets = np.cumsum([0, *(gate.n_leaves for gate in gates)])
    set_offsets = np.cumsum([0, *(len(gate.categories) for gate in gates)])
    has_sets = set_offsets[-1] > 0
    words = max(gate.categories.shape[1] for gate in gates)

    def shifted(gate, number):
        more = np.where(gate.columns < 0, leaf_offsets[number], node_offsets[number])
        return gate.children + more.astype(np.int32)

    def sets_of(gate, number):
        if not len(gate.sets):
            return np.full(len(gate.columns), -1, dtype=np.int32)
        return np.where(gate.sets >= 0, gate.sets + set_offsets[number], -1).astype(np.int32)

    def widened(categories):
        return np.pad(categories, ((0, 0), (0, words - categories.shape[1])))

    numbered = list(enumerate(gates))
    starts = [gate.starts[:-1] + node_offsets[number] for number, gate in numbered]
    gate = replace(
        gates[0],
        starts=np.concatenate([*starts, node_offsets[-1:]]).astype(np.int32),
        columns=np.concatenate([gate.columns for gate in gates]),
        thresholds=np.concatenate([gate.thresholds for gate in gates]),
        children=np.concatenate([shifted(gate, number) for number, gate in numbered]),
        missing_left=np.concatenate([gate.missing_left for gate in gates]),
        sets=np.concatenate([sets_of(gate, k) for k, gate in numbered])
        if has_sets
        else gates[0].sets,
        categories=np.concatenate([widened(gate.categories) for gate in gates]),
    )
    return GrownForest(
        gate, *(np.concatenate([getattr(one, name) for one in forests])
                for name in ("values", "outputs", "covers")), first.intercept,
    )  # fmt: skip


def taken_over(model, columns, n_features, rows, loss, classes):
    """A fitted forest of the user's, with scores of the loss."""
    found = read_forest(model, rows)
    if isinstance(loss, LogLoss):
        if found.classes is None or not np.array_equal(found.classes, classes):
            known = "values" if found.classes is None else f"classes {found.classes.tolist()}"
            raise ValueError(f"The forest in grower was fitted to {known}, y has others.")
    elif found.classes is not None or (found.link == "log") != isinstance(loss, PoissonLoss):
        raise ValueError(
            "The forest in grower was fitted to labels, or to logarithms of values (Poisson): give "
            "one for this loss."
        )
    grown = _of_float32(found, columns, n_features)
    if found.link == "shares":
        return in_log_shares(grown)
    steepness = found.steepness
    return replace(grown, values=steepness * grown.values, intercept=steepness * grown.intercept)


def taken(model, columns, n_features, rows=None):
    """What was read of a grower's model, on columns of float32 with pairs after them."""
    return _of_float32(read_forest(model, rows), columns, n_features)


def _of_float32(found, columns, n_features):
    gate = replace(
        found.gate,
        n_features=n_features,
        pairs=columns.pairs.pairs,
        factors=columns.pairs.factors,
        thresholds=rounded_down(found.gate.thresholds, np.dtype(np.float32)),
    )
    return GrownForest(gate, found.values, found.outputs, found.covers, found.intercept)


def grow_hist(A, y, weight, shape, columns, n_features, loss, *, seed, l2=0.0):
    """HistGradientBoosting by its public ``fit``, on one thread: sums in a fixed order."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    settings = {
        "max_iter": shape.n_trees, "max_leaf_nodes": shape.max_leaves, "l2_regularization": l2,
        "learning_rate": shape.learning_rate, "min_samples_leaf": shape.min_rows,
        "early_stopping": False, "random_state": seed, **columns.of_hist(),
    }  # fmt: skip
    if isinstance(loss, LogLoss):
        model = HistGradientBoostingClassifier(**settings)
    else:
        model = HistGradientBoostingRegressor(**settings, **_hist_loss(loss))
    weight = _told_weight(weight)
    with one_openmp_thread():
        if weight is None:
            return taken(model.fit(A, y), columns, n_features, A)
        codes = Codes.of(A, columns.categorical, n_features)
        A = codes(A)
        found = read_forest(model.fit(A, y, sample_weight=weight), A)
    return _of_float32(replace(found, gate=codes.undone(found.gate)), columns, n_features)


def grow_lightgbm(A, y, weight, shape, columns, n_features, loss, *, seed, l2=0.0):
    """LightGBM, where it is installed; its sums do not depend on threads."""
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError as error:
        raise ImportError("grower='lightgbm' needs LightGBM: pip install lightgbm") from error
    settings = {
        "n_estimators": shape.n_trees, "num_leaves": shape.max_leaves, "reg_lambda": l2,
        "learning_rate": shape.learning_rate, "min_child_samples": shape.min_rows,
        "random_state": seed, "deterministic": True, "force_row_wise": True, "verbose": -1,
        "n_jobs": 1, **columns.of_lightgbm(),
    }  # fmt: skip
    if isinstance(loss, LogLoss):
        model = LGBMClassifier(**settings)
    else:
        model = LGBMRegressor(**settings, **_lightgbm_loss(loss))
    sets = "auto" if columns.categorical is None else np.flatnonzero(columns.categorical).tolist()
    model.fit(A, y, sample_weight=_told_weight(weight), categorical_feature=sets)
    return taken(model, columns, n_features, A)


def grow_shares(A, y, weight, shape, columns, n_features, loss, *, seed, kinds):
    """Trees side by side, each on all rows; ``kinds`` are classes, classifier and regressor."""
    settings = {"min_samples_leaf": shape.min_rows, "random_state": seed}
    if shape.max_leaves is not None:
        settings["max_leaf_nodes"] = shape.max_leaves
    classifier, regressor = kinds
    if "n_estimators" in classifier().get_params():
        settings["n_estimators"] = shape.n_trees
    if not isinstance(loss, LogLoss):
        model = regressor(**settings).fit(A, y, sample_weight=_told_weight(weight))
        return taken(model, columns, n_features, A)
    model = classifier(criterion="entropy", **settings)
    model.fit(A, y, sample_weight=_told_weight(weight))
    return in_log_shares(taken(model, columns, n_features, A))


def in_log_shares(grown):
    """A forest of shares of classes as one of scores of the log loss, which are added up.

    A leaf then holds the logarithms of the shares among its rows and one row more for each class.
    """
    counts, values = grown.covers[:, None].astype(np.float64), grown.gate.n_trees * grown.values
    if len(grown.intercept) == 1:
        values = np.log1p(counts * (1 + values) / 2) - np.log1p(counts * (1 - values) / 2)
    else:
        values = np.log1p(counts * values)
        values -= values.mean(axis=1, keepdims=True)
    return replace(grown, values=values, intercept=np.zeros_like(grown.intercept))


def _tree_kinds():
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return DecisionTreeClassifier, DecisionTreeRegressor


def _extra_kinds():
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    return ExtraTreesClassifier, ExtraTreesRegressor


BOOSTING = {"hist": grow_hist, "lightgbm": grow_lightgbm}
SIDE_BY_SIDE = {"tree": _tree_kinds, "extra_trees": _extra_kinds}


def _told_weight(weight):
    """Equal weights are not told: without them growers are quicker."""
    return None if np.all(weight == weight[0]) else weight


def _hist_loss(loss):
    """Arguments of HistGradientBoostingRegressor for a loss of values."""
    if isinstance(loss, QuantileError):
        return {"loss": "quantile", "quantile": loss.level}
    return {"loss": _HIST_LOSSES[type(loss)]}


def _lightgbm_loss(loss):
    if isinstance(loss, QuantileError):
        return {"objective": "quantile", "alpha": loss.level}
    return {"objective": _LIGHTGBM_LOSSES[type(loss)]}


def working_response(scores, targets, weight):
    """Of the log loss at given scores: what a Newton step fits, and with what weights.

    ``targets`` are ±1 with a column for each output. Shapes are those of the scores.
    """
    if scores.shape[1] == 1:
        p = 1.0 / (1.0 + np.exp(-np.clip(scores, -30, 30)))
    else:
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
    h = np.maximum(p * (1.0 - p), 1e-6)
    return np.clip(((targets > 0) - p) / h, -_STEP, _STEP), h * weight[:, None]
