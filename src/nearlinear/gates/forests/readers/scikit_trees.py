"""Decision trees, random forests, extra trees and gradient boosting of scikit-learn.

They read rows as float32, and compare these with thresholds in float64.
"""

import numpy as np

from ..gate import GrownTree
from .record import ForestNotRead, forest_read

_TREES = {f"{kind}Tree" for kind in ("Decision", "Extra")}
_FORESTS = {"RandomForest", "ExtraTrees"}


def takes(model):
    module, name = type(model).__module__, _family(model)
    return module.startswith("sklearn.") and name in _TREES | _FORESTS | {"GradientBoosting"}


def _family(model):
    return type(model).__name__.removesuffix("Classifier").removesuffix("Regressor")


def read(model):
    from sklearn.base import is_classifier
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    shared = {
        "feature_names": getattr(model, "feature_names_in_", None),
        "takes_missing": get_tags(model).input_tags.allow_nan,
    }
    if _family(model) == "GradientBoosting":
        return _boosting(model, is_classifier(model), shared)
    return (_of_shares if is_classifier(model) else _of_means)(model, shared)


def _members(model):
    return [model] if _family(model) in _TREES else list(model.estimators_)


def _grown(tree, value, output=0):
    nodes = tree.__getstate__()["nodes"]
    return GrownTree(
        nodes["feature"],
        nodes["threshold"],
        nodes["left_child"],
        nodes["right_child"],
        nodes["missing_go_to_left"],
        value,
        nodes["weighted_n_node_samples"],
        output,
    )


def _of_shares(model, shared):
    """Means of the shares of classes; of two classes the difference, positive for the second."""
    if model.n_outputs_ > 1:
        raise ForestNotRead(
            f"This {type(model).__name__} tells {model.n_outputs_} columns of labels: "
            "fit one for each."
        )
    members, is_two = _members(model), len(model.classes_) == 2
    if len(model.classes_) < 2:
        raise ForestNotRead(f"This {type(model).__name__} has seen one class: there are no scores.")
    trees = []
    for member in members:
        value = member.tree_.value[:, 0]
        value = value[:, 1:] - value[:, :1] if is_two else value
        trees.append(_grown(member.tree_, value / len(members)))

    def raw_scores(X):
        shares = model.predict_proba(X)
        return shares[:, 1:] - shares[:, :1] if is_two else shares

    return forest_read(
        "scikit-learn", trees, model.n_features_in_, np.float32, raw_scores=raw_scores,
        intercept=np.zeros(trees[0].value.shape[1]), classes=model.classes_, link="shares",
        loss="log_loss", **shared,
    )  # fmt: skip


def _of_means(model, shared):
    members, n_outputs = _members(model), model.n_outputs_
    trees = [_grown(one.tree_, one.tree_.value[:, :, 0] / len(members)) for one in members]
    return forest_read(
        "scikit-learn", trees, model.n_features_in_, np.float32,
        raw_scores=lambda X: model.predict(X).reshape(-1, n_outputs),
        intercept=np.zeros(n_outputs), loss=_LOSSES.get(model.criterion, model.criterion), **shared,
    )  # fmt: skip


_LOSSES = {"friedman_mse": "squared_error"}


def _boosting(model, is_classifier, shared):
    init = model.init_
    if init != "zero" and type(init).__name__ not in ("DummyClassifier", "DummyRegressor"):
        raise ForestNotRead(
            f"This {type(model).__name__} starts from another model, init={type(init).__name__}: "
            "read one that starts from a constant."
        )
    trees = [
        _grown(one.tree_, model.learning_rate * one.tree_.value[:, :, 0], output)
        for stage in model.estimators_
        for output, one in enumerate(stage)
    ]
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    start = model._raw_predict_init(row)[0]
    if is_classifier:
        meaning = {"classes": model.classes_, "link": "log_loss", "loss": "log_loss"}
        if model.loss == "exponential":
            meaning["steepness"] = 2.0
    else:
        meaning = {"loss": model.loss}

    def raw_scores(X):
        scores = model.decision_function(X) if is_classifier else model.predict(X)
        return scores.reshape(len(X), -1)

    return forest_read(
        "scikit-learn", trees, model.n_features_in_, np.float32, raw_scores=raw_scores,
        intercept=start, **meaning, **shared,
    )  # fmt: skip
