"""Curves of one number: lines between knots, or a number for each category."""

import numpy as np


def on_curve(curve, x):
    """What a curve makes of numbers; NaN stays.

    A curve is a pair of knots, in ascending order, and of the values there. Lines join them, and
    the ends go on level. Where a knot stands several times the curve jumps, and at the knot itself
    the middle one of its values counts. Without knots, x are places of categories: the first value
    is that of an unknown one.
    """
    knots, values = curve
    x = np.asarray(x, dtype=np.float64)
    if knots is None:
        places = np.nan_to_num(x, nan=-1.0).astype(np.intp) + 1
        return np.where(np.isnan(x), x, values[places])
    first, last = (np.searchsorted(knots, x, side) for side in ("left", "right"))
    middle = np.minimum((first + last - 1) // 2, len(knots) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # slopes of jumps, which nobody asks for
        between = np.interp(x, knots, values)
    return np.where(last > first, values[middle], between)
