"""A description as plain parts, with its arrays filled in."""

import math
from types import SimpleNamespace

import numpy as np

from .container import ModelFileError

_DEEPEST = 50


# Types of labels that are kept as wider ones.
KEPT_AS = ("<i2", "<u2", "<u4", "<u8", "<f2")


class Part(SimpleNamespace):
    """A kind and its fields."""


def as_kept(array, kind):
    if kind is None:
        return array
    if kind not in KEPT_AS:
        raise ModelFileError(f"The model has an array of the unknown type {repr(kind)[:40]}.")
    return array.astype(np.dtype(kind).newbyteorder("="))


def parse(value, arrays, depth=0):
    """A description with its arrays filled in; registered objects become parts."""
    if depth > _DEEPEST:
        raise ModelFileError("The model is nested too deeply.")
    if value is None or isinstance(value, bool | int | float | str):
        return value

    def inner(item):
        return parse(item, arrays, depth + 1)

    if isinstance(value, list):
        return [inner(item) for item in value]
    mark = value.get("$") if isinstance(value, dict) else None
    try:
        if mark == "array":
            number = value["number"]
            if type(number) is not int or not 0 <= number < len(arrays):
                raise ModelFileError(
                    f"The model asks for array {repr(number)[:40]} of {len(arrays)}."
                )
            return as_kept(arrays[number], value.get("as"))
        if mark == "tuple":
            return tuple(inner(item) for item in value["items"])
        if mark == "dict":
            return {inner(key): inner(item) for key, item in value["items"]}
        if mark == "number":
            return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value["value"]]
        if mark in ("strings", "objects"):
            return [inner(item) for item in value["items"]]
        if mark == "csr":
            parts = {name: inner(value[name]) for name in ("shape", "data", "indices", "indptr")}
            return Part(kind="csr", **parts)
        if mark == "object":
            names = value["fields"]
            if "kind" in names:
                raise ModelFileError("The model has a field of the name kind.")
            return Part(kind=value["kind"], **{name: inner(names[name]) for name in names})
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The model's {mark} is described wrongly.") from error
    raise ModelFileError("The model holds something that is no description of data.")
