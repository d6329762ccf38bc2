"""The preparation that a model file describes, checked."""

from dataclasses import replace

import numpy as np

from .container import ModelFileError
from .parts import parse
from .preparation import Preparation, is_category

_ARRAYS = ("source", "missing", "shift", "scale", "low", "high")
FIELDS = ("n_features", *_ARRAYS, "categories", "known")
MIXING = ("matrix", "offset")
_LONGEST = 16  # chains


def preparation_of(header, arrays, n_features):
    """The preparation that a header describes, checked, or None."""
    found = header.get("preparation")
    if found is None and header.get("scaler") is not None:  # as files had it before
        found = _scaler(parse(header["scaler"], arrays))
    elif found is not None:
        return _chain(found, arrays, n_features)
    return None if found is None else _checked(found, n_features)


def _chain(found, arrays, n_features, depth=0):
    """Tables that follow each other; a reader that knows no chains finds no table."""
    if depth > _LONGEST:
        raise ModelFileError(f"The model file's preparation has more than {_LONGEST} tables.")
    if not isinstance(found, dict) or "before" not in found:
        return _checked(_table(found, arrays), n_features)
    before = _chain(found["before"], arrays, n_features, depth + 1)
    after = _checked(_table(found.get("after"), arrays), before.width)
    return replace(after, n_features=n_features, before=before)


def _table(found, arrays):
    """Its parts; a reader that knows no mixing, or no second lines, finds none."""
    more = dict.fromkeys((*MIXING, "fold"))
    if isinstance(found, dict) and "mixed" in found:
        more, found = more | _part(found, MIXING, arrays), found["mixed"]
    if isinstance(found, dict) and "folded" in found:
        more, found = more | _part(found, ("fold",), arrays), found["folded"]
    return _part(found, FIELDS, arrays) | more


def _part(found, names, arrays):
    if not isinstance(found, dict) or not set(names) <= set(found):
        raise ModelFileError("The model file's preparation is described wrongly.")
    return {name: parse(found[name], arrays) for name in names}


def _scaler(scaler):
    if not isinstance(scaler, dict) or set(scaler) != {"mean", "scale"}:
        raise ModelFileError("The model file's scaler is described wrongly.")
    empty = dict.fromkeys((*FIELDS, *MIXING, "fold"))
    return {**empty, "n_features": None, "shift": scaler["mean"], "scale": scaler["scale"]}


def _checked(found, n_features):
    found = {**found, "n_features": n_features}
    source = found["source"]
    width = n_features if source is None else np.size(source)
    good = width >= 1 and (found["low"] is None) == (found["high"] is None)
    for name in _ARRAYS:
        array = found[name]
        kind = "i" if name == "source" else "f"
        is_array = isinstance(array, np.ndarray) and array.shape == (width,)
        good = good and (array is None or (is_array and array.dtype.kind == kind))
    good = good and _are_numbers(found, n_features) and _is_mixing(found, width)
    good = good and _are_folds(found["fold"], width)
    if good and found["categories"] is not None:
        found["categories"] = _list(found["categories"], width)
        good = all(c is None or is_category(c) for c in found["categories"])
    if good and found["known"] is not None:
        found["known"] = tuple(_known_pair(pair, n_features) for pair in _list(found["known"]))
    if not good:
        raise ModelFileError(
            "The model file's scaler or preparation is not one of its features."
        )  # fmt: skip
    return Preparation(**found)


def _are_numbers(found, n_features):
    source, shift, scale = found["source"], found["shift"], found["scale"]
    good = source is None or (source.min() >= 0 and source.max() < n_features)
    good = good and (shift is None or np.all(np.isfinite(shift)))
    # a piece may fall
    least = 0.0 if found["fold"] is None else -np.inf
    is_scale = scale is None or (np.all(np.isfinite(scale)) and np.all(scale != 0.0))
    good = good and is_scale and (scale is None or np.all(scale > least))
    good = good and (found["missing"] is None or not np.any(np.isinf(found["missing"])))
    return good and (found["low"] is None or np.all(found["low"] <= found["high"]))


def _are_folds(fold, width):
    if fold is None:
        return True
    good = isinstance(fold, np.ndarray) and fold.dtype.kind == "f" and fold.shape == (width, 4)
    good = good and np.all(np.isfinite(fold[:, :3])) and not np.any(np.isnan(fold[:, 3]))
    return bool(good and np.all(fold[:, 1] != 0.0))


def _is_mixing(found, width):
    matrix, offset = found["matrix"], found["offset"]
    if matrix is None or offset is None:
        return matrix is None and offset is None
    good = all(isinstance(a, np.ndarray) and a.dtype.kind == "f" for a in (matrix, offset))
    good = good and matrix.ndim == 2 and matrix.shape == (len(matrix), width) and len(matrix) > 0
    good = good and offset.shape == matrix.shape[:1]
    return bool(good and np.all(np.isfinite(matrix)) and np.all(np.isfinite(offset)))


def _known_pair(pair, n_features):
    source, values = _list(pair, 2)
    values = _list(values)
    good = type(source) is int and 0 <= source < n_features
    if not good or not all(is_category(value) for value in values):
        raise ModelFileError("The model file's known categories are described wrongly.")
    return source, values


def _list(value, length=None):
    if not isinstance(value, list | tuple) or length not in (None, len(value)):
        raise ModelFileError("The model file's categories are described wrongly.")
    return tuple(value)
