"""Categories and curves in C: places among known numbers, and lines between knots."""

import numpy as np

from .literals import filled

_PLACES = """
/* Places of categories among those that are known; -1 for any other, NaN for a missing one. */
static void $(const float *x, float *places)
{
    const volatile float zero = 0.0f;
    for (size_t r = 0; r < <COUNT>; r++) {
        const float value = x[<COLUMNS>[r]];
        const size_t end = <STARTS>[r + 1];
        size_t low = <STARTS>[r], high = end;
        places[r] = <GONE>[r] ? zero / zero : -1.0f;
        if (!(value < 0.0f) && !(value >= 0.0f)) {
            places[r] = value;
            continue;
        }
        while (low < high) {
            const size_t middle = (low + high) / 2;
            if (<KEYS>[middle] < value)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < end && !(<KEYS>[low] > value))
            places[r] = (float) <ORDER>[low];
    }
}
"""
_CURVES = """
/* What the curve of column j makes of a number. Kinds: 1 lines between knots, 2 values of places,
   the first for an unknown one. */
static float $(size_t j, float x)
{
    const size_t start = <STARTS>[j], end = <STARTS>[j + 1];
    const float *values = <VALUES> + start;
    size_t low = 0, high = end - start;
    if (<KINDS>[j] == 0)
        return x;
    if (<KINDS>[j] == 2)
        return values[x >= 0.0f && x < (float) (high - 1) ? 1 + (size_t) x : 0];
<LINES>}
"""
_LINES = """    const float *knots = <KNOTS> + start;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (knots[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end - start)
        return values[low - 1];
    if (!(knots[low] > x)) {
        size_t last = low;
        while (last + 1 < end - start && !(knots[last + 1] > x))
            last++;
        return values[(low + last) / 2];
    }
    if (low == 0)
        return values[0];
    return values[low - 1] + (x - knots[low - 1]) / (knots[low] - knots[low - 1])
        * (values[low] - values[low - 1]);
"""
_NO_LINES = "    low = high;\n    return values[low - 1];\n"


def define_places(program, readings):
    """The symbol of a function (raw row, places) of columns of numbers that are categories."""
    pairs = [reading.ascending for reading in readings]
    starts, _ = program.counts("category_starts", _starts([keys for keys, _ in pairs]))
    order, _ = program.counts("category_order", np.concatenate([places for _, places in pairs]))
    text = filled(
        _PLACES,
        count=len(readings),
        columns=program.indices("category_columns", [one.column for one in readings]),
        gone=program.indices("category_gone", [one.unknown == "missing" for one in readings]),
        starts=starts,
        keys=program.vector("categories", np.concatenate([keys for keys, _ in pairs])),
        order=order,
    )
    return program.define("places", text)


def define_curves(program, curves):
    """The symbol of a function (column, number) that bends."""
    found = [(np.zeros(0), np.zeros(0)) if curve is None else curve for curve in curves]
    kinds = [0 if c is None else 2 if c[0] is None else 1 for c in curves]
    has_knots = 1 in kinds
    starts, _ = program.counts("curve_starts", _starts([values for _, values in found]))
    lines = _NO_LINES
    if has_knots:  # there are as many for places, which nobody reads
        knots = [np.zeros(len(values)) if k is None else k for k, values in found]
        lines = filled(_LINES, knots=program.vector("knots", np.concatenate(knots)))
    text = filled(
        _CURVES,
        lines=lines,
        starts=starts,
        kinds=program.indices("curve_kinds", kinds),
        values=program.vector("curve_values", np.concatenate([values for _, values in found])),
    )
    return program.define("bend", text)


def _starts(parts):
    return np.cumsum([0, *map(len, parts)])
