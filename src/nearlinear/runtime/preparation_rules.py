"""The preparation that a model file describes, checked."""

from dataclasses import replace

import numpy as np

from .columns.curves import NORMAL
from .columns.readings import NUMBER, UNITS, UNKNOWN, Reading, is_category
from .container import ModelFileError
from .parts import parse
from .preparation import Preparation

_ARRAYS = ("source", "missing", "shift", "scale", "low", "high", "equals")
FIELDS = (*_ARRAYS, "readings", "curves", "fold", "matrix", "offset")
_LONGEST = 16  # chains


def preparation_of(header, arrays, n_features):
    """The preparation that a header describes, checked, or None."""
    found = header["preparation"]
    return None if found is None else _chain(found, arrays, n_features)


def _chain(found, arrays, n_features, depth=0):
    """A table, or tables that are applied one after the other."""
    if depth > _LONGEST:
        raise ModelFileError(f"The model file's preparation has more than {_LONGEST} tables.")
    if not isinstance(found, dict) or "before" not in found:
        return _checked(_table(found, arrays), n_features)
    before = _chain(found["before"], arrays, n_features, depth + 1)
    after = _checked(_table(found.get("after"), arrays), before.width)
    if after.readings is not None:
        raise ModelFileError("The model file reads categories of columns that are numbers.")
    return replace(after, n_features=n_features, before=before)


def _table(found, arrays):
    if not isinstance(found, dict) or not set(FIELDS) <= set(found):
        raise ModelFileError("The model file's preparation is described wrongly.")
    return {name: parse(found[name], arrays) for name in FIELDS}


def _checked(found, n_features):
    found["readings"] = readings = _readings(found["readings"], n_features)
    source, n_inputs = found["source"], n_features + len(readings or ())
    width = n_inputs if source is None else np.size(source)
    good = width >= 1 and (found["low"] is None) == (found["high"] is None)
    for name in _ARRAYS:
        array = found[name]
        kind = "i" if name == "source" else "f"
        is_array = isinstance(array, np.ndarray) and array.shape == (width,)
        good = good and (array is None or (is_array and array.dtype.kind == kind))
    good = good and _are_numbers(found, n_inputs) and _is_mixing(found, width)
    good = good and _are_folds(found["fold"], width)
    if good and found["curves"] is not None:
        curves = _list(found["curves"], width)
        places = np.arange(n_inputs) if source is None else source
        known = {n_features + k: one for k, one in enumerate(readings or ())}
        sizes = {place: len(one.of) for place, one in known.items() if one.is_of_categories}
        pairs = zip(curves, places.tolist())
        found["curves"] = tuple(_curve(one, sizes.get(place)) for one, place in pairs)
        is_bent = np.array([curve is not None for curve in curves])
        good = found["equals"] is None or bool(np.all(np.isnan(found["equals"][is_bent])))
    if not good:
        raise ModelFileError("The model file's preparation is not one of its features.")
    return Preparation(n_features, **found)


def _are_numbers(found, n_inputs):
    source, shift, scale = found["source"], found["shift"], found["scale"]
    good = source is None or (source.min() >= 0 and source.max() < n_inputs)
    good = good and (shift is None or np.all(np.isfinite(shift)))
    # a piece may fall
    least = 0.0 if found["fold"] is None else -np.inf
    is_scale = scale is None or (np.all(np.isfinite(scale)) and np.all(scale != 0.0))
    good = good and is_scale and (scale is None or np.all(scale > least))
    for name in ("missing", "equals"):
        good = good and (found[name] is None or not np.any(np.isinf(found[name])))
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


def _readings(found, n_features):
    if found is None:
        return None
    return tuple(_reading(*_list(one, 3), n_features) for one in _list(found))


def _reading(column, of, unknown, n_features):
    good = type(column) is int and 0 <= column < n_features
    good = good and isinstance(unknown, str) and unknown in UNKNOWN
    if good and not isinstance(of, str):
        of = _list(of)
        good = all(is_category(one) for one in of) and len(set(of)) == len(of)
        good = good and len({isinstance(one, str) for one in of}) <= 1
    if not good or (isinstance(of, str) and of not in (*UNITS, NUMBER)):
        raise ModelFileError("The model file's categories are described wrongly.")
    return Reading(column, of, unknown)


def _curve(found, n_categories):
    """A pair of knots and values; without knots, of the categories of a column; or a name."""
    if found is None or (isinstance(found, str) and found == NORMAL):
        return found
    knots, values = _list(found, 2)
    good = _are_floats(values) and len(values) > 0
    if knots is None:
        good = good and n_categories is not None and len(values) == n_categories + 1
    else:
        good = good and _are_floats(knots) and len(knots) == len(values)
        good = good and bool(np.all(knots[1:] >= knots[:-1]))
    if not good:
        raise ModelFileError("The model file's curves are described wrongly.")
    return knots, values


def _are_floats(array):
    is_row = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == np.float64
    return is_row and bool(np.all(np.isfinite(array)))


def _list(value, length=None):
    if not isinstance(value, list | tuple) or length not in (None, len(value)):
        raise ModelFileError("The model file's categories are described wrongly.")
    return tuple(value)
