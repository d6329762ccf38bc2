"""Local forests: the leaves of a grown forest are the gate, what they hold is refitted together."""

import numbers

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from ..gates.forests.gains import gains_by_column
from ..losses import AbsoluteError, LogLoss, PoissonLoss, QuantileError, SquaredError
from ..predictors.combined import Exponential
from ..solvers.forests.pairs import PairColumns
from ..solvers.forests.refit import refit_memory
from ._base.checks import Interval, at_least, one_of, positive, require_memory, row_copies, shared
from ._base.forest_plan import Wishes, choose_plan, fit_plan
from ._base.growers import BOOSTING, SIDE_BY_SIDE, Columns, Shape
from ._base.model import Learned, Model
from ._base.outputs import Teller

_GROWERS = (*BOOSTING, *SIDE_BY_SIDE)
_FEW_LEAVES, _MANY_TREES, _FEW_TREES = 255, 100, 10
_CONSTRAINTS = {
    **shared("max_memory", "n_jobs", "random_state", "verbose"),
    "n_trees": [at_least(1), one_of("auto")],
    "max_leaves": [at_least(2), one_of("auto")],
    "learning_rate": [Interval(numbers.Real, 0, 1, closed="right"), one_of("auto")],
    "min_samples_leaf": [at_least(1), one_of("auto")],
    "l2_regularization": [Interval(numbers.Real, 0, None, closed="left")],
    "pairs": [at_least(0), one_of("auto"), "array-like"],
    "linear_root": ["boolean", one_of("auto")],
    "leaf_model": [one_of("auto", "constant", "linear")],
    "leaf_penalty": [positive(), None, one_of("auto")],
    "grower": "no_validation",  # a name, or a fitted forest
    "categorical_features": ["array-like", None],
    "monotonic_cst": ["array-like", dict, None],
    "interaction_cst": [list, tuple, None],
}


class LocalForestClassifier(ClassifierMixin, Model):
    r"""A forest as the gate: in every tree one leaf answers for a row.

    .. math:: f(x) = b + \langle w, x \rangle + \sum_t \langle w_{t, \ell_t(x)}, z \rangle ,

    where :math:`\ell_t(x)` is the leaf of x in tree t and z is 1, or 1 and some columns of x. The
    trees come from growers that exist. What the leaves hold is found for all trees together,

    .. math:: \min_w \sum_i \text{loss}(y_i, f(x_i)) + \frac{\lambda}{2} \sum_t \sum_\ell
              \|w_{t\ell} - w^0_{t\ell}\|^2 ,

    with the log loss and the grown values :math:`w^0`: a convex problem. Trees may split on
    **pair columns** :math:`a x_i + b x_j`: oblique borders at the price of one column.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        Rounds of boosting; with several classes, a round has a tree for each. "auto" chooses size
        and number of the trees, and none at all where a linear model is about as good.
    max_leaves : int or "auto", default="auto"
        Leaves of a tree. With ``n_trees`` alone it is 31, or 4095 for at most 30 trees on 50,000
        rows or more.
    learning_rate : float or "auto", default="auto"
        Step of boosting. "auto" is min(1, 1.9 / √n_trees, 10 / n_trees) where the number of trees
        is given.
    min_samples_leaf : int or "auto", default="auto"
        Fewest distinct training rows of a leaf. "auto" is 20, or 5 for trees of few leaves.
    l2_regularization : float, default=0.0
        Penalty on leaf values while trees are grown.
    pairs : int, array of shape (n_pairs, 4) or "auto", default="auto"
        Number of pair columns, or one's own: i, j, a and b of each. "auto" takes those that explain
        most of a small forest, or none.
    linear_root : bool or "auto", default="auto"
        Whether there is a linear model below the trees, which are then grown on what it leaves.
    leaf_model : {"auto", "constant", "linear"}, default="auto"
        Whether leaves hold a constant or a linear model of the numeric columns, which is refitted
        from zero slopes. "auto" tries linear ones for at most 20 trees.
    leaf_penalty : float, None or "auto", default="auto"
        λ of the refit, in rows. None leaves leaves as they were grown. "auto" tries 0.3 to 100,
        and None.
    grower : str or fitted forest, default="auto"
        "hist" (HistGradientBoosting of scikit-learn), "lightgbm" (where it is installed), "tree"
        (one decision tree), "extra_trees" (leaves that hold a value for every class), or a fitted
        forest of another library, whose leaves are refitted. "auto" is "hist", and with several
        classes "extra_trees" where those are better.
    categorical_features : array of bool, int or str, or None, default=None
        Columns of categories 0, 1, … below 255.
    monotonic_cst : array of shape (n_features,), dict or None, default=None
        1 or −1 for columns that scores must rise or fall with, else 0; by name in a dict. The
        refit keeps them: leaf values are the best ordered ones.
    interaction_cst : list of lists of int or None, default=None
        Groups of columns that may stand on one path.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads of the refit and of prediction; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the held-out rows and of the growers.
    verbose : int, default=0
        1 prints what is tried.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    plan_ : Plan
        What was chosen.
    settings_tried_ : list of Verdict
        Plans that were tried, and the held-out loss of each: the log loss, or above 50,000 rows
        the share of errors.
    pairs_ : array of shape (n_pairs, 4)
        i, j, a and b of the pair columns.
    refit_gap_ : float
        How far the refit is from its optimum at most, as a share of the objective.
    feature_importances_ : array of shape (n_features,)
        Share of what each column's splits explain; a pair column counts half for each of its two.
    predictor_ : Forest
        Trees, leaves and root.
    cost_ : Cost
        Work per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    None of the papers has it; it follows from their form with the gate of a forest. Rows are read
    as float32, as scikit-learn's trees do.
    """

    _takes_sparse = False
    _takes_missing = True
    _row_types = np.float32
    loss = "log_loss"
    _parameter_constraints = {**_CONSTRAINTS, **shared("class_weight")}

    def __init__(
        self,
        n_trees="auto",
        *,
        max_leaves="auto",
        learning_rate="auto",
        min_samples_leaf="auto",
        l2_regularization=0.0,
        pairs="auto",
        linear_root="auto",
        leaf_model="auto",
        leaf_penalty="auto",
        grower="auto",
        categorical_features=None,
        monotonic_cst=None,
        interaction_cst=None,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.pairs = pairs
        self.linear_root = linear_root
        self.leaf_model = leaf_model
        self.leaf_penalty = leaf_penalty
        self.grower = grower
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, rows):
        return _learn(self, rows, LogLoss())

    @property
    def feature_importances_(self):
        return _importances(self.predictor_)


