"""Transformers as data: a known class, its parameters and what it has learned."""

import re
from inspect import Parameter, signature

import numpy as np
from scipy.interpolate import BSpline
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

from ..preparation.pieces import MOST_KNOTS
from ..runtime.container import ModelFileError
from ..tables.date_parts import DateParts
from ..tables.encoder import TableEncoder
from ..tables.normal_scores import NormalScores

TRANSFORMERS = {
    cls.__name__: cls
    for cls in (
        StandardScaler,
        MinMaxScaler,
        MaxAbsScaler,
        RobustScaler,
        PCA,
        TruncatedSVD,
        OneHotEncoder,
        OrdinalEncoder,
        TargetEncoder,
        KFold,  # by which a TargetEncoder is fitted
        StratifiedKFold,
        QuantileTransformer,
        KBinsDiscretizer,
        SplineTransformer,
        FunctionTransformer,  # what a ColumnTransformer passes through
        SimpleImputer,
        MissingIndicator,
        ColumnTransformer,
        Pipeline,
        TableEncoder,
        NormalScores,
        DateParts,
    )
}
# Caches and processes belong to a machine, not to a model.
_OF_A_MACHINE = {"memory": None, "n_jobs": None}
_DTYPE = re.compile(r"[<|][biufOSU]\d{0,6}")
_NAME = re.compile(r"_?[A-Za-z][A-Za-z0-9_]*")


def is_transformer(value):
    return TRANSFORMERS.get(type(value).__name__) is type(value)


def transformer_state(value):
    """Attributes of a transformer, those that hold code or a machine's own replaced."""
    state = dict(vars(value))
    state |= {name: none for name, none in _OF_A_MACHINE.items() if name in state}
    if hasattr(value, "transformers_"):  # selectors are code: what they chose is not
        chosen = {name: columns for name, _, columns in value.transformers_}
        state["transformers"] = [
            (name, step, chosen[name] if callable(columns) else columns)
            for name, step, columns in value.transformers
        ]
    if "bsplines_" in state:  # which their knots tell
        state["bsplines_"] = [one.t for one in value.bsplines_]
    if "_fill_dtype" in state and state["_fill_dtype"] == state["statistics_"].dtype:
        del state["_fill_dtype"]  # scikit-learn 1.6 does not have it; loading restores it
    return dict(sorted(state.items()))  # so that a loaded model gives the same bytes again


def restored_transformer(kind, state):
    """A transformer of a known class with these attributes."""
    if not isinstance(kind, str) or kind not in TRANSFORMERS:
        raise ModelFileError(f"The model has a step of the unknown kind {repr(kind)[:40]}.")
    cls = TRANSFORMERS[kind]
    if not all(_NAME.fullmatch(name) and not hasattr(cls, name) for name in state):
        raise ModelFileError(f"The model's {kind} has attributes that none has.")
    state = _of_older_releases(cls) | state
    if kind in ("OneHotEncoder", "OrdinalEncoder", "TargetEncoder"):
        state |= _encoder_state(kind, state)
    if kind == "SplineTransformer":
        state |= _spline_state(state)
    if kind == "SimpleImputer" and isinstance(state.get("statistics_"), np.ndarray):
        state.setdefault("_fill_dtype", state["statistics_"].dtype)
    state |= {name: none for name, none in _OF_A_MACHINE.items() if name in state}
    step = cls.__new__(cls)
    vars(step).update(state)
    return step


def _of_older_releases(cls):
    """Defaults of all parameters: a file may be older than some of them."""
    found = signature(cls).parameters.values()
    return {one.name: one.default for one in found if one.default is not Parameter.empty}


def dtype_text(value):
    """How the file spells a type of numbers; None for what is none."""
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"$": "type", "name": np.dtype(value).str}
    return {"$": "dtype", "name": value.str} if isinstance(value, np.dtype) else None


