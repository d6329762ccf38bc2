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
from contextlib import suppress
from dataclasses import fields, is_dataclass

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..kinds import NOT_IN, STAYS, class_of, family_of, kind_of, stranger
from ..runtime.container import ModelFileError
from ..runtime.parts import KEPT_AS, MARKS, check_strings, parse
from .stored_steps import (
    dtype_text,
    is_transformer,
    restored_dtype,
    restored_transformer,
    transformer_state,
)


class NotData(TypeError):
    """Something that is code, or of a class that no file may hold."""


def data_of(values):
    """Those of a dictionary's values that a file can hold."""
    found = {}
    for name, value in values.items():
        with suppress(NotData):
            describe(value, [])
            found[name] = value
    return found


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


def restore(value, arrays):
    """The inverse of ``describe``."""
    return parse(value, arrays, _RESTORED)


def _csr(value, arrays, inner):
    found = MARKS["csr"](value, arrays, inner)
    return csr_matrix((found.data, found.indices, found.indptr), shape=tuple(found.shape))


def _objects(value, arrays, inner):
    items = np.empty(len(value["items"]), dtype=object)
    for place, item in enumerate(value["items"]):  # which may be arrays
        items[place] = inner(item)
    return items


def _object(value, arrays, inner):
    kind, parts = value["kind"], value["fields"]
    if not isinstance(kind, str) or family_of(kind) is None or kind in STAYS:
        raise ModelFileError(f"The model has a part of {stranger(kind)}.")
    cls = class_of(kind)
    if set(parts) != {field.name for field in fields(cls)}:
        raise ModelFileError(f"The model's {kind} does not have the fields of one.")
    return cls(**{name: inner(item) for name, item in parts.items()})


def _transformer(value, arrays, inner):
    state = {name: inner(item) for name, item in value["state"].items()}
    return restored_transformer(value["kind"], state)


def _dtype(value, arrays, inner):
    return restored_dtype(value["$"], value["name"])


_RESTORED = {
    **MARKS,
    "csr": _csr,
    "strings": lambda value, arrays, inner: np.array(check_strings(value["items"]), dtype=str),
    "objects": _objects,
    "object": _object,
    "transformer": _transformer,
    "slice": lambda value, arrays, inner: slice(*(inner(end) for end in value["items"])),
    "dtype": _dtype,
    "type": _dtype,
}
