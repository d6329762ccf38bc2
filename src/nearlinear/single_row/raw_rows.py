"""Compiled passes from a raw row to the row that a model takes."""

import numpy as np

from .._compile import compiled_fast_sums
from ..runtime.columns.curves import FAR, LEAST_TAIL, MIDDLE, NEAR

_NEAR, _FAR = np.array(NEAR), np.array(FAR)


@compiled_fast_sums
def prepare(x, n_features, readings, keys, source, table, curves, lines, keeps_missing, out):
    """A raw row as the model takes it; refuses what is missing, infinite or of no known category.

    A line of ``readings`` is a raw column, where its categories begin and end in ``keys`` (which
    has numbers in ascending order, and the place of each), and whether any other is refused (1) or
    missing (2).

    Column j has in ``table[j]`` what stands for a missing value, a number that it is compared with
    (NaN for none), shift, factor, low and high, and of pieces the shift, factor, lift and floor of
    a second line, of which the lesser counts. ``curves[j]`` says where its curve begins and ends in
    ``lines``, which has knots and values; of a curve of places the knots do not count (2), and
    normal scores have none (3). A missing value that nothing stands for stays, if the model takes
    it.
    """
    if len(x) != n_features:
        return False
    places = np.empty(len(readings), out.dtype)
    for r in range(len(readings)):
        places[r] = _place(x[readings[r, 0]], keys, readings[r, 1], readings[r, 2], readings[r, 3])
        if places[r] < 0.0 and readings[r, 3] == 1:
            return False
    for j in range(len(out)):
        value = x[source[j]] if source[j] < n_features else places[source[j] - n_features]
        if np.isnan(value):
            value = table[j, 0]
            if keeps_missing and np.isnan(value):
                out[j] = value
                continue
        elif np.isinf(value):
            return False
        else:
            if not np.isnan(table[j, 1]):
                value = 1.0 if value == table[j, 1] else 0.0
            if len(curves):
                value = _bent(value, curves[j], lines)
            first = min(max((value - table[j, 2]) * table[j, 3], table[j, 4]), table[j, 5])
            if table.shape[1] > 6:
                second = (value - table[j, 6]) * table[j, 7] + table[j, 8]
                first = min(first, max(second, table[j, 9]))
            value = first
        if not np.isfinite(value):
            return False
        out[j] = value
    return True


@compiled_fast_sums
def _place(value, keys, start, end, unknown):
    """The place of a category, -1 where it is unknown, NaN where it is missing."""
    if np.isnan(value):
        return value
    last = end
    while start < end:
        middle = (start + end) // 2
        if keys[middle, 0] < value:
            start = middle + 1
        else:
            end = middle
    if start < last and keys[start, 0] == value:
        return keys[start, 1]
    return np.nan if unknown == 2 else -1.0


@compiled_fast_sums
def _bent(value, curve, lines):
    """What a curve makes of a number, see ``runtime.columns.curves``."""
    start, end = curve[0], curve[1]
    if curve[2] == 3:
        return _normal_score(value)
    if start == end:
        return value
    if curve[2] == 2:
        return lines[start + 1 + int(value), 1]
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if lines[middle, 0] < value:
            low = middle + 1
        else:
            high = middle
    if low == end:
        return lines[end - 1, 1]
    if lines[low, 0] == value:
        last = low
        while last + 1 < end and lines[last + 1, 0] == value:
            last += 1
        return lines[(low + last) // 2, 1]
    if low == start:
        return lines[start, 1]
    share = (value - lines[low - 1, 0]) / (lines[low, 0] - lines[low - 1, 0])
    return lines[low - 1, 1] + share * (lines[low, 1] - lines[low - 1, 1])


@compiled_fast_sums
def _normal_score(value):
    tail = min(max(abs(value), LEAST_TAIL), 0.5)
    away = 0.5 - tail
    if away <= MIDDLE:
        score = away * _ratio(_NEAR, MIDDLE * MIDDLE - away * away)
    else:
        score = _ratio(_FAR, np.sqrt(-np.log(tail)) - 1.6)
    return score if value < 0.0 else -score


@compiled_fast_sums
def _ratio(polynomials, x):
    above, below = 0.0, 0.0
    for k in range(polynomials.shape[1] - 1, -1, -1):
        above, below = above * x + polynomials[0, k], below * x + polynomials[1, k]
    return above / below