class LocalForestRegressor(RegressorMixin, Model):
    r"""Regression with a forest as the gate: in every tree one leaf answers for a row.

    .. math:: f(x) = b + \langle w, x \rangle + \sum_t \langle w_{t, \ell_t(x)}, z \rangle ,

    where :math:`\ell_t(x)` is the leaf of x in tree t and z is 1, or 1 and some columns of x. The
    trees come from growers that exist. What the leaves hold minimizes, for all trees together,
    :math:`\sum_i \text{loss}(y_i, f(x_i)) + \frac{\lambda}{2} \sum \|w_{t\ell} - w^0_{t\ell}\|^2`
    with the grown values :math:`w^0`.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        Rounds of boosting. "auto" chooses size and number of the trees, and none at all where a
        linear model is about as good.
    loss : {"squared_error", "absolute_error", "quantile", "poisson"}, default="squared_error"
        What is minimized. "poisson" is for counts: values are exponentials of scores. Roots are
        there for the squared error alone.
    quantile : float, default=0.5
        Level of the loss "quantile".
    max_leaves : int or "auto", default="auto"
        Leaves of a tree. With ``n_trees`` alone it is 31, or 4095 for at most 30 trees on 50,000
        rows or more.
    learning_rate : float or "auto", default="auto"
        Step of boosting. "auto" is min(1, 1.9 / √n_trees, 10 / n_trees) where the number of trees
        is given.
    min_samples_leaf : int or "auto", default="auto"
        Fewest distinct training rows of a leaf. "auto" is 20, or 5 for trees of few leaves.
    l2_regularization : float, default=0.0
        Penalty on leaf values while trees are grown.
    pairs : int, array of shape (n_pairs, 4) or "auto", default="auto"
        Number of pair columns, or one's own: i, j, a and b of each. "auto" takes those that explain
        most of a small forest, or none.
    linear_root : bool or "auto", default="auto"
        Whether there is a linear model below the trees, which are then grown on what it leaves.
    leaf_model : {"auto", "constant", "linear"}, default="auto"
        Whether leaves hold a constant or a linear model of the numeric columns, which is refitted
        from zero slopes. "auto" tries linear ones for at most 20 trees.
    leaf_penalty : float, None or "auto", default="auto"
        λ of the refit, in rows. None leaves leaves as they were grown. "auto" tries 0.3 to 100,
        and None.
    grower : str or fitted forest, default="auto"
        "hist" (HistGradientBoosting of scikit-learn), "lightgbm" (where it is installed), "tree"
        (one decision tree), "extra_trees", or a fitted forest of another library, whose leaves are
        refitted. "auto" is "hist".
    categorical_features : array of bool, int or str, or None, default=None
        Columns of categories 0, 1, … below 255.
    monotonic_cst : array of shape (n_features,), dict or None, default=None
        1 or −1 for columns that values must rise or fall with, else 0; by name in a dict. The
        refit keeps them: leaf values are the best ordered ones.
    interaction_cst : list of lists of int or None, default=None
        Groups of columns that may stand on one path.
    max_memory : float or None, default=None
        Bytes that ``fit`` may take beyond the data; None stands for the machine's memory.
    n_jobs : int or None, default=None
        Threads of the refit and of prediction; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the held-out rows and of the growers.
    verbose : int, default=0
        1 prints what is tried.

    Attributes
    ----------
    plan_ : Plan
        What was chosen.
    settings_tried_ : list of Verdict
        Plans that were tried, and the held-out loss of each.
    pairs_ : array of shape (n_pairs, 4)
        i, j, a and b of the pair columns.
    refit_gap_ : float
        How far the refit is from its optimum at most, as a share of the objective.
    feature_importances_ : array of shape (n_features,)
        Share of what each column's splits explain; a pair column counts half for each of its two.
    predictor_ : Forest
        Trees, leaves and root.
    cost_ : Cost
        Work per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    None of the papers has it; see :class:`LocalForestClassifier`.
    """

    _takes_sparse = False
    _takes_missing = True
    _row_types = np.float32
    _parameter_constraints = {
        **_CONSTRAINTS,
        "loss": [one_of("squared_error", "absolute_error", "quantile", "poisson")],
        "quantile": [Interval(numbers.Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_trees="auto",
        *,
        loss="squared_error",
        quantile=0.5,
        max_leaves="auto",
        learning_rate="auto",
        min_samples_leaf="auto",
        l2_regularization=0.0,
        pairs="auto",
        linear_root="auto",
        leaf_model="auto",
        leaf_penalty="auto",
        grower="auto",
        categorical_features=None,
        monotonic_cst=None,
        interaction_cst=None,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_trees = n_trees
        self.loss = loss
        self.quantile = quantile
        self.max_leaves = max_leaves
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.pairs = pairs
        self.linear_root = linear_root
        self.leaf_model = leaf_model
        self.leaf_penalty = leaf_penalty
        self.grower = grower
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn(self, rows):
        losses = {
            "squared_error": SquaredError(),
            "absolute_error": AbsoluteError(),
            "quantile": QuantileError(self.quantile),
            "poisson": PoissonLoss(),
        }
        return _learn(self, rows, losses[self.loss])

    @property
    def feature_importances_(self):
        return _importances(self.predictor_)


def _learn(model, rows, loss):
    n_rows, n_features = rows.X.shape
    n_pairs = model.pairs if isinstance(model.pairs, numbers.Integral) else 24
    n_trees = 100 if model.n_trees == "auto" else model.n_trees
    size = 8 * 3 * n_rows * (n_features + n_pairs) + row_copies(rows.X)
    size += refit_memory(n_rows, n_trees, rows.targets.shape[1], 0)
    require_memory(size, model.max_memory, "give fewer rows")
    if isinstance(loss, PoissonLoss) and (rows.targets.min() < 0 or not rows.targets.any()):
        raise ValueError("loss='poisson' needs counts: y is below 0 somewhere, or 0 everywhere.")
    rng = check_random_state(model.random_state)
    wishes = _wishes(model, rows, loss)
    plan, tried = choose_plan(rows, wishes, loss, rng, Teller(model))
    seed = int(rng.randint(np.iinfo(np.int32).max))
    found = fit_plan(rows, plan, wishes, loss, seed)
    attributes = {
        "plan_": plan,
        "settings_tried_": tried,
        "pairs_": np.column_stack([found.pairs.pairs, found.pairs.factors]),
        "refit_gap_": found.gap,
    }
    predictor = found.predictor
    if isinstance(loss, PoissonLoss):
        predictor = Exponential(predictor)
    return Learned(predictor, attributes)


def _wishes(model, rows, loss):
    """What the user has fixed."""
    grower = None if model.grower == "auto" else model.grower
    if isinstance(grower, str) and grower not in _GROWERS:
        raise ValueError(
            f"grower={grower!r} is unknown: give 'auto', {', '.join(map(repr, _GROWERS))} or a "
            "fitted forest."
        )
    is_fixed = grower is not None and not isinstance(grower, str)
    columns = _columns(model, rows)
    lam = {"auto": None, None: np.inf}.get(model.leaf_penalty, model.leaf_penalty)
    has_slopes = {"auto": None, "constant": False, "linear": True}[model.leaf_model]
    if columns.monotonic is not None:
        if has_slopes:
            raise ValueError("Linear leaves cannot obey monotonic_cst: give leaf_model='constant'.")
        has_slopes = False
    pairs = None if isinstance(model.pairs, str) else model.pairs
    if pairs is not None and not isinstance(pairs, numbers.Integral):
        pairs = _own_pairs(pairs, rows.X.shape[1])
    root = None if model.linear_root == "auto" else model.linear_root
    return Wishes(
        _shape(model, rows, grower), False if is_fixed else root, 0 if is_fixed else pairs, lam,
        has_slopes, grower, columns, model.l2_regularization, model.n_jobs,
    )  # fmt: skip


def _shape(model, rows, grower):
    """The shape that was asked for; None where nothing was."""
    asked = model.n_trees, model.max_leaves, model.learning_rate, model.min_samples_leaf
    if grower in SIDE_BY_SIDE:
        n_trees = 1 if grower == "tree" else 20 if model.n_trees == "auto" else model.n_trees
        leaves = None if model.max_leaves == "auto" else model.max_leaves
        least = 1 if model.min_samples_leaf == "auto" else model.min_samples_leaf
        return Shape(n_trees, leaves, 1.0, least)
    if grower is not None and not isinstance(grower, str):
        return Shape(1, 0, 1.0)  # it is grown
    if asked == ("auto",) * 4:
        return None
    leaves, n_trees = model.max_leaves, model.n_trees
    is_few = n_trees != "auto" and n_trees <= 30 and rows.X.shape[0] >= 50_000
    if leaves == "auto":
        leaves = 4095 if is_few else 31
    if n_trees == "auto":
        n_trees = _FEW_TREES if leaves > _FEW_LEAVES else _MANY_TREES
    rate = min(1.0, 1.9 / np.sqrt(n_trees), 10.0 / n_trees)
    rate = rate if model.learning_rate == "auto" else model.learning_rate
    least = 5 if leaves <= 8 else 20
    least = least if model.min_samples_leaf == "auto" else model.min_samples_leaf
    return Shape(n_trees, leaves, float(rate), least)


def _own_pairs(pairs, n_features):
    found = np.asarray(pairs, dtype=np.float64).reshape(-1, 4)
    columns = found[:, :2]
    if not np.isfinite(found).all() or np.any(columns != np.floor(columns)):
        raise ValueError("pairs must have i, j, a and b in each row: two columns, two numbers.")
    if np.any((columns < 0) | (columns >= n_features)):
        raise ValueError(f"pairs names a column beyond the {n_features} of X.")
    return PairColumns(columns.astype(np.int32), found[:, 2:].astype(np.float32))


def _columns(model, rows):
    n_features = rows.X.shape[1]
    names = rows.names.get("feature_names_in_")
    categorical = _which(model.categorical_features, n_features, names)
    if categorical is not None:
        _require_categories(rows.X, categorical)
    return Columns(
        PairColumns.none(),
        categorical,
        _signs(model.monotonic_cst, n_features, names),
        None if model.interaction_cst is None else [set(one) for one in model.interaction_cst],
    )


def _which(given, n_features, names):
    """Columns as a mask; None of none."""
    if given is None:
        return None
    given = np.asarray(given)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features has the shape {given.shape}, but X has {n_features} columns."
            )
        mask = given
    else:
        mask = np.zeros(n_features, dtype=bool)
        for one in given.ravel().tolist():
            mask[_place(one, n_features, names, "categorical_features")] = True
    return mask if mask.any() else None


def _place(one, n_features, names, parameter):
    if isinstance(one, str):
        found = [] if names is None else np.flatnonzero(names == one)
        if len(found) == 1:
            return found[0]
    elif 0 <= one < n_features:
        return one
    raise ValueError(f"{parameter} names the column {one!r}, which X has not.")


def _signs(given, n_features, names):
    if given is None:
        return None
    if isinstance(given, dict):
        signs = np.zeros(n_features, dtype=int)
        for one, sign in given.items():
            signs[_place(one, n_features, names, "monotonic_cst")] = sign
    else:
        signs = np.asarray(given)
    if signs.shape != (n_features,) or not np.isin(signs, (-1, 0, 1)).all():
        raise ValueError(f"monotonic_cst must have −1, 0 or 1 for each of {n_features} columns.")
    return signs.astype(int) if signs.any() else None


def _require_categories(X, categorical):
    for column in np.flatnonzero(categorical):
        values = X[:, column]
        values = values[~np.isnan(values)]
        if np.any((values < 0) | (values >= 255) | (values != np.floor(values))):
            raise ValueError(
                f"Column {column} is named in categorical_features and has values that are no "
                "categories 0, 1, … 254: put an OrdinalEncoder before the model."
            )


def _importances(predictor):
    """Shares of columns in what splits explain."""
    forest = getattr(predictor, "predictor", predictor)  # of an exponential
    gains = gains_by_column(forest.gate, forest.values, forest.covers)
    n_features = forest.n_features
    shares = gains[:n_features].copy()
    for (i, j), gain in zip(forest.gate.pairs, gains[n_features:], strict=True):
        shares[i] += 0.5 * gain
        shares[j] += 0.5 * gain
    return shares / shares.sum() if shares.sum() > 0 else shares
