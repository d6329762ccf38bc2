"""A description as plain parts, with its arrays filled in."""

import math
from types import SimpleNamespace

import numpy as np

from ..kinds import rule
from .container import ModelFileError

_DEEPEST = 50


# Types of labels that are kept as wider ones.
KEPT_AS = ("<i2", "<u2", "<u4", "<u8", "<f2")
# Types of sparse rows.
_NUMBERS, _WHOLE = (np.float32, np.float64, np.int32, np.int64, np.bool_), (np.int32, np.int64)


class Part(SimpleNamespace):
    """A kind and its fields."""


def values_of(part, rows):
    """What a checked part makes of rows; of a kernel, of pairs of rows."""
    return rule("score", part.kind, ModelFileError)(part, rows)


def precision_of(part):
    """The precision that a predictor works in."""
    if part.kind == "Forest":
        return part.gate.thresholds.dtype
    for name in ("weights", "coefficients"):
        array = getattr(part, name, None)
        array = array[0] if isinstance(array, tuple) and array else array
        if isinstance(array, np.ndarray):
            return array.dtype
    if members := getattr(part, "members", None):
        return np.result_type(*map(precision_of, members))
    for name in ("components", "predictor"):
        if hasattr(part, name):
            return precision_of(getattr(part, name))
    parts = getattr(part, "outputs", None)
    return np.dtype(np.float64) if parts is None else precision_of(parts[0])


def as_kept(array, kind):
    if kind is None:
        return array
    if kind not in KEPT_AS:
        raise ModelFileError(f"The model has an array of the unknown type {repr(kind)[:40]}.")
    return array.astype(np.dtype(kind).newbyteorder("="))


def check_strings(items):
    """Refuse what an array of strings cannot hold: NumPy cuts zeros off their end."""
    if not all(isinstance(item, str) and not item.endswith("\0") for item in items):
        raise ModelFileError("The model has strings that are none, or that end in a zero.")
    return items


def check_csr(shape, data, indices, indptr):
    """Hold the arrays of sparse rows against each other: compiled code trusts them.

    Neighbors are compared, since the difference of two starts can wrap around.
    """
    n_rows, width = shape
    good = all(type(extent) is int and 0 <= extent < 1 << 40 for extent in shape)
    for array, kinds in ((data, _NUMBERS), (indices, _WHOLE), (indptr, _WHOLE)):
        good = good and isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype in kinds
    good = good and indptr.shape == (n_rows + 1,) and indices.shape == data.shape
    good = good and indptr[0] == 0 and indptr[-1] == len(indices)
    good = good and np.all(indptr[1:] >= indptr[:-1])
    good = good and (len(indices) == 0 or (indices.min() >= 0 and indices.max() < width))
    if not good:
        raise ModelFileError("The model's sparse rows are damaged.")


def parse(value, arrays, marks=None, depth=0):
    """A description with its arrays filled in; objects become parts, or what ``marks`` make.

    These are functions (description, arrays, inner) by mark; ``inner`` parses what is inside.
    """
    if depth > _DEEPEST:
        raise ModelFileError("The model is nested too deeply.")
    if value is None or isinstance(value, bool | int | float | str):
        return value

    def inner(item):
        return parse(item, arrays, marks, depth + 1)

    if isinstance(value, list):
        return [inner(item) for item in value]
    mark = value.get("$") if isinstance(value, dict) else None
    make = (marks or MARKS).get(mark) if isinstance(mark, str) else None
    if make is None:
        raise ModelFileError("The model holds something that is no description of data.")
    try:
        return make(value, arrays, inner)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The model's {mark} is described wrongly.") from error


def _array(value, arrays, inner):
    number = value["number"]
    if type(number) is not int or not 0 <= number < len(arrays):
        raise ModelFileError(f"The model asks for array {repr(number)[:40]} of {len(arrays)}.")
    return as_kept(arrays[number], value.get("as"))


def _csr(value, arrays, inner):
    parts = {name: inner(value[name]) for name in ("shape", "data", "indices", "indptr")}
    check_csr(**parts)
    return Part(kind="csr", **parts)


def _object(value, arrays, inner):
    fields = value["fields"]
    if "kind" in fields:
        raise ModelFileError("The model has a field of the name kind.")
    return Part(kind=value["kind"], **{name: inner(fields[name]) for name in fields})


_NUMBER = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
MARKS = {
    "array": _array,
    "csr": _csr,
    "tuple": lambda value, arrays, inner: tuple(inner(item) for item in value["items"]),
    "dict": lambda value, arrays, inner: {inner(key): inner(item) for key, item in value["items"]},
    "number": lambda value, arrays, inner: _NUMBER[value["value"]],
    "strings": lambda value, arrays, inner: check_strings(value["items"]),
    "objects": lambda value, arrays, inner: [inner(item) for item in value["items"]],
    "object": _object,
}