def restored_dtype(mark, name):
    if not isinstance(name, str) or not _DTYPE.fullmatch(name):
        raise ModelFileError(f"The model has the unknown type {repr(name)[:40]}.")
    return np.dtype(name) if mark == "dtype" else np.dtype(name).type


def _encoder_state(kind, state):
    """What an encoder derives from its categories; compiled code trusts it, so it is made anew."""
    if "categories_" not in state:
        return {}
    categories, dropped = state["categories_"], state.get("drop_idx_")
    good = isinstance(categories, list) and all(_are_ordered(values) for values in categories)
    nothing = [None] * len(categories) if good else []
    dropped = nothing if dropped is None else dropped
    rare = state.get("_infrequent_indices", nothing)
    good = good and isinstance(rare, list) and len(rare) == len(dropped) == len(categories)
    good = good and all(
        left_out is None or (type(left_out) is int and 0 <= left_out < len(values))
        for left_out, values in zip(dropped, categories)
    )
    good = good and all(_are_places(some, len(values)) for some, values in zip(rare, categories))
    if not good:
        raise ModelFileError(f"The model's {kind} has categories that no fit leaves.")
    found = {"_infrequent_enabled": "_infrequent_indices" in state}
    gaps = {}
    if kind == "OrdinalEncoder":
        gaps = {c: len(v) - 1 for c, v in enumerate(categories) if len(v) and v[-1] != v[-1]}
        found["_missing_indices"] = gaps
    counts = [len(values) - (column in gaps) for column, values in enumerate(categories)]
    groups = [None if some is None else _grouped(some, count) for some, count in zip(rare, counts)]
    if found["_infrequent_enabled"]:
        found["_default_to_infrequent_mappings"] = groups
    if kind == "OneHotEncoder":
        after = [d if d is None or g is None else int(g[d]) for d, g in zip(dropped, groups)]
        is_whole = state.get("drop_idx_") is None
        found["_drop_idx_after_grouping"] = None if is_whole else np.array(after, dtype=object)
        found["_n_features_outs"] = [
            (count if group is None else int(group.max()) + 1) - (left_out is not None)
            for count, group, left_out in zip(counts, groups, dropped)
        ]
    return found


def _are_places(found, count):
    """Whether these are some of the numbers below ``count``, ascending; or None."""
    if found is None:
        return True
    good = isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind == "i"
    good = good and 0 < len(found) <= count and found[0] >= 0 and found[-1] < count
    return good and bool(np.all(found[1:] > found[:-1]))


def _grouped(rare, count):
    """Numbers of categories once the rare ones are the last."""
    is_rare = np.isin(np.arange(count), rare)
    return np.where(is_rare, count - is_rare.sum(), np.cumsum(~is_rare) - 1)


def _spline_state(state):
    """Splines of their knots; compiled code trusts them, so they are made anew."""
    if "bsplines_" not in state:
        return {}
    knots = state["bsplines_"]
    good = isinstance(knots, list) and len(knots) > 0 and state.get("degree") == 1
    good = good and all(isinstance(t, np.ndarray) and t.shape == knots[0].shape for t in knots)
    good = good and knots[0].ndim == 1 and 4 <= len(knots[0]) <= MOST_KNOTS + 2
    good = good and all(
        t.dtype == np.float64 and np.all(np.isfinite(t)) and np.all(np.diff(t) >= 0) for t in knots
    )
    if not good:
        raise ModelFileError("The model's SplineTransformer has knots that no fit leaves.")
    each, goes_on = np.eye(len(knots[0]) - 2), state.get("extrapolation") == "continue"
    return {"bsplines_": [BSpline.construct_fast(t, each, 1, extrapolate=goes_on) for t in knots]}


def _are_ordered(values):
    """Whether numbers ascend, NaN last, as the search among them asks for."""
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return False
    if values.dtype.kind in "OSU":
        return all(v is None or isinstance(v, str | int | float) for v in values.tolist())
    numbers = values[:-1] if len(values) and values[-1] != values[-1] else values
    return bool(np.all(numbers[1:] > numbers[:-1]))
