"""CatBoost, by its JSON export: oblivious trees, in which all nodes of a level have one split."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ..gate import GrownTree
from .record import (
    ForestNotRead,
    classes_or_numbers,
    forest_read,
    names_or_none,
    not_read_objective,
)

_LOSSES = {"RMSE": "squared_error", "MAE": "absolute_error", "Quantile": "quantile"}
_LOG_LINK = ("Poisson", "Tweedie")
_PLAIN = ("MultiRMSE", "Huber", "MAPE", "Expectile", "LogCosh", "Lq", "MultiQuantile")


def takes(model):
    return type(model).__module__.split(".")[0] == "catboost"


def takes_file(path):
    with Path(path).open("rb") as file:
        start = file.read(200)
    return start[:4] == b"CBM1" or (start[:1] == b"{" and b"features_info" in start)


def from_file(path):
    import catboost

    is_json = Path(path).read_bytes()[:1] == b"{"
    model = catboost.CatBoost()
    return model.load_model(str(path), format="json" if is_json else "cbm")


def read(model):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        whole = json.loads(path.read_bytes())
    scale, bias = whole["scale_and_bias"]
    columns = {
        one["feature_index"]: (one["flat_feature_index"], one["nan_value_treatment"])
        for one in whole["features_info"]["float_features"]
    }
    if "oblivious_trees" in whole:
        grown = [_oblivious(tree, columns, len(bias), scale) for tree in whole["oblivious_trees"]]
    else:
        grown = [_branching(tree, columns, len(bias), scale) for tree in whole["trees"]]
    names = list(model.feature_names_)
    has_missing = np.zeros(len(names), dtype=bool)
    for one in whole["features_info"]["float_features"]:
        has_missing[one["flat_feature_index"]] = one["has_nans"]

    def raw_scores(X):
        scores = model.predict(X, prediction_type="RawFormulaVal", thread_count=1)
        return np.reshape(scores, (len(X), -1))

    return forest_read(
        "CatBoost", grown, len(names), np.float32, raw_scores=raw_scores, intercept=bias,
        takes_missing=has_missing,
        feature_names=names_or_none(names, lambda place, name: name == str(place)),
        **_meaning(model, whole, len(bias)),
    )  # fmt: skip


def _split(split, columns):
    """Column, border, and whether a missing value goes to the first child."""
    if split["split_type"] != "FloatFeature":
        raise ForestNotRead(
            "This CatBoost model splits on categories, which it knows by their hashes and "
            "statistics: encode them as numbers before the fit."
        )
    column, missing = columns[split["float_feature_index"]]
    return column, split["border"], missing != "AsTrue"


def _oblivious(tree, columns, n_outputs, scale):
    """The last split is at the root: then leaves stand in the order of their numbers."""
    levels = [_split(one, columns) for one in reversed(tree["splits"] or ())]
    depth = len(levels)
    inner = 2**depth - 1
    nodes = np.arange(inner)
    level = np.log2(nodes + 1).astype(np.int64)
    column, border, to_left = (np.array(part) for part in zip(*levels)) if depth else ([],) * 3
    ends, rest = np.full(inner + 1, -1), np.zeros(inner + 1)
    values = scale * np.array(tree["leaf_values"], dtype=np.float64).reshape(-1, n_outputs)
    weights = np.array(tree.get("leaf_weights") or np.ones(inner + 1), dtype=np.float64)
    if depth == 0:
        return GrownTree(ends, rest, ends, ends, rest, values, weights)
    return GrownTree(
        np.concatenate([column[level], ends]),
        np.concatenate([border[level], rest]),
        np.concatenate([2 * nodes + 1, ends]),
        np.concatenate([2 * nodes + 2, ends]),
        np.concatenate([to_left[level], rest]),
        np.concatenate([np.zeros((inner, n_outputs)), values]),
        np.concatenate([np.zeros(inner), weights]),
    )


def _branching(tree, columns, n_outputs, scale):
    """Of grow_policy Depthwise or Lossguide: nodes within nodes."""
    nodes, rows = [tree], []
    for node in nodes:  # it grows on the way
        if "split" in node:
            split = _split(node["split"], columns)
            rows.append((*split, len(nodes), len(nodes) + 1, np.zeros(n_outputs), 0.0))
            nodes += [node["left"], node["right"]]
        else:
            value = scale * np.array(node["value"], dtype=np.float64).reshape(n_outputs)
            rows.append((-1, 0.0, False, -1, -1, value, node.get("weight", 1.0)))
    column, border, to_left, left, right, value, cover = (np.array(part) for part in zip(*rows))
    return GrownTree(column, border, left, right, to_left, value, cover)


def _meaning(model, whole, n_outputs):
    loss = _loss(whole)
    if loss in ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll"):
        classes = np.asarray(model.classes_)
        # one against the rest gives chances that do not add up to 1
        own = None if loss == "MultiClassOneVsAll" else "log_loss"
        return {"classes": classes_or_numbers(classes, n_outputs), "link": own, "loss": own}
    if loss not in (*_LOSSES, *_LOG_LINK, *_PLAIN):
        raise not_read_objective("CatBoost", loss)
    link = "log" if loss in _LOG_LINK else None
    return {"link": link, "loss": _LOSSES.get(loss, loss.lower())}


def _loss(whole):
    found = whole["model_info"]["params"]["loss_function"]
    found = found["type"] if isinstance(found, dict) else found
    return found.partition(":")[0]
