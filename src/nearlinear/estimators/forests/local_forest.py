"""Local forests: the leaves of a grown forest are the gate, what they hold is refitted together."""

import numbers
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from ..._hints import Auto, ClassWeight, Rows, Seed, Targets
from ..._sklearn import Interval, fit_context
from ...gates.forests.gains import feature_shares
from ...losses import AbsoluteError, LogLoss, PoissonLoss, QuantileError, SquaredError
from .._base.blocks.fit import fit
from .._base.blocks.forests import forest_sample, learn_forest_from
from .._base.capacity import Verdict
from .._base.checks import at_least, one_of, positive, shared
from .._base.forests.learn import learn_forest, learn_forest_on
from .._base.forests.refit import refit
from .._base.input import stream_rows
from .._base.model import Model

_LOSSES = {
    "squared_error": SquaredError, "absolute_error": AbsoluteError, "poisson": PoissonLoss
}  # fmt: skip
_CONSTRAINTS = {
    **shared("n_jobs", "random_state", "verbose"),
    "n_trees": [at_least(1), one_of("auto")],
    "max_leaves": [at_least(2), one_of("auto")],
    "learning_rate": [Interval(numbers.Real, 0, 1, closed="right"), one_of("auto")],
    "min_samples_leaf": [at_least(1), one_of("auto")],
    "max_features": [Interval(numbers.Real, 0, 1, closed="right"), one_of("auto")],
    "pairs": [at_least(0), one_of("auto"), "array-like"],
    "linear_root": ["boolean", one_of("auto", "beside")],
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
    max_features : float or "auto", default="auto"
        Share of the columns that a split is chosen from, drawn anew for each. "auto" is 1 where a
        size of trees is given, and what the grower has by itself for trees side by side.
    pairs : int, array of shape (n_pairs, 4) or "auto", default="auto"
        Number of pair columns, or one's own: i, j, a and b of each. "auto" takes those that explain
        most of a small forest, or none.
    linear_root : bool, "beside" or "auto", default="auto"
        Whether there is a linear model below the trees, which are then grown on what it leaves.
        "beside" fits both on their own, and scores are the mean. The weight C of its losses,
        against ½‖w‖² of standardized columns, is 1, and selected from 0.1 to 10 for "auto".
    leaf_model : {"auto", "constant", "linear"}, default="auto"
        Whether leaves hold a constant or a linear model of the numeric columns, which is refitted
        from zero slopes. "auto" tries linear ones for at most 20 boosted trees of 255 leaves.
    leaf_penalty : float, None or "auto", default="auto"
        λ of the refit, in rows. None leaves leaves as they were grown. "auto" tries 0.3 to 100,
        and None; below 500 rows it is None, except for a fitted forest.
    grower : str or fitted forest, default="auto"
        "hist" (HistGradientBoosting of scikit-learn), "lightgbm" (where it is installed), "tree"
        (one decision tree), "extra_trees" (the mean of shares of classes, times a steepness that
        held-out rows find; one structure for all classes), or a fitted
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
    plan_ : dict
        What was chosen, by parameter.
    settings_tried_ : list of Verdict
        Such settings that were tried, and the held-out loss of each: the log loss, or above 50,000
        rows the share of errors.
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

    classes_: np.ndarray
    plan_: dict[str, Any]
    settings_tried_: list[Verdict]
    pairs_: np.ndarray
    refit_gap_: float

    _takes_sparse = _sees_scales = False
    _takes_missing = _scores_sparse = True
    _row_types = np.float32
    loss = "log_loss"
    _parameter_constraints = {
        **_CONSTRAINTS,
        **shared("class_weight"),
    }

    def __init__(
        self,
        n_trees: int | Auto = "auto",
        *,
        max_leaves: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        min_samples_leaf: int | Auto = "auto",
        max_features: float | Auto = "auto",
        pairs: int | ArrayLike | Auto = "auto",
        linear_root: bool | Literal["beside", "auto"] = "auto",
        leaf_model: Literal["auto", "constant", "linear"] = "auto",
        leaf_penalty: float | Auto | None = "auto",
        grower: Any = "auto",
        categorical_features: ArrayLike | None = None,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        interaction_cst: Sequence[Sequence[int]] | None = None,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.n_trees = n_trees
        self.max_leaves = max_leaves
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.pairs = pairs
        self.linear_root = linear_root
        self.leaf_model = leaf_model
        self.leaf_penalty = leaf_penalty
        self.grower = grower
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    _loss = LogLoss()
    _learn, _learn_more = learn_forest, learn_forest_on
    fit, _learn_blocks, _sample_rows = fit, learn_forest_from, forest_sample

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Let leaves move with some rows; splits stay. The first call fits.

        The leaves minimize the loss of these rows and the penalty on how far they move: with
        ``leaf_penalty`` as λ if it is a number, else with 10 rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows; those of the first call grow the trees, so give it as many as there are.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None, default=None
            All labels that will come; needed in the first call, which must have rows of each.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight, classes))

    @fit_context(prefer_skip_nested_validation=True)
    def refit(
        self,
        X: Rows,
        y: Targets,
        sample_weight: ArrayLike | None = None,
        leaf_penalty: float | Auto | None = "auto",
    ) -> Self:
        """Improve the leaves of a fitted forest, also of one from another library; splits stay.

        Random forests, whose leaves hold shares, are first written as forests of scores, shares
        times the steepness that is best for the rows, and tell probabilities of the log loss
        afterward.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows, best others than those that grew the trees.
        y : array of shape (n_samples,)
            Labels, all of them in ``classes_``.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weight k equals k copies.
        leaf_penalty : float, None or "auto", default="auto"
            λ, in rows: how much a leaf stays where it is. "auto" finds it on a fifth of the rows
            among 0.3 to 100, and leaves the model as it is where none is better.

        Returns
        -------
        self
        """
        return self._settle(refit(self, X, y, sample_weight, leaf_penalty))

    @property
    def feature_importances_(self) -> np.ndarray:
        return feature_shares(self.predictor_)


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
    max_features : float or "auto", default="auto"
        Share of the columns that a split is chosen from, drawn anew for each. "auto" is 1 where a
        size of trees is given, and what the grower has by itself for trees side by side.
    pairs : int, array of shape (n_pairs, 4) or "auto", default="auto"
        Number of pair columns, or one's own: i, j, a and b of each. "auto" takes those that explain
        most of a small forest, or none.
    linear_root : bool, "beside" or "auto", default="auto"
        Whether there is a linear model below the trees, which are then grown on what it leaves.
        "beside" fits both on their own, and scores are the mean. The weight C of its losses,
        against ½‖w‖² of standardized columns, is 1, and selected from 0.1 to 10 for "auto".
    leaf_model : {"auto", "constant", "linear"}, default="auto"
        Whether leaves hold a constant or a linear model of the numeric columns, which is refitted
        from zero slopes. "auto" tries linear ones for at most 20 boosted trees of 255 leaves.
    leaf_penalty : float, None or "auto", default="auto"
        λ of the refit, in rows. None leaves leaves as they were grown. "auto" tries 0.3 to 100,
        and None; below 500 rows it is None, except for a fitted forest.
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
    n_jobs : int or None, default=None
        Threads of the refit and of prediction; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the held-out rows and of the growers.
    verbose : int, default=0
        1 prints what is tried.

    Attributes
    ----------
    plan_ : dict
        What was chosen, by parameter.
    settings_tried_ : list of Verdict
        Such settings that were tried, and the held-out loss of each.
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

    plan_: dict[str, Any]
    settings_tried_: list[Verdict]
    pairs_: np.ndarray
    refit_gap_: float

    _takes_sparse = _sees_scales = False
    _takes_missing = _scores_sparse = True
    _row_types = np.float32
    _parameter_constraints = {
        **_CONSTRAINTS,
        "loss": [one_of("squared_error", "absolute_error", "quantile", "poisson")],
        "quantile": [Interval(numbers.Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_trees: int | Auto = "auto",
        *,
        loss: Literal["squared_error", "absolute_error", "quantile", "poisson"] = "squared_error",
        quantile: float = 0.5,
        max_leaves: int | Auto = "auto",
        learning_rate: float | Auto = "auto",
        min_samples_leaf: int | Auto = "auto",
        max_features: float | Auto = "auto",
        pairs: int | ArrayLike | Auto = "auto",
        linear_root: bool | Literal["beside", "auto"] = "auto",
        leaf_model: Literal["auto", "constant", "linear"] = "auto",
        leaf_penalty: float | Auto | None = "auto",
        grower: Any = "auto",
        categorical_features: ArrayLike | None = None,
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        interaction_cst: Sequence[Sequence[int]] | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
    ):
        self.n_trees = n_trees
        self.loss = loss
        self.quantile = quantile
        self.max_leaves = max_leaves
        self.learning_rate = learning_rate
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.pairs = pairs
        self.linear_root = linear_root
        self.leaf_model = leaf_model
        self.leaf_penalty = leaf_penalty
        self.grower = grower
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _loss(self):
        if self.loss == "quantile":
            return QuantileError(self.quantile)
        return _LOSSES[self.loss]()

    _learn, _learn_more = learn_forest, learn_forest_on
    fit, _learn_blocks, _sample_rows = fit, learn_forest_from, forest_sample

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Rows, y: Targets, sample_weight: ArrayLike | None = None) -> Self:
        """Let leaves move with some rows; splits stay. The first call fits.

        The leaves minimize the loss of these rows and the penalty on how far they move: with
        ``leaf_penalty`` as λ if it is a number, else with 10 rows.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows; those of the first call grow the trees, so give it as many as there are.
        y : array of shape (n_samples,)
            Values.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight))

    @fit_context(prefer_skip_nested_validation=True)
    def refit(
        self,
        X: Rows,
        y: Targets,
        sample_weight: ArrayLike | None = None,
        leaf_penalty: float | Auto | None = "auto",
    ) -> Self:
        """Improve the leaves of a fitted forest, also of one from another library; splits stay.

        What is minimized is ``loss``; where a library has learned logarithms of values, the loss of
        counts.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows, best others than those that grew the trees.
        y : array of shape (n_samples,)
            Values.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weight k equals k copies.
        leaf_penalty : float, None or "auto", default="auto"
            λ, in rows: how much a leaf stays where it is. "auto" finds it on a fifth of the rows
            among 0.3 to 100, and leaves the model as it is where none is better.

        Returns
        -------
        self
        """
        return self._settle(refit(self, X, y, sample_weight, leaf_penalty))

    @property
    def feature_importances_(self) -> np.ndarray:
        return feature_shares(self.predictor_)
