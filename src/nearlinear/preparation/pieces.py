"""Piecewise-linear columns: what SplineTransformer(degree=1) makes of a column.

With knots t_0 < … < t_n, piece k rises from t_{k−1} to 1 at t_k and falls to 0 at t_{k+1}. The
quantiles of a column with few values coincide. Of pieces at the same knot, then, the first ends
with a jump, the last begins with one, and those between are 0. At the last knot all of them are 0.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from ..runtime.preparation import NO_FOLD
from .columns import joined, raw_columns

MOST_KNOTS = 2048
_JUMP = 1e-9  # width of a jump, beside that of its piece
_ULPS = 16  # and at least, so that knots may be told in the units of raw columns


def piece_columns(spline):
    """The columns that a fitted transformer makes of its own rows."""
    knots = np.column_stack([one.t[1:-1] for one in spline.bsplines_])
    found = [_pieces(column, spline.extrapolation) for column in knots.T]
    kept = slice(None) if spline.include_bias else slice(-1)
    columns = [
        replace(
            raw_columns(len(lines)), source=np.full(len(lines), place), shift=lines[:, 0],
            scale=lines[:, 1], low=lines[:, 2], high=lines[:, 3], fold=lines[:, 4:],
        )
        for place, lines in enumerate(lines[kept] for lines in found)
    ]  # fmt: skip
    if getattr(spline, "handle_missing", "error") == "zeros":
        columns = [replace(one, fill=np.zeros(len(one))) for one in columns]
    return joined(columns)


def trial_rows(spline):
    """Rows at the knots, between them and beyond: what pieces do there, they do everywhere."""
    knots = np.column_stack([one.t[1:-1] for one in spline.bsplines_])
    spread = np.maximum(knots[-1] - knots[0], 1.0)
    between = knots[:-1] + np.diff(knots, axis=0) * np.array([0.25, 0.75])[:, None, None]
    beyond = [knots[0] - spread, knots[0] - 0.1 * spread, knots[-1] + 0.1 * spread]
    return np.vstack([knots, *between, *beyond, knots[-1] + spread])


def plain_pieces(spline, rows):
    """What the transformer makes of rows without names, as a plain array."""
    spline = copy(spline)
    spline.sparse_output = False
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(spline).pop(name, None)
    return spline.transform(rows)


def _pieces(knots, extrapolation):
    """Of each piece shift, scale, low and high, and the fold."""
    distinct, firsts, counts = np.unique(knots, return_index=True, return_counts=True)
    zero = (0.0, 1.0, 0.0, 0.0, *NO_FOLD)
    lines = np.tile(zero, (len(knots), 1))
    if len(distinct) == 1:
        return lines
    last, is_open = len(distinct) - 1, extrapolation != "constant"
    for place, (knot, first, count) in enumerate(zip(distinct, firsts, counts)):
        rising = None if place == 0 else (distinct[place - 1], knot - distinct[place - 1])
        falling = None if place == last else (distinct[place + 1], knot - distinct[place + 1])
        if count > 1:
            if rising is not None:
                lines[first] = (*rising, 0.0, np.inf, *_jump_down(knot, rising[1]))
            if falling is not None:
                width = -falling[1] if rising is None else rising[1]
                lines[first + count - 1] = (*falling, 0.0, np.inf, *_jump_up(knot, width))
            continue
        high = np.inf if is_open else 1.0
        below = -np.inf if is_open and place == 1 else 0.0
        above = -np.inf if is_open and place == last - 1 else 0.0
        if rising is None:
            lines[first] = (*falling, above, high, *NO_FOLD)
        elif falling is None:
            lines[first] = (*rising, below, high, *NO_FOLD)
        else:
            lines[first] = (*rising, below, np.inf, *falling, 0.0, above)
    return lines


def _jump_up(knot, width):
    """A line that is above 1 from the knot on, and below 0 before."""
    return knot, _steep(knot, width), 2.0, 0.0


def _jump_down(knot, width):
    """A line that is below 0 from the knot on, and above 1 before."""
    return knot, -_steep(knot, width), -1.0, 0.0


def _steep(knot, width):
    return max(_JUMP * width, _ULPS * np.spacing(abs(knot)), np.finfo(np.float32).tiny)
