"""Curves of one number in SQL: lines between knots, a number for each category, normal scores."""

import numpy as np

from ...runtime.columns.curves import FAR, LEAST_TAIL, MIDDLE, NEAR
from .literals import number
from .walks import cases, last_node, lookup, nodes_of_cases, search_tree

_MOST_CASES = 63  # of one search among knots
_FEW_LINES = 16  # that stand in the CASE themselves


def on_curve(query, curve, x):
    """What a curve of a preparation makes of a column; NULL stays."""
    if isinstance(curve, str):
        return _normal_scores(query, x)
    knots, values = curve
    if knots is None:
        return lookup(query, values, f"CAST({x} AS INTEGER) + 2")
    return on_knots(query, x, knots, values)


def on_knots(query, x, knots, values):
    """Lines join the knots, and the ends go on level; at a knot that stands several times the
    middle one of its values counts."""
    knots, values = np.asarray(knots, dtype=np.float64), np.asarray(values, dtype=np.float64)
    borders, firsts, counts = np.unique(knots, return_index=True, return_counts=True)
    lasts = firsts + counts - 1
    at = values[(firsts + lasts) // 2]
    starts, ends = values[lasts], values[firsts]
    slopes = np.append(np.diff(np.column_stack([starts[:-1], ends[1:]]))[:, 0], 0.0)
    slopes[:-1] /= np.diff(borders)
    # before the first knot it is level
    lines = np.vstack([[borders[0], ends[0], 0.0, ends[0]], np.c_[borders, starts, slopes, at]])
    jumps = np.any(at != starts)
    tree, told = search_tree(x, borders)
    if len(lines) <= _FEW_LINES:
        nodes, _ = nodes_of_cases(tree, _MOST_CASES)
        found = cases(tree, nodes, lambda node: _line(x, *map(number, lines[told[node]]), jumps))
        # NULL would take some side
        return f"CASE WHEN {x} IS NOT NULL THEN {found} END"
    nodes, _ = nodes_of_cases(tree, _MOST_CASES)
    node = query.let(last_node(query, tree, nodes))
    by_node = np.where(told[:, None] >= 0, lines[told], 0.0)
    parts = [query.let(lookup(query, column, node)) for column in by_node.T]
    return _line(x, *parts, jumps)


def _line(x, start, value, slope, at, jumps):
    found = f"({value} + {slope} * ({x} - {start}))"
    return f"CASE WHEN {x} = {start} THEN {at} ELSE {found} END" if jumps else found


def _normal_scores(query, x):
    tail = query.let(f"least(greatest(abs({x}), {number(LEAST_TAIL)}), 0.5e0)")
    away = query.let(f"0.5e0 - {tail}")
    near = query.let(f"{number(MIDDLE**2)} - {away} * {away}")
    far = query.let(f"sqrt(-ln({tail})) - 1.6e0")
    size = query.let(
        f"CASE WHEN {away} <= {number(MIDDLE)} THEN {away} * {_ratio(NEAR, near)} "
        f"ELSE {_ratio(FAR, far)} END"
    )
    return f"CASE WHEN {x} < 0e0 THEN {size} WHEN {x} IS NOT NULL THEN -{size} END"


def _ratio(polynomials, x):
    above, below = (_polynomial(one, x) for one in polynomials)
    return f"({above} / {below})"


def _polynomial(factors, x):
    total = number(factors[-1])
    for factor in factors[-2::-1]:
        total = f"({total} * {x} + {number(factor)})"
    return total
