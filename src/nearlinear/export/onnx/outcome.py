"""Probabilities and numbers of classes from scores, in ONNX operators."""

import numpy as np

from ...kinds import rule_for
from ...runtime.outcome import ramps
from .builder import OnnxExportError


def probabilities(graph, outcome, scores, n_classes):
    """Shape (n_rows, n_classes): the mean over models; None where there are none."""
    if not outcome.gives_probabilities:
        return None
    parts = zip(outcome.calibration, scores, strict=True)
    found = [
        rule_for("onnx", part, OnnxExportError)(graph, part, one, n_classes) for part, one in parts
    ]
    total = graph.total(*found)
    return total if len(found) == 1 else graph.times(total, 1.0 / len(found))


def places(graph, outcome, scores, found, n_classes):
    """Numbers of classes; ``found`` are the probabilities, where there are some."""
    threshold = outcome.threshold
    if threshold is not None:
        if threshold.of == "probability":
            value = graph.columns(found, threshold.positive)
        else:
            value = graph.columns(scores[0], 0)
            value = value if threshold.positive else graph.op("Neg", value)
        is_positive = graph.op("GreaterOrEqual", value, threshold.at)
        return graph.op("Where", is_positive, threshold.positive, 1 - threshold.positive)
    if outcome.is_calibrated:
        return graph.op("ArgMax", found, axis=1, keepdims=0)
    (scores,) = scores
    if n_classes == 2:
        return graph.cast(graph.op("Greater", graph.columns(scores, 0), 0.0), np.int64)
    return graph.op("ArgMax", scores, axis=1, keepdims=0)


def each_label(graph, outcome, scores, n_labels):
    """Values and types of the outputs, where a row may have several labels."""
    number = graph.dtype.name
    values = [graph.cast(graph.op("Greater", scores, 0.0), np.int64), scores]
    types = [("label", "int64", n_labels), ("scores", number, n_labels)]
    if outcome.gives_probabilities:
        values.append(graph.op("Sigmoid", scores))
        types.append(("probabilities", number, n_labels))
    return values, types


def _log_loss(graph, part, scores, n_classes):
    if n_classes == 2:
        scores = graph.op("Pad", scores, np.array([0, 1, 0, 0]), 0.0)
    return graph.op("Softmax", scores, axis=1)


def _own_shares(graph, part, scores, n_classes):
    if n_classes == 2:
        both = graph.op("Concat", graph.op("Neg", scores), scores, axis=1)
        scores = graph.times(graph.op("Add", both, 1.0), 0.5)
    return scores


def _sigmoids(graph, part, scores, n_classes):
    found = graph.op("Add", graph.times(scores, part.slopes), part.offsets)
    return _shared(graph, graph.op("Sigmoid", graph.op("Neg", found)), n_classes)


def _temperature(graph, part, scores, n_classes):
    if n_classes == 2:
        scores = graph.op("Concat", graph.op("Neg", scores), scores, axis=1)
    return graph.op("Softmax", graph.times(scores, part.factor), axis=1)


def _tables(graph, part, scores, n_classes):
    found = []
    for column, table in enumerate(zip(part.scores, part.probabilities, strict=True)):
        first, starts, steepness, rises = ramps(*table)
        score = graph.columns(scores, [column])
        if len(rises) == 0:
            found.append(graph.at_every_row(score, [first]))
            continue
        along = graph.times(graph.op("Sub", score, starts), steepness)
        along = graph.op("Clip", along, 0.0, 1.0)
        value = graph.sum_over(graph.times(along, rises), 1)
        found.append(graph.op("Add", value, first))
    both = graph.op("Concat", *found, axis=1) if len(found) > 1 else found[0]
    return _shared(graph, both, n_classes)


def _shared(graph, values, n_classes):
    """Two classes: the rest is the first one's. Several: shares of the sum, equal if that is 0."""
    if n_classes == 2:
        return graph.op("Concat", graph.op("Sub", 1.0, values), values, axis=1)
    total = graph.sum_over(values, 1)
    is_none = graph.op("Equal", total, 0.0)
    return graph.op("Where", is_none, 1.0 / n_classes, graph.op("Div", values, total))


CALIBRATIONS = {
    "LogLoss": _log_loss,
    "Shares": _own_shares,
    "Sigmoids": _sigmoids,
    "Temperature": _temperature,
    "Tables": _tables,
}
