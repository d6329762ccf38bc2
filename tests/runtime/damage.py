"""Random damage: to the bytes of a file, and to its content with all checksums made right again."""

import copy

import numpy as np
from runtime.crafted import CALIBRATIONS, GATES, KERNELS, METHODS

_KINDS = [*METHODS, *KERNELS, *GATES, "SoftAssignment", "TanhNode", "ForestGate"]
_KINDS += [*CALIBRATIONS, "Threshold", "Outcome"]
_MARKS = ["array", "csr", "tuple", "dict", "number", "strings", "objects", "object", "code"]
_VALUES = [
    None, True, False, 0, 1, 2, 3, -1, 7, 2**20, 2**31, 10**9, 2**53, 10**400, 0.0, 0.5, -1.5,
    1e-300, 1e300, "", "x", "a", "auto", "log_loss", "precomputed", [], [1], {},
    {"$": "array", "number": 0}, {"$": "array", "number": 1},
    {"$": "number", "value": "nan"}, {"$": "number", "value": "inf"},
    {"$": "array", "number": 0, "as": "<f2"}, {"$": "array", "number": 1, "as": "<i2"},
    {"$": "tuple", "items": []}, {"$": "tuple", "items": [0, 1]}, {"$": "dict", "items": []},
    {"$": "object", "kind": "Linear", "fields": {}},
]  # fmt: skip
_WHOLE = [0, 1, -1, 2, 3, 100, 2**31 - 1, -(2**31), 2**40, 2**63 - 1, -(2**63)]
_FACTORS = [0.0, 1e-200, 1e-30, 1e-3, -1.0, 0.5, 1e3, 1e30, 1e200]
_NUMBERS = [0.0, 1.0, -1.0, 0.5, 1e30, 1e300, -1e300, 5e-324, np.nan, np.inf, -np.inf]


def damage_bytes(data, rng):
    """One accident that a disk or a transfer might have."""
    data, kind = bytearray(data), rng.integers(7)
    start = int(rng.integers(len(data)))
    span = slice(start, start + int(rng.integers(1, 20)))
    if kind == 0:
        for place in rng.integers(8 * len(data), size=rng.integers(1, 9)):
            data[place // 8] ^= 1 << int(place) % 8
    elif kind == 1:
        del data[start:]
    elif kind == 2:
        del data[span]
    elif kind == 3:
        data[start:start] = rng.bytes(int(rng.integers(1, 20)))
    elif kind == 4:
        data[span] = rng.bytes(len(data[span]))
    elif kind == 5:
        data[start:start] = data[span]
    else:
        other = int(rng.integers(len(data)))
        data[start], data[other] = data[other], data[start]
    return bytes(data)


def damage_content(header, arrays, rng):
    """One to three changes of a header or its arrays; what is given stays as it is."""
    header, arrays = copy.deepcopy(header), list(arrays)
    for _ in range(rng.integers(1, 4)):
        if arrays and rng.random() < 0.4:
            number = int(rng.integers(len(arrays)))
            arrays[number] = _damaged_array(arrays[number], rng)
        else:
            _damage_header(header, rng)
    return header, arrays


def _damaged_array(array, rng):
    kind = rng.integers(8)
    if kind >= 6 and array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return array * array.dtype.type(_FACTORS[rng.integers(len(_FACTORS))])
    if kind >= 6 and array.dtype.kind == "i" and array.ndim == 1 and len(array) >= 4:
        span, start = np.iinfo(array.dtype), int(rng.integers(1, len(array) - 2))
        array = array.copy()
        array[start : start + 3] = span.max, span.min, -1  # their differences wrap
        return array
    if kind == 0:
        types = ["f4", "f8", "i4", "i8", "i1", "u1", "?"]
        with np.errstate(invalid="ignore", over="ignore"):
            return array.astype(types[rng.integers(len(types))])
    if kind == 1:
        return array.T
    if kind == 2:
        return array.reshape(-1)
    if kind == 3 and array.ndim:
        axis = int(rng.integers(array.ndim))
        return array.take(range(int(rng.integers(array.shape[axis] + 1))), axis)
    if kind == 4:
        return np.concatenate([array, array]) if array.ndim else array[None]
    array = array.copy()
    if array.size:
        value = _NUMBERS[rng.integers(len(_NUMBERS))]
        if array.dtype.kind in "iu":
            span = np.iinfo(array.dtype)
            value = int(np.clip(_WHOLE[rng.integers(len(_WHOLE))], span.min, span.max))
        elif array.dtype.kind == "b":
            value = bool(rng.integers(2))
        with np.errstate(over="ignore"):
            array.reshape(-1)[rng.integers(array.size)] = value
    return array


def _damage_header(header, rng):
    places = list(_places(header))
    holder, key = places[rng.integers(len(places))]
    kind = rng.integers(8)
    if kind >= 6 and type(holder[key]) in (int, float):
        holder[key] = _moved(holder[key], rng)
    elif kind == 0:
        del holder[key]
    elif kind == 1:
        other, other_key = places[rng.integers(len(places))]
        holder[key] = copy.deepcopy(other[other_key])
    elif kind == 2 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif kind == 3 and isinstance(holder[key], dict) and "kind" in holder[key]:
        holder[key]["kind"] = _KINDS[rng.integers(len(_KINDS))]
    elif kind == 4 and isinstance(holder[key], dict) and "$" in holder[key]:
        holder[key]["$"] = _MARKS[rng.integers(len(_MARKS))]
    else:
        holder[key] = copy.deepcopy(_VALUES[rng.integers(len(_VALUES))])


def _moved(value, rng):
    """A number near by, or of another size."""
    if isinstance(value, int):
        return value + int(rng.integers(-2, 3))
    return float(np.clip(value * _FACTORS[rng.integers(len(_FACTORS))], -1e308, 1e308))


def _places(value):
    """Every list or dictionary with each of its keys."""
    if isinstance(value, dict | list):
        for key in range(len(value)) if isinstance(value, list) else list(value):
            yield value, key
            yield from _places(value[key])
