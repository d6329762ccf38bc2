"""A cascade: cheap models first, and what they are not sure of goes on."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..._class_labels import class_labels
from ..._hints import Seed
from ..._warn import warn_user
from ...predictors.cascaded import Cascaded
from ...predictors.tree_leaves import TreeLeaves
from ...solvers.exits import choose_exits
from .._base.checks import open_fraction, shared
from .._base.forests.exits import margins_and_right
from .._base.model import Learned, Model

_FEW = 4  # stages before the last, of which all sets are tried


class Cascade(ClassifierMixin, Model):
    r"""Classifiers one after another: a row stops at the first that is sure of it.

    Stage s answers for a row if its lead (the absolute score of two classes, else the best score
    less the second) is at least the threshold of the stage; the last stage answers for all rows
    that come to it. Thresholds are chosen on held-out rows to minimize

    .. math:: \text{cost} = \sum_s P(\text{a row comes to stage } s) \, c_s
              \quad \text{such that} \quad
              \text{accuracy of the last stage} - \text{accuracy} \le \text{max\_loss}

    where the bound holds with the given confidence for new rows: half of the held-out rows
    shape a sequence of thresholds from safe to cheap, and the other half tests it step by step. The
    cost c of a stage is its number of multiply-adds. A stage that does not pay is passed over: its
    threshold is infinite, and no row is scored by it.

    Held-out rows are never training rows of a stage, and stages are not fitted again on all rows
    afterwards: other stages would have other thresholds. A stage that is fitted already is
    given as ``FrozenEstimator(model)`` of sklearn.frozen; if all are, all rows of ``fit`` are
    held-out rows, which must be other rows than those that the stages have seen.

    Parameters
    ----------
    stages : list of estimators, default=()
        Classifiers of nearlinear, the cheapest first. Linear classifiers of scikit-learn with
        ``coef_`` and ``intercept_`` may stand among them.
    max_loss : float, default=0.001
        The most accuracy that may be given up against the last stage alone: 0.001 is a tenth of a
        point. To promise that with a confidence of 0.95 takes about 6,000 held-out rows.
    confidence : float, default=0.95
        The probability, over the draw of held-out rows, that no more is given up.
    validation_fraction : float, default=0.2
        Share of the rows that is held out, if some stage is to be fitted.
    n_jobs : int or None, default=None
        Number of threads of prediction. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out rows and divides them.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    stages_ : list of estimators
        The fitted stages.
    thresholds_ : array of shape (n_stages - 1,)
        Leads from which on a row stops; infinite where no row stops.
    shares_ : array of shape (n_stages,)
        Shares of the tested held-out rows that stop at each stage.
    loss_given_up_ : float
        Accuracy of the last stage less that of the cascade on these rows; negative if it gains.
    n_tested_ : int
        How many rows have tested the thresholds; 0 if there were too few to promise anything, and
        every row goes to the last stage.
    loss_ : str
        "log_loss" if every stage gives probabilities by its scores; then so does the cascade.
    predictor_ : Cascaded
        What is left of all stages.
    cost_ : Cost
        What one prediction costs: multiply-adds on average over the tested rows and their
        ``spread``, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Exits by margins are as in [1]_; the bound is Learn then Test [2]_ with fixed-sequence testing.
    Differs in: the loss is that against the last stage, of which gains are taken off, and its test
    is exact for such differences. There is no cascade of regressors, since no margin tells how
    far a value is from the true one.

    References
    ----------
    .. [1] P. Viola, M. Jones, "Rapid Object Detection using a Boosted Cascade of Simple Features",
           CVPR 2001.
    .. [2] A. Angelopoulos, S. Bates, E. Candès, M. Jordan, L. Lei, "Learn then Test: Calibrating
           Predictive Algorithms to Achieve Risk Control", 2021.
    """

    classes_: np.ndarray
    stages_: list[Any]
    thresholds_: np.ndarray
    shares_: np.ndarray
    loss_given_up_: float
    n_tested_: int
    loss_: str
    predictor_: Cascaded

    _parameter_constraints = {
        "stages": "no_validation",  # checked one by one
        "max_loss": [open_fraction()],
        "confidence": [open_fraction()],
        "validation_fraction": [open_fraction()],
        **shared("n_jobs", "random_state"),
    }
    class_weight = None  # stages have their own
    loss = "auto"  # that of the stages: what tells whether scores are probabilities

    def __init__(
        self,
        stages: Sequence[Any] = (),
        *,
        max_loss: float = 0.001,
        confidence: float = 0.95,
        validation_fraction: float = 0.2,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.stages = stages
        self.max_loss = max_loss
        self.confidence = confidence
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        rng = check_random_state(self.random_state)
        stages = list(self.stages)
        if not stages:
            raise ValueError("Cascade has no stages: give a list of classifiers, cheapest first.")
        own, held = rows, rows
        if not all(isinstance(stage, FrozenEstimator) for stage in stages):
            own, held = rows.split(self.validation_fraction, rng)
        labels = rows.task.classes[own.labels]
        fitted = [_fitted(stage, own, labels) for stage in stages]
        predictors = [_predictor_of(stage, rows) for stage in fitted]
        exits = _exits_of(predictors, held, self.max_loss, self.confidence, rng)
        predictor = Cascaded(tuple(predictors), exits.thresholds, exits.shares)
        of_log_loss = all(_is_of_log_loss(stage) for stage in fitted)
        return Learned(
            predictor,
            {
                "stages_": fitted,
                "thresholds_": np.array(exits.thresholds),
                "shares_": np.array(exits.shares),
                "loss_given_up_": exits.loss,
                "n_tested_": exits.n_tested,
                "loss_": "log_loss" if of_log_loss else "margin",
            },
        )


def _fitted(stage, rows, labels):
    if isinstance(stage, FrozenEstimator):
        check_is_fitted(stage.estimator)
        return stage.estimator
    return clone(stage).fit(rows.X, labels, sample_weight=rows.weight)


def _predictor_of(stage, rows):
    """What a fitted stage is to files and targets; it must be of the same columns and classes."""
    name, classes = type(stage).__name__, rows.task.classes
    labels = class_labels(stage)
    if labels is None or not np.array_equal(labels, classes):
        raise ValueError(f"The stage {name} has other classes than y: fit it on all of them.")
    if stage.n_features_in_ != rows.X.shape[1] or getattr(stage, "n_gating_features_", 0):
        raise ValueError(f"The stage {name} takes other columns than X: fit it on the same ones.")
    if getattr(stage, "multilabel_", False) or getattr(stage, "_is_precomputed", False):
        raise ValueError(f"The stage {name} takes no plain rows with one label each.")
    predictor = getattr(stage, "predictor_", None)
    if predictor is not None and name != "SVMKNNClassifier":
        return predictor
    if not hasattr(stage, "coef_") or not hasattr(stage, "intercept_"):
        raise TypeError(
            f"The stage {name} is no classifier of nearlinear with a model of its own, nor linear: "
            "give one that is."
        )
    coef = np.atleast_2d(np.asarray(stage.coef_, dtype=rows.X.dtype))
    intercept = np.broadcast_to(stage.intercept_, len(coef)).astype(rows.X.dtype)
    weights = np.column_stack([coef, np.zeros(len(coef), dtype=coef.dtype)])
    none = np.empty((0, weights.shape[1]), dtype=coef.dtype)
    return TreeLeaves(none, np.ascontiguousarray(weights[None]), intercept)


def _is_of_log_loss(stage):
    """Whether the softmax of its scores, or their logistic function, is its probabilities."""
    if hasattr(stage, "predictor_"):
        return hasattr(stage, "predict_proba") and stage._outcome.gives_probabilities
    return type(stage).__name__ in ("LogisticRegression", "LogisticRegressionCV")


def _choices(n_early):
    """Sets of stages before the last: all, as long as these are few, else those of the first."""
    if n_early > _FEW:
        return [tuple(range(n)) for n in range(n_early + 1)]
    return [some for n in range(n_early + 1) for some in combinations(range(n_early), n)]


def _exits_of(predictors, held, max_loss, confidence, rng):
    n_stages = len(predictors)
    margins, right = np.empty((0, n_stages - 1)), np.empty((0, n_stages), dtype=bool)
    weight = np.empty(0)
    if held is not None:
        scores = (one(held.X.astype(one.dtype, copy=False)) for one in predictors)
        margins, right = margins_and_right(scores, held.labels)
        weight = held.weight
    exits = choose_exits(
        margins, right, [one.cost.multiply_adds for one in predictors], max_loss=max_loss,
        confidence=confidence, rng=rng, weight=weight, choices=_choices(n_stages - 1),
    )  # fmt: skip
    if not exits.n_tested and n_stages > 1:
        warn_user(
            f"Cascade can promise a loss of at most {max_loss:g} by no threshold on "
            f"{len(weight)} held-out rows: every row goes to the last stage. Hold out more rows, "
            "or raise max_loss."
        )
    return exits
