"""Everything that a predictor's description can say wrongly, one lie at a time.

A description is walked through; what stands at each place says which lies can be told there.
"""

import numpy as np

from .crafted import items, part, put, put_array

_HUGE = 10**400
_NAN = {"$": "number", "value": "nan"}

_INFINITE = ({"$": "number", "value": "inf"}, {"$": "number", "value": "-inf"})
_NO_NUMBERS = (None, True, "1", [], items(), _NAN, *_INFINITE, _HUGE)
_NO_COUNTS = (None, True, "1", 1.0, [], _NAN, -1, 10**9, _HUGE)
_NO_ARRAYS = (
    0, 1.5, "x", True, [0.5], items(0.5), _NAN,
    {"$": "array", "number": -1}, {"$": "array", "number": 10**6}, {"$": "array", "number": True},
    {"$": "array", "number": "0"}, {"$": "array", "number": 0.0}, {"$": "array"},
)  # fmt: skip
_NO_PARTS = (None, 1, "Linear", [], items(), part("Unheard"), part("linear"), {"$": "part"}, {})

_COUNTS = {"n_neighbors", "count", "n_features"}
_PLACES = {"columns", "owners"}
_NOT_NEGATIVE = {"ridge", "gamma", "coef0", "width", "factor", "margin", "scale"}
_OPTIONAL = {"metric", "intercept"}
# Compiled code takes all arrays of these in one precision.
_ONE_PRECISION = {
    "LocallyLinear", "SoftAssignment", "InverseDistance", "ReconstructionCodes", "TreePath",
    "TreeLeaves", "LinkedTree", "Affine", "Quadratic", "Forest", "ForestGate", "Hinges",
}  # fmt: skip

_ANY_PRECISION = ("LocallyLinear", "intercept")
# What is no lie of a forest: its last node is a leaf, and some arrays may be empty or infinite.
_NO_LIES = {
    ("ForestGate", "thresholds"): ("inf", "-inf"),
    ("ForestGate", "columns"): ("-1",),
    ("ForestGate", "sets"): ("-1",),
    ("ForestGate", "missing_left"): ("bytes without sign",),
    ("Forest", "root"): ("axis 1 empty",),
    ("Forest", "fill"): ("axis 0 empty",),
    ("Forest", "covers"): ("another precision",),
}


def lies(header, arrays):
    """Pairs of words and an edit that makes the predictor of such a header impossible."""
    yield from _about_part(header["predictor"], ())
    for path, kind, value in _places(header["predictor"], ()):
        where = " ".join(map(str, path))
        for lie, edit in _lies_at(path, kind, value, arrays):
            yield f"{where}: {lie}", edit


def _places(description, path, kind=None):
    """Every field and item within a description, and the kind of part that it belongs to."""
    if description["$"] == "object":
        kind, inside = description["kind"], description["fields"].items()
    else:
        inside = enumerate(description["items"])
    for step, value in inside:
        yield (*path, step), kind, value
        if isinstance(value, dict) and value["$"] in ("object", "tuple"):
            yield from _places(value, (*path, step), kind)


def _lies_at(path, kind, value, arrays):
    name = next(step for step in reversed(path) if isinstance(step, str))
    mark = value["$"] if isinstance(value, dict) else None
    if mark == "array":
        yield from _about_array(path, kind, name, arrays[value["number"]])
    elif mark == "csr":
        yield from _about_sparse(path, value, arrays)
    elif mark == "tuple":
        yield from _values(path, (None, 3, "x", items(None), items(*value["items"], None)))
        if name != "calibrations":  # an average may have none
            yield from _values(path, (items(),))
    elif mark == "object":
        yield from _values(path, _NO_PARTS)
        yield from _about_part(value, path)
    elif isinstance(value, bool):
        yield from _values(path, (None, 0, 1, 1.0, "true", _NAN))
    elif isinstance(value, str):
        yield from _values(path, (None, 0, "", value.upper(), [value], items(value)))
    elif value is None:
        return
    elif name in _COUNTS:
        yield from _values(path, (*_NO_COUNTS, 0, float(value)))
    elif name in _PLACES:
        yield from _values(path, (*_NO_COUNTS, float(value)))
    else:
        is_bounded = name in _NOT_NEGATIVE or (kind, name) == ("SoftAssignment", "sharpness")
        yield from _values(path, (*_NO_NUMBERS, -0.5) if is_bounded else _NO_NUMBERS)


def _values(path, wrong):
    for value in wrong:
        yield str(value)[:40], put(*path, value)


