"""Objects as data: registered classes by name and fields, arrays by number, no code.

A value is JSON's own (null, booleans, numbers, strings, lists), or an object with "$":

    {"$": "array", "number": k}                       the k-th array of the file; "as": its type,
                                                      where it is kept as a wider one
    {"$": "csr", "shape": [n, d], "data": ..., "indices": ..., "indptr": ...}
    {"$": "tuple", "items": [...]}, {"$": "dict", "items": [[key, value], ...]}
    {"$": "number", "value": "inf" | "-inf" | "nan"}
    {"$": "strings", "items": [...]}                  a one-dimensional array of strings
    {"$": "objects", "items": [...]}                  the same, of Python objects
    {"$": "object", "kind": name, "fields": {...}}    a kind of ``kinds.py``
    {"$": "transformer", "kind": name, "state": {...}}  a step of scikit-learn's before a model
    {"$": "slice", "items": [...]}, {"$": "dtype" | "type", "name": "<f8"}    what steps hold
"""

import math
from collections import UserList
from dataclasses import fields, is_dataclass

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..kinds import NOT_IN, STAYS, class_of, family_of, kind_of, stranger
from ..runtime.container import ModelFileError
from ..runtime.parts import KEPT_AS, as_kept, check_csr, check_strings
from .stored_steps import (
    dtype_text,
    is_transformer,
    restored_dtype,
    restored_transformer,
    transformer_state,
)

_DEEPEST = 50


class NotData(TypeError):
    """Something that is code, or of a class that no file may hold."""


def describe(value, arrays):
    """``value`` as JSON; the arrays in it are appended to ``arrays``."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic) and value.ndim == 0:
        return describe(value.item(), arrays)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$": "number", "value": str(value)}
    if isinstance(value, np.ndarray):
        return _describe_array(value, arrays)
    if issparse(value):
        value = csr_matrix(value)
        parts = {name: describe(getattr(value, name), arrays) for name in _CSR}
        return {"$": "csr", "shape": list(value.shape), **parts}
    if isinstance(value, UserList):  # so scikit-learn 1.6 and 1.7 keep the columns of a remainder
        value = value.data
    if isinstance(value, list):
        return [describe(item, arrays) for item in value]
    if isinstance(value, tuple | range):
        return {"$": "tuple", "items": [describe(item, arrays) for item in value]}
    if isinstance(value, dict):
        items = [[describe(key, arrays), describe(item, arrays)] for key, item in value.items()]
        return {"$": "dict", "items": items}
    kind = kind_of(value)
    if kind in STAYS:
        raise NotData(NOT_IN["check"][kind].rstrip("."))
    if kind is not None and is_dataclass(value):
        parts = {
            field.name: describe(getattr(value, field.name), arrays) for field in fields(value)
        }
        return {"$": "object", "kind": kind, "fields": parts}
    if is_transformer(value):
        state = {key: describe(item, arrays) for key, item in transformer_state(value).items()}
        return {"$": "transformer", "kind": type(value).__name__, "state": state}
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return {"$": "slice", "items": [describe(end, arrays) for end in ends]}
    if (found := dtype_text(value)) is not None:
        return found
    named = getattr(value, "__name__", None) or f"an object of {type(value).__name__}"
    raise NotData(f"{named} is no data that a model file can hold")


_CSR = ("data", "indices", "indptr")


def _describe_array(value, arrays):
    if value.dtype.kind in "US":
        return {"$": "strings", "items": value.tolist()}
    if value.dtype.kind == "O":
        return {"$": "objects", "items": [describe(item, arrays) for item in value.tolist()]}
    for number, known in enumerate(arrays):  # a model names some of its arrays twice
        if known is value:
            return {"$": "array", "number": number}
    if value.dtype.newbyteorder("<").str in KEPT_AS:
        wide = value.astype(np.float32 if value.dtype.kind == "f" else np.int64)
        if value.dtype.itemsize < 8 or np.array_equal(wide, value):
            arrays.append(wide)
            kept = value.dtype.newbyteorder("<").str
            return {"$": "array", "number": len(arrays) - 1, "as": kept}
    arrays.append(value)
    return {"$": "array", "number": len(arrays) - 1}


def restore(value, arrays, depth=0):
    """The inverse of ``describe``."""
    if depth > _DEEPEST:
        raise ModelFileError("The model is nested too deeply.")
    if value is None or isinstance(value, bool | int | float | str):
        return value

    def inner(item):
        return restore(item, arrays, depth + 1)

    if isinstance(value, list):
        return [inner(item) for item in value]
    mark = value.get("$") if isinstance(value, dict) else None
    try:
        if mark == "array":
            return as_kept(arrays[_index(value["number"], len(arrays))], value.get("as"))
        if mark == "csr":
            parts = tuple(inner(value[name]) for name in _CSR)
            check_csr(value["shape"], *parts)
            return csr_matrix(parts, shape=tuple(value["shape"]))
        if mark == "tuple":
            return tuple(inner(item) for item in value["items"])
        if mark == "dict":
            return {inner(key): inner(item) for key, item in value["items"]}
        if mark == "number":
            return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["value"]]
        if mark == "strings":
            return np.array(check_strings(value["items"]), dtype=str)
        if mark == "objects":
            items = np.empty(len(value["items"]), dtype=object)
            items[:] = [inner(item) for item in value["items"]]
            return items
        if mark == "object":
            return _restored_object(value["kind"], value["fields"], inner)
        if mark == "transformer":
            state = {name: inner(item) for name, item in value["state"].items()}
            return restored_transformer(value["kind"], state)
        if mark == "slice":
            return slice(*(inner(end) for end in value["items"]))
        if mark in ("dtype", "type"):
            return restored_dtype(mark, value["name"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The model's {mark} is described wrongly.") from error
    raise ModelFileError("The model holds something that is no description of data.")


def _index(number, count):
    if type(number) is not int or not 0 <= number < count:
        raise ModelFileError(f"The model asks for array {repr(number)[:40]} of {count}.")
    return number


def _restored_object(kind, parts, inner):
    if not isinstance(kind, str) or family_of(kind) is None or kind in STAYS:
        raise ModelFileError(f"The model has a part of {stranger(kind)}.")
    cls = class_of(kind)
    if set(parts) != {field.name for field in fields(cls)}:
        raise ModelFileError(f"The model's {kind} does not have the fields of one.")
    return cls(**{name: inner(item) for name, item in parts.items()})
