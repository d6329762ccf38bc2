"""Transformers as data: a known class, its parameters and what it has learned."""

import math
import re
from inspect import Parameter, signature

import numpy as np
from scipy.interpolate import BSpline
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from ..estimators.forests.pair_features import PairFeatures
from ..preparation.pieces import MOST_KNOTS
from ..runtime.container import ModelFileError

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
        SplineTransformer,
        PairFeatures,
        FunctionTransformer,  # what a ColumnTransformer passes through
        SimpleImputer,
        MissingIndicator,
        ColumnTransformer,
        Pipeline,
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
    return dict(sorted(state.items()))  # so that a loaded model gives the same bytes again


def restored_transformer(kind, state):
    """A transformer of a known class with these attributes."""
    if not isinstance(kind, str) or kind not in TRANSFORMERS:
        raise ModelFileError(f"The model has a step of the unknown kind {repr(kind)[:40]}.")
    cls = TRANSFORMERS[kind]
    if not all(_NAME.fullmatch(name) and not hasattr(cls, name) for name in state):
        raise ModelFileError(f"The model's {kind} has attributes that none has.")
    state = _of_older_releases(cls) | state
    if kind == "OneHotEncoder":
        state |= _encoder_state(state)
    if kind == "SplineTransformer":
        state |= _spline_state(state)
    if kind == "SimpleImputer" and isinstance(state.get("statistics_"), np.ndarray):
        state.setdefault(
            "_fill_dtype", state["statistics_"].dtype
        )  # which older releases do not have
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


def _encoder_state(state):
    """What an encoder derives from its categories; compiled code trusts it, so it is made anew."""
    if "categories_" not in state:
        return {}
    categories, dropped = state["categories_"], state.get("drop_idx_")
    if dropped is None:
        dropped = [None] * len(categories)
    good = isinstance(categories, list) and len(dropped) == len(categories)
    good = good and all(_are_ordered(values) for values in categories)
    good = good and all(
        left_out is None or (type(left_out) is int and 0 <= left_out < len(values))
        for left_out, values in zip(dropped, categories)
    )
    if not good:
        raise ModelFileError("The model's OneHotEncoder has categories that no fit leaves.")
    return {
        "_infrequent_enabled": False,
        "_drop_idx_after_grouping": state.get("drop_idx_"),
        "_n_features_outs": [len(v) - (d is not None) for v, d in zip(categories, dropped)],
    }


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
        found = values.tolist()
        return all(isinstance(v, str) or (isinstance(v, float) and math.isnan(v)) for v in found)
    numbers = values[:-1] if len(values) and values[-1] != values[-1] else values
    return bool(np.all(numbers[1:] > numbers[:-1]))