def _about_part(description, path):
    for kind in ("Unheard", "", None, 1, True, [1], {}, ["Linear"]):
        yield f"{path} kind {kind!r}", _renamed(path, kind)
    yield f"{path} more fields", put(*path, "surplus", 1.0)
    yield f"{path} a field of the name kind", put(*path, "kind", "Linear")
    for name in description["fields"]:
        yield f"{path} no {name}", _without(path, name)


def _renamed(path, kind):
    def edit(header, arrays):
        _part_at(header, path)["kind"] = kind

    return edit


def _without(path, name):
    def edit(header, arrays):
        del _part_at(header, path)["fields"][name]

    return edit


def _part_at(header, path):
    place = header["predictor"]
    for step in path:
        place = place["items" if isinstance(step, int) else "fields"][step]
    return place


def _about_array(path, kind, name, array):
    yield from _values(path, _NO_ARRAYS if name in _OPTIONAL else (None, *_NO_ARRAYS))
    made = {"one axis more": lambda a: a[..., None], "no axes": lambda a: np.float64(1.0)}
    for axis, extent in enumerate(array.shape):
        if extent:
            made[f"axis {axis} shorter"] = lambda a, axis=axis: np.delete(a, -1, axis)
            made[f"axis {axis} longer"] = lambda a, axis=axis: np.insert(
                a, 0, a.take(0, axis), axis
            )
            # local models without weights are constants, which is no lie
            if (kind, name, axis) != ("LocallyLinear", "weights", 1):
                made[f"axis {axis} empty"] = lambda a, axis=axis: a.take([], axis)
    if array.dtype.kind == "f":
        made["whole numbers"] = lambda a: a.astype(np.int64)
        made["booleans"] = lambda a: a > 0
        if array.size and kind in _ONE_PRECISION and (kind, name) != _ANY_PRECISION:
            made["another precision"] = lambda a: a.astype(np.float32)
        if array.size:
            made |= {str(value): _with_value(value) for value in (np.nan, np.inf, -np.inf)}
        if name in ("gammas", "metric"):
            made["negative"] = _with_value(-0.5)
    else:
        made["floats"] = lambda a: a.astype(np.float64)
        made["booleans"] = lambda a: a > 0
        made["bytes without sign"] = lambda a: a.astype(np.uint8)
        wrong = (2, 255) if array.dtype == np.uint8 else (-1, 10**6)
        made |= {str(value): _with_value(value) for value in wrong if array.size}
        if name == "kernels":
            made["out of order"] = lambda a: a[::-1]
    for lie, change in made.items():
        if lie not in _NO_LIES.get((kind, name), ()):
            yield lie, put_array(*path, change)


def _with_value(value):
    def change(array):
        array = array.copy()
        array.ravel()[-1] = value
        return array

    return change


def _about_sparse(path, description, arrays):
    n_rows, width = description["shape"]
    shapes = ([n_rows], [n_rows, width, 1], [n_rows + 1, width], [n_rows, width + 1], None, "x")
    shapes += ([float(n_rows), float(width)], [n_rows, str(width)], [-1, width], [True, width])
    shapes += ([_HUGE, width], [n_rows, _HUGE], [float(n_rows), width], [n_rows, float(width)])
    for shape in shapes:
        yield f"shape {str(shape)[:30]}", _sparse_edit(path, "shape", shape)
    wrong = {
        "data": (lambda a: a[:-1], _with_value(np.nan), lambda a: a.astype(np.int64)),
        "indices": (
            lambda a: a[:-1], _with_value(-1), _with_value(width), lambda a: a.astype(np.float64),
            lambda a: a[:, None],
        ),
        "indptr": (
            lambda a: a[:-1], lambda a: a + 1, _with_value(4), _with_value(6), lambda a: a[::-1],
            lambda a: np.array([0, 3, 2, 3, 5]), lambda a: np.array([0, -1, 2, 3, 5]),
            lambda a: a.astype(np.float64),
        ),
    }  # fmt: skip
    for name, changes in wrong.items():
        for number, change in enumerate(changes):
            yield f"{name} {number}", _sparse_array_edit(path, name, change)
        for value in (None, 1, [], items(), {"$": "array", "number": 10**6}):
            yield f"{name} {value}", _sparse_edit(path, name, value)


def _sparse_edit(path, name, value):
    def edit(header, arrays):
        _part_at(header, path)[name] = value

    return edit


def _sparse_array_edit(path, name, change):
    def edit(header, arrays):
        place = _part_at(header, path)
        arrays.append(change(arrays[place[name]["number"]]))
        place[name] = {"$": "array", "number": len(arrays) - 1}

    return edit
