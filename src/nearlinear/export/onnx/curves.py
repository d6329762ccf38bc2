"""Curves as ONNX nodes: knots are counted, and lines looked up."""

import numpy as np

from ...runtime.columns.curves import FAR, LEAST_TAIL, MIDDLE, NEAR, NORMAL


def bent(graph, preparation, rows):
    """Name of the rows with their curved columns bent."""
    if preparation.curves is None:
        return rows
    groups = {}
    for j, curve in enumerate(preparation.curves):
        groups.setdefault(_group(curve), []).append(j)
    found = []
    for group, columns in groups.items():
        curves = [preparation.curves[j] for j in columns]
        values = graph.columns(rows, columns)
        found.append(values if group is None else _RULES[group[0]](graph, curves, values))
    order = np.argsort(np.concatenate(list(groups.values())))
    joined = found[0] if len(found) == 1 else graph.op("Concat", *found, axis=1)
    return graph.columns(joined, order)


def _group(curve):
    """Curves of about as many knots are bent together."""
    if curve is None:
        return None
    if isinstance(curve, str):
        return curve, 0
    return ("places", 0) if curve[0] is None else ("knots", int(np.log2(len(curve[0]))))


def _of_places(graph, curves, rows):
    table = np.concatenate([values for _, values in curves])
    starts = np.cumsum([0, *(len(values) for _, values in curves[:-1])])
    known = graph.op("Where", graph.op("IsNaN", rows), np.full((1, 1), -1.0), rows)
    places = graph.op("Add", graph.cast(known, np.int64), 1 + starts)
    return graph.op("Gather", table, places, axis=0)


def _of_knots(graph, curves, rows):
    n_knots = max(len(knots) for knots, _ in curves)
    largest = float(np.finfo(graph.dtype).max)
    padded = [np.append(knots, np.full(n_knots - len(knots), largest)) for knots, _ in curves]
    knots = np.clip(np.stack(padded).astype(graph.dtype), -largest, largest)
    each = graph.op("Unsqueeze", rows, np.array([2]))
    not_above = _count(graph, graph.op("LessOrEqual", knots, each))
    starts = (n_knots + 1) * np.arange(len(curves))
    lines = np.concatenate([_lines(*curve, n_knots) for curve in curves])
    here = graph.op("Add", not_above, starts)
    start, value, slope = (graph.op("Gather", line, here, axis=0) for line in lines.T)
    risen = graph.op("Mul", slope, graph.op("Sub", rows, start))
    found = graph.op("Add", value, risen)
    if all(len(np.unique(line)) == len(curve[0]) for line, curve in zip(knots, curves)):
        return found
    below = _count(graph, graph.op("Less", knots, each))
    both = graph.op("Sub", graph.op("Add", below, not_above), np.array([[1]]))
    middle = graph.op("Add", graph.op("Div", both, np.array([[2]])), 1 + starts)
    there = graph.op("Gather", lines[:, 1], middle, axis=0)
    return graph.op("Where", graph.op("Less", below, not_above), there, found)


def _count(graph, hits):
    return graph.sum_over(graph.cast(hits, np.int64), 2, keepdims=0)


def _lines(knots, values, n_knots):
    """Start, value and slope of the line after no knot, the first, the second, …"""
    rise, run = np.diff(values), np.diff(knots)
    slopes = np.append(np.divide(rise, run, out=np.zeros(len(run)), where=run > 0), 0.0)
    lines = np.column_stack([knots, values, slopes])
    after = np.tile(lines[-1], (n_knots - len(knots), 1))
    return np.vstack([[knots[0], values[0], 0.0], lines, after])


def _normal(graph, curves, tails):
    """Normal scores of tails, see ``runtime.columns.curves``."""
    away = graph.op("Abs", tails)
    tail = graph.op("Min", graph.op("Max", away, _number(LEAST_TAIL)), _number(0.5))
    away = graph.op("Sub", _number(0.5), tail)
    square = graph.op("Sub", _number(MIDDLE**2), graph.op("Mul", away, away))
    near = graph.op("Mul", away, _ratio(graph, NEAR, square))
    root = graph.op("Sqrt", graph.op("Neg", graph.op("Log", tail)))
    far = _ratio(graph, FAR, graph.op("Sub", root, _number(1.6)))
    is_near = graph.op("LessOrEqual", away, _number(MIDDLE))
    score = graph.op("Where", is_near, near, far)
    is_upper = graph.op("Less", tails, _number(0.0))
    return graph.op("Where", is_upper, score, graph.op("Neg", score))


def _ratio(graph, polynomials, x):
    return graph.op("Div", *(_polynomial(graph, one, x) for one in polynomials))


def _polynomial(graph, factors, x):
    total = _number(factors[-1])
    for factor in factors[-2::-1]:
        total = graph.op("Add", graph.op("Mul", total, x), _number(factor))
    return total


def _number(value):
    return np.full((1, 1), value)


_RULES = {"places": _of_places, "knots": _of_knots, NORMAL: _normal}
