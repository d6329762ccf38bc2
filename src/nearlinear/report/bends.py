"""Where the steps before a model bend a raw column: places between which all is a straight line."""

import numpy as np


def bends(table, column, low, high):
    """Raw values between ``low`` and ``high``, in rising order; None where a curve is smooth.

    ``table`` is the ``Preparation`` of all steps, or None where there are none.
    """
    if table is None:
        return np.empty(0)
    found = _of_table(table, _first_ways(table, column, low, high))
    if found is None:
        return None
    return np.unique(low + (high - low) * found[(found > 0.0) & (found < 1.0)])


def _first_ways(table, column, low, high):
    """How the columns that the first table takes move with s: rows of (start, step)."""
    first = table.first
    ways = np.zeros((first.n_inputs, 2))
    ways[column] = low, high - low
    for place, reading in enumerate(first.readings or ()):
        if reading.column == column:  # a category jumps between its values
            ways[first.n_features + place] = ways[column] if reading.is_of_numbers else np.nan
    return ways


def _of_table(table, ways):
    """Places s of all bends of a chain of tables; None where one is smooth."""
    if table.before is not None:
        return None  # bends of bent columns: taken for smooth
    found = [np.empty(0)]
    low, high = table.column("low", -np.inf), table.column("high", np.inf)
    shift, scale = table.column("shift", 0.0), table.column("scale", 1.0)
    for j, source in enumerate(table.sources):
        start, step = ways[source]
        if step == 0.0:
            continue
        curve = table.curves[j] if table.curves is not None else None
        if isinstance(curve, str) or np.isnan(start):
            return None
        levels = [] if curve is None or curve[0] is None else curve[0]
        if curve is None:
            levels = [shift[j] + scale[j] * one for one in (low[j], high[j])]
            levels += _folds(table, j, shift[j], scale[j])
            levels += [] if table.equals is None else [table.equals[j]]
        levels = np.asarray(levels, dtype=np.float64)
        found.append((levels[np.isfinite(levels)] - start) / step)
    return np.concatenate(found)


def _folds(table, j, shift, scale):
    """Where the second line ends, and where it meets the first."""
    if table.fold is None or table.fold[j, 3] == np.inf:  # no second line
        return []
    start, slope, lift, floor = table.fold[j]
    found = [start + slope * (floor - lift)]
    if scale != slope:
        found.append((shift / scale - start / slope + lift) / (1.0 / scale - 1.0 / slope))
    return found
