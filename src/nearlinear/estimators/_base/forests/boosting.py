"""Boosted trees from growers that exist: nothing of a tree builder is written here."""

from dataclasses import replace

import numpy as np

from ...._compile import one_openmp_thread
from ....gates.forests.readers.reading import read_forest
from ....losses import AbsoluteError, LogLoss, PoissonLoss, QuantileError, SquaredError
from .codes import Codes
from .orders import told_weight
from .taken import of_float32, taken

_HIST_LOSSES = {
    SquaredError: "squared_error", AbsoluteError: "absolute_error", PoissonLoss: "poisson"
}  # fmt: skip
_LIGHTGBM_LOSSES = {
    SquaredError: "regression", AbsoluteError: "regression_l1", PoissonLoss: "poisson"
}  # fmt: skip
_STEP = 4.0  # most of a working response: rows that are sure and wrong would count alone


def grow_hist(A, y, weight, shape, columns, n_features, loss, *, seed):
    """HistGradientBoosting by its public ``fit``, on one thread: sums in a fixed order."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    settings = {
        "max_iter": shape.n_trees, "max_leaf_nodes": shape.max_leaves,
        "l2_regularization": shape.l2,
        "learning_rate": shape.learning_rate, "min_samples_leaf": shape.min_rows,
        "max_features": shape.max_features, "early_stopping": False, "random_state": seed,
        **columns.of_hist(),
    }  # fmt: skip
    if isinstance(loss, LogLoss):
        model = HistGradientBoostingClassifier(**settings)
    else:
        model = HistGradientBoostingRegressor(**settings, **_hist_loss(loss))
    weight = told_weight(weight)
    with one_openmp_thread():
        if weight is None:
            return taken(model.fit(A, y), columns, n_features, A)
        codes = Codes.of(A, columns.categorical, n_features)
        A = codes(A)
        found = read_forest(model.fit(A, y, sample_weight=weight), A)
    return of_float32(replace(found, gate=codes.undone(found.gate)), columns, n_features)


def grow_lightgbm(A, y, weight, shape, columns, n_features, loss, *, seed):
    """LightGBM, where it is installed; its sums do not depend on threads."""
    try:
        from lightgbm import LGBMClassifier, LGBMRegressor
    except ImportError as error:
        raise ImportError("grower='lightgbm' needs LightGBM: pip install lightgbm") from error
    settings = {
        "n_estimators": shape.n_trees, "num_leaves": shape.max_leaves, "reg_lambda": shape.l2,
        "learning_rate": shape.learning_rate, "min_child_samples": shape.min_rows,
        "random_state": seed, "deterministic": True, "force_row_wise": True, "verbose": -1,
        "n_jobs": 1, "feature_fraction_bynode": shape.max_features, **columns.of_lightgbm(),
    }  # fmt: skip
    if isinstance(loss, LogLoss):
        model = LGBMClassifier(**settings)
    else:
        model = LGBMRegressor(**settings, **_lightgbm_loss(loss))
    sets = "auto" if columns.categorical is None else np.flatnonzero(columns.categorical).tolist()
    model.fit(A, y, sample_weight=told_weight(weight), categorical_feature=sets)
    return taken(model, columns, n_features, A)


BOOSTING = {"hist": grow_hist, "lightgbm": grow_lightgbm}


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
