"""HistGradientBoosting of scikit-learn.

Nodes count columns behind its own preparation, which puts columns of categories first and numbers
their categories. Here they count the user's columns, and sets hold the user's categories.
"""

import numpy as np

from ...._class_labels import class_labels
from ..gate import GrownTree
from .record import forest_read, whole_categories

_NAMES = ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")


def takes(model):
    cls = type(model)
    return cls.__module__.startswith("sklearn.") and cls.__name__ in _NAMES


def read(model):
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    is_set = model.is_categorical_
    is_set = np.zeros(model.n_features_in_, dtype=bool) if is_set is None else is_set
    columns = np.concatenate([np.flatnonzero(is_set), np.flatnonzero(~is_set)])
    known = _known(model, columns[: np.count_nonzero(is_set)])
    # sets have as many bits in all nodes; unknown categories among those go where missing ones do
    n_bits = -(-max((int(one.max()) + 1 for one in known), default=0) // 32) * 32
    trees = [
        _grown(predictor, columns, known, n_bits, output)
        for stage in model._predictors
        for output, predictor in enumerate(stage)
    ]
    if (labels := class_labels(model)) is not None:
        meaning = {"classes": labels, "link": "log_loss", "loss": "log_loss"}
    else:
        meaning = {
            "loss": model.loss,
            "link": "log" if model.loss in ("poisson", "gamma") else None,
        }
    return forest_read(
        "scikit-learn", trees, model.n_features_in_, np.float64,
        raw_scores=lambda X: model._raw_predict(X), intercept=np.ravel(model._baseline_prediction),
        feature_names=getattr(model, "feature_names_in_", None), takes_missing=True, **meaning,
    )  # fmt: skip


def _known(model, columns):
    """The categories of each column that has some."""
    if len(columns) == 0:
        return []
    encoder = model._preprocessor.named_transformers_["encoder"]
    found = []
    for column, categories in zip(columns, encoder.categories_, strict=True):
        is_there = [one is not None and one == one for one in categories]  # a missing one is last
        found.append(whole_categories(categories[is_there], column))
    return found


def _grown(predictor, columns, known, n_bits, output):
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"] == 1
    sets = None
    if len(predictor.raw_left_cat_bitsets):
        sets = [None] * len(nodes)
        for node in np.flatnonzero((nodes["is_categorical"] == 1) & ~is_leaf):
            words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
            categories = known[nodes["feature_idx"][node]]
            code = np.arange(len(categories))
            goes_left = (words[code // 32] >> (code % 32).astype(np.uint32)) & 1 == 1
            left = categories[goes_left]
            if nodes["missing_go_to_left"][node]:
                left = np.setdiff1d(np.arange(n_bits), categories[~goes_left])
            sets[node] = left
    return GrownTree(
        np.where(is_leaf, 0, columns[np.where(is_leaf, 0, nodes["feature_idx"])]),
        np.where(is_leaf, 0.0, nodes["num_threshold"]),
        np.where(is_leaf, -1, nodes["left"].astype(np.int64)),
        np.where(is_leaf, -1, nodes["right"].astype(np.int64)),
        nodes["missing_go_to_left"],
        nodes["value"][:, None],
        nodes["count"].astype(np.float64),
        output,
        None if sets is None else tuple(sets),
    )
