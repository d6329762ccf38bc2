"""Sums of curves and of other models, in ONNX."""

import numpy as np

from ...kinds import rule_for
from ...runtime.outcome import FLOOR, LARGEST_SCORE
from .builder import OnnxExportError, values_of


def additive(graph, part, X):
    """Each piece of a column's line is a ramp from 0 to 1, times its rise."""
    scores = graph.op("MatMul", X, part.weights)
    bent = part.bent_columns
    if not len(bent):
        return graph.op("Add", scores, part.intercept)
    columns = np.repeat(np.arange(part.n_features), np.diff(part.firsts))
    inner = np.flatnonzero(columns[1:] == columns[:-1])
    starts, widths = part.knots[inner], part.knots[inner + 1] - part.knots[inner]
    along = graph.op("Sub", graph.columns(X, columns[inner]), starts)
    along = graph.op("Clip", graph.op("Div", along, widths), 0.0, 1.0)
    rises = part.values[inner + 1] - part.values[inner]
    scores = graph.op("Add", scores, graph.op("MatMul", along, rises))
    lowest = part.values[part.firsts[bent]].sum(axis=0, dtype=np.float64)
    return graph.op("Add", scores, part.intercept + lowest)


def averaged(graph, part, X):
    """A map that several share is made once."""
    found = [values_of(graph, member, X) for member in part.members]
    if part.calibrations:
        return _of_probabilities(graph, part, found)
    if len(set(part.weights)) == 1:
        return graph.op("Div", graph.total(*found), float(len(found)))
    return graph.total(*(graph.times(one, share) for one, share in zip(found, part.shares)))


def _of_probabilities(graph, part, found):
    """In double precision: 1 − p of a p near 1 has no digits in single."""
    n_outputs, is_single = part.n_outputs, graph.dtype == np.float32
    double = graph.of(np.float64)
    total = []
    for calibration, share, one in zip(part.calibrations, part.shares, found, strict=True):
        one = double.cast(one, np.float64) if is_single else one
        one = double.op("Clip", one, -LARGEST_SCORE, LARGEST_SCORE)
        make = rule_for("onnx", calibration, OnnxExportError)
        total.append(double.times(make(double, calibration, one, max(2, n_outputs)), share))
    logs = double.op("Log", double.op("Max", double.total(*total), FLOOR))
    if n_outputs == 1:
        logs = double.op("Sub", double.columns(logs, [1]), double.columns(logs, [0]))
    return graph.cast(logs, np.float32) if is_single else logs
