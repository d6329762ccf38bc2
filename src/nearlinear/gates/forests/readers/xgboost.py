"""XGBoost: its JSON form has the arrays of every tree.

It reads rows as float32 and sends a value to the left where it is below the threshold; here at most
the next number below that. A category of a split's set goes right there, and to the first child
here.
"""

import json
from pathlib import Path

import numpy as np

from ...._class_labels import class_labels
from ..gate import GrownTree
from .record import (
    ForestNotRead,
    classes_or_numbers,
    forest_read,
    names_or_none,
    not_read_objective,
    recoded,
    whole_categories,
)

_OF_CLASSES = ("binary:logistic", "multi:softprob", "multi:softmax")
_LOG_LINK = ("count:poisson", "reg:gamma", "reg:tweedie")
_PLAIN = ("reg:pseudohubererror", "rank:ndcg", "rank:map", "rank:pairwise")
_LOSSES = {
    "reg:squarederror": "squared_error", "reg:absoluteerror": "absolute_error",
    "reg:quantileerror": "quantile",
}  # fmt: skip


def takes(model):
    return type(model).__module__.split(".")[0] == "xgboost"


def takes_file(path):
    with Path(path).open("rb") as file:
        start = file.read(200)
    return b"learner" in start and start[:1] == b"{"


def from_file(path):
    import xgboost

    return xgboost.Booster(model_file=str(path))


def read(model):
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    whole = json.loads(bytes(booster.save_raw("json")))["learner"]
    trees, outputs, weights = _trees(model, whole["gradient_booster"])
    if not np.isnan(getattr(model, "missing", np.nan)):
        raise ForestNotRead(
            f"This XGBoost model takes {model.missing!r} for missing: fit it with NaN there."
        )
    numbers, objective = whole["learner_model_param"], whole["objective"]["name"]
    n_outputs = max(int(numbers["num_class"]), int(numbers.get("num_target", 1)), 1)
    categories = _categories(whole)
    start, meaning = _meaning(model, objective, numbers["base_score"], n_outputs)
    grown = [_grown(*one, categories) for one in zip(trees, outputs, weights, strict=True)]
    names = whole["feature_names"]
    return forest_read(
        "XGBoost", grown, int(numbers["num_feature"]), np.float32,
        raw_scores=_predictor(model, booster, categories), intercept=start, takes_missing=True,
        feature_names=names_or_none(names, lambda place, name: name == f"f{place}"), **meaning,
    )  # fmt: skip


def _trees(model, gradient_booster):
    """Trees, the output of each, and its weight."""
    name = gradient_booster["name"]
    if name == "gblinear":
        raise ForestNotRead("This XGBoost model has booster='gblinear': there are no trees in it.")
    is_dart = name == "dart"
    found = (gradient_booster["gbtree"] if is_dart else gradient_booster)["model"]
    trees, outputs = found["trees"], found["tree_info"]
    weights = gradient_booster["weight_drop"] if is_dart else [1.0] * len(trees)
    best = _best_iteration(model)
    if best is not None:
        n_trees = found["iteration_indptr"][best + 1]
        trees, outputs, weights = trees[:n_trees], outputs[:n_trees], weights[:n_trees]
    return trees, outputs, weights


def _best_iteration(model):
    """Of an estimator that stopped early: it predicts with the trees up to there."""
    if not hasattr(model, "get_booster"):
        return None
    found = model.get_booster().attr("best_iteration")
    return None if found is None else int(found)


def _categories(whole):
    """Categories that the model has numbered itself: {column: categories}."""
    learned = whole["gradient_booster"]
    learned = learned.get("gbtree", learned)["model"].get("cats", {}).get("enc", [])
    found = {}
    for column, one in enumerate(learned):
        if not one["values"]:
            continue
        # strings are stored as bytes, with offsets
        values = np.array(["?"]) if "offsets" in one else one["values"]
        found[column] = whole_categories(values, column)
    return found


def _grown(tree, output, weight, categories):
    left, right = (np.array(tree[key]) for key in ("left_children", "right_children"))
    conditions = np.array(tree["split_conditions"], dtype=np.float32)
    is_leaf = left < 0
    n_told = int(tree["tree_param"]["size_leaf_vector"])
    if n_told > 1:
        leaf_values = np.array(tree["leaf_weights"], dtype=np.float64).reshape(-1, n_told)
        values = np.zeros((len(left), n_told))
        values[is_leaf] = leaf_values
    else:
        values = np.where(is_leaf, conditions.astype(np.float64), 0.0)[:, None]
    to_left = np.array(tree["default_left"]) == 1
    columns, sets = np.array(tree["split_indices"]), None
    if len(tree["categories_nodes"]):
        sets = _sets(tree, columns, categories)
        is_set = np.array([one is not None for one in sets])
        left, right = np.where(is_set, right, left), np.where(is_set, left, right)
        to_left = to_left ^ is_set
    return GrownTree(
        columns,
        np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64),
        left,
        right,
        to_left,
        weight * values,
        np.array(tree["sum_hessian"], dtype=np.float64),
        0 if n_told > 1 else output,
        sets,
    )


def _sets(tree, columns, categories):
    members = np.array(tree["categories"], dtype=np.int64)
    found = [None] * len(columns)
    places = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    for node, start, size in places:
        known = categories.get(int(columns[node]))
        inside = members[start : start + size]
        found[node] = inside if known is None else known[inside]
    return tuple(found)


def _meaning(model, objective, base_score, n_outputs):
    """What comes before the trees, and what scores mean."""
    start = np.array([float(one) for one in base_score.strip("[]").split(",")])
    start = np.broadcast_to(start, n_outputs)
    classes = class_labels(model)
    may_classify = classes is not None or not hasattr(model, "get_booster")
    if may_classify and objective in _OF_CLASSES:
        if objective == "binary:logistic":
            start = np.log(start) - np.log1p(-start)
        labels = classes_or_numbers(classes, n_outputs)
        return start, {"classes": labels, "link": "log_loss", "loss": "log_loss"}
    if classes is not None or objective not in (*_LOSSES, *_LOG_LINK, *_PLAIN):
        raise not_read_objective("XGBoost", objective)
    if objective in _LOG_LINK:
        return np.log(start), {"link": "log", "loss": objective.partition(":")[2]}
    return start, {"loss": _LOSSES.get(objective, objective)}


def _predictor(model, booster, categories):
    best = _best_iteration(model)
    rounds = (0, 0) if best is None else (0, best + 1)

    def raw_scores(X):
        import xgboost

        X = recoded(X, categories).astype(np.float32)
        rows = xgboost.DMatrix(
            X, feature_names=booster.feature_names, feature_types=booster.feature_types, nthread=1
        )
        scores = booster.predict(rows, output_margin=True, iteration_range=rounds)
        return scores.reshape(len(X), -1)

    return raw_scores
