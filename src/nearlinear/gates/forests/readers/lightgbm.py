"""LightGBM: its text form has the arrays of every tree in a few lines."""

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

_CATEGORY, _DEFAULT_LEFT = 1, 2  # bits of a node's decision_type; then two of its missing_type
_NO_MISSING, _ZERO_IS_MISSING = 0, 1
_ZERO = float(np.float32(1e-35))  # it reads numbers up to this size as 0
_LOG_LINK = ("poisson", "gamma", "tweedie")
_PLAIN = ("huber", "fair", "mape", "lambdarank", "rank_xendcg")
_LOSSES = {
    "regression": "squared_error", "regression_l1": "absolute_error", "quantile": "quantile",
}  # fmt: skip


def takes(model):
    return type(model).__module__.split(".")[0] == "lightgbm"


def takes_file(path):
    with Path(path).open("rb") as file:
        return file.read(5) in (b"tree\n", b"tree\r")


def from_file(path):
    import lightgbm

    return lightgbm.Booster(model_file=str(path))


def read(model):
    # of an estimator that is not fitted it says so
    booster = model.booster_ if hasattr(type(model), "booster_") else model
    head, trees = _parsed(booster.model_to_string())
    objective, *settings = head.get("objective", "custom").split()
    settings = dict(one.partition(":")[::2] for one in settings)
    _require_plain(objective, settings)
    categories = _categories(head, booster.pandas_categorical)
    n_outputs = int(head["num_tree_per_iteration"])
    # random forests of LightGBM tell a mean, but of raw scores the sum
    share = n_outputs / len(trees) if "average_output" in head else 1.0
    grown = [
        _grown(tree, categories, share, number % n_outputs) for number, tree in enumerate(trees)
    ]
    meaning = _meaning(model, objective, settings, n_outputs)
    names = head["feature_names"].split()
    return forest_read(
        "LightGBM", grown, int(head["max_feature_idx"]) + 1, np.float64,
        raw_scores=_predictor(booster, categories, share),
        intercept=np.zeros(n_outputs), takes_missing=True,
        feature_names=names_or_none(names, lambda place, name: name == f"Column_{place}"),
        **meaning,
    )  # fmt: skip


def _parsed(text):
    """Lines before the trees, and those of every tree, by their keys."""
    text = text.partition("\nend of trees")[0]
    head, *trees = text.split("\nTree=")
    return _lines(head), [_lines(tree) for tree in trees]


def _lines(text):
    return dict(line.partition("=")[::2] for line in text.split("\n"))


def _require_plain(objective, settings):
    if objective == "regression" and "sqrt" in settings:
        raise ForestNotRead("This LightGBM model has reg_sqrt: its values are squares of scores.")


def _categories(head, of_pandas):
    """Categories of columns that pandas has numbered: {column: categories}."""
    infos = enumerate(head["feature_infos"].split())
    columns = [column for column, info in infos if info != "none" and not info.startswith("[")]
    if not of_pandas:
        return {}
    if len(of_pandas) != len(columns):
        raise ForestNotRead(
            "LightGBM dropped a column of categories that is the same in all rows: leave it out "
            "of the fit."
        )
    pairs = zip(columns, of_pandas, strict=True)
    return {column: whole_categories(found, column) for column, found in pairs}


def _numbers(tree, key, dtype):
    return np.array(tree[key].split(), dtype=dtype)


def _grown(tree, categories, share, output):
    if tree.get("is_linear", "0") == "1":
        raise ForestNotRead(
            "This LightGBM model has linear_tree=True, whose leaves fall back to constants where "
            "values are missing: fit it without."
        )
    values = share * _numbers(tree, "leaf_value", np.float64)
    n_leaves = len(values)
    if n_leaves == 1:
        none, zero = np.array([-1]), np.zeros(1)
        return GrownTree(none, zero, none, none, zero, values[:, None], np.ones(1), output)
    kinds = _numbers(tree, "decision_type", np.int64)
    missing, is_set = (kinds >> 2) & 3, kinds & _CATEGORY == _CATEGORY
    if np.any((missing == _ZERO_IS_MISSING) & ~is_set):
        raise ForestNotRead(
            "This LightGBM model has zero_as_missing=True: fit it with NaN for what is missing."
        )
    thresholds = _numbers(tree, "threshold", np.float64)
    columns = _numbers(tree, "split_feature", np.int64)
    # without missing values in training, one is read as 0
    to_left = np.where(missing == _NO_MISSING, thresholds >= 0, kinds & _DEFAULT_LEFT != 0)
    thresholds = np.where(is_set, thresholds, _as_zero(thresholds))
    rest, inner = np.zeros(n_leaves), n_leaves - 1
    left, right = (
        np.where(child >= 0, child, inner + ~child)
        for child in (_numbers(tree, key, np.int64) for key in ("left_child", "right_child"))
    )
    ends = np.full(n_leaves, -1)
    return GrownTree(
        np.concatenate([columns, ends]),
        np.concatenate([np.where(is_set, 0.0, thresholds), rest]),
        np.concatenate([left, ends]),
        np.concatenate([right, ends]),
        np.concatenate([to_left & ~is_set, rest]),
        np.concatenate([np.zeros(inner), values])[:, None],
        np.concatenate([np.zeros(inner), _covers(tree, n_leaves)]),
        output,
        _sets(tree, columns, thresholds, is_set, categories, n_leaves) if is_set.any() else None,
    )


def _as_zero(thresholds):
    """Thresholds for numbers as they are, where LightGBM would read them as 0."""
    below = np.nextafter(-_ZERO, -np.inf)
    near = np.where(thresholds < 0, below, _ZERO)
    return np.where(np.abs(thresholds) <= _ZERO, near, thresholds)


def _covers(tree, n_leaves):
    found = _numbers(tree, "leaf_count", np.float64) if "leaf_count" in tree else ()
    return found if len(found) == n_leaves else np.ones(n_leaves)


def _sets(tree, columns, thresholds, is_set, categories, n_leaves):
    bounds = _numbers(tree, "cat_boundaries", np.int64)
    words = _numbers(tree, "cat_threshold", np.uint32)
    found = [None] * (len(columns) + n_leaves)
    for node in np.flatnonzero(is_set):
        number = int(thresholds[node])
        bits = words[bounds[number] : bounds[number + 1]].astype("<u4").view(np.uint8)
        members = np.flatnonzero(np.unpackbits(bits, bitorder="little"))
        known = categories.get(int(columns[node]))
        found[node] = members if known is None else known[members[members < len(known)]]
    return tuple(found)


def _predictor(booster, categories, share):
    def raw_scores(X):
        found = booster.predict(recoded(X, categories), raw_score=True, num_threads=1)
        return share * found.reshape(len(X), -1)

    return raw_scores


def _meaning(model, objective, settings, n_outputs):
    classes = class_labels(model)
    may_classify = classes is not None or not hasattr(model, "booster_")
    if may_classify and objective in ("binary", "multiclass", "multiclassova"):
        # one against the rest gives chances that do not add up to 1
        own = None if objective == "multiclassova" else "log_loss"
        steepness = float(settings.get("sigmoid", 1.0))
        labels = classes_or_numbers(classes, n_outputs)
        return {"classes": labels, "link": own, "loss": own, "steepness": steepness}
    if classes is not None or objective not in (*_LOSSES, *_LOG_LINK, *_PLAIN):
        raise not_read_objective("LightGBM", objective)
    link = "log" if objective in _LOG_LINK else None
    return {"link": link, "loss": _LOSSES.get(objective, objective)}
