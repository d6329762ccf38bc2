"""Categories and curves in C: places among known numbers, and lines between knots."""

import numpy as np

from ...runtime.columns.curves import FAR, LEAST_TAIL, MIDDLE, NEAR
from .literals import filled, float_literal

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
   the first for an unknown one, 3 normal scores. */
static float $(size_t j, float x)
{
    const size_t start = <STARTS>[j], end = <STARTS>[j + 1];
    const float *values = <VALUES> + start;
    size_t low = 0, high = end - start;
    if (<KINDS>[j] == 0)
        return x;
    if (<KINDS>[j] == 2)
        return values[x >= 0.0f && x < (float) (high - 1) ? 1 + (size_t) x : 0];
<NORMAL><LINES>}
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


_RATIO = """
/* The ratio of two polynomials. */
static float $(const float *factors, float x)
{
    float above = 0.0f, below = 0.0f;
    for (size_t k = 0; k < 8; k++) {
        above = above * x + factors[k];
        below = below * x + factors[8 + k];
    }
    return above / below;
}
"""
_SCORE = """
/* The normal score of a tail, of the upper one if it is negative: Wichura's algorithm AS 241. */
static float $(float x)
{
    float tail = x < 0.0f ? -x : x, score;
    tail = tail < <LEAST> ? <LEAST> : tail > 0.5f ? 0.5f : tail;
    if (0.5f - tail <= <MIDDLE>)
        score = (0.5f - tail) * <RATIO>(<NEAR>, <SQUARE> - (0.5f - tail) * (0.5f - tail));
    else
        score = <RATIO>(<FAR>, sqrtf(-logf(tail)) - 1.6f);
    return x < 0.0f ? score : -score;
}
"""


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
    none = np.zeros(0), np.zeros(0)
    found = [curve if isinstance(curve, tuple) else none for curve in curves]
    kinds = list(map(_kind, curves))
    has_knots = 1 in kinds
    normal = (
        f"    if (<KINDS>[j] == 3)\n        return {_score(program)}(x);\n" if 3 in kinds else ""
    )
    starts, _ = program.counts("curve_starts", _starts([values for _, values in found]))
    values, lines = np.concatenate([values for _, values in found]), _NO_LINES
    if has_knots:  # there are as many for places, which nobody reads
        knots = [np.zeros(len(values)) if k is None else k for k, values in found]
        lines = filled(_LINES, knots=program.vector("knots", np.concatenate(knots)))
    text = filled(
        _CURVES,
        normal=normal,
        lines=lines,
        starts=starts,
        kinds=program.indices("curve_kinds", kinds),
        values=program.vector("curve_values", values if len(values) else np.zeros(1)),
    )
    return program.define("bend", text)


def _kind(curve):
    if curve is None or isinstance(curve, str):
        return 0 if curve is None else 3
    return 2 if curve[0] is None else 1


def _score(program):
    text = filled(
        _SCORE,
        least=float_literal(LEAST_TAIL),
        middle=float_literal(MIDDLE),
        square=float_literal(MIDDLE**2),
        ratio=program.define("ratio", _RATIO),
        near=program.vector("near_middle", np.array(NEAR)[:, ::-1].ravel()),
        far=program.vector("far_out", np.array(FAR)[:, ::-1].ravel()),
    )
    return program.define("normal_score", text)


def _starts(parts):
    return np.cumsum([0, *map(len, parts)])
