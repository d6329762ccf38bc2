"""Gates of components, and what they blend, as ONNX nodes."""

import numpy as np

from ...kinds import kind_of
from ...predictors.gated_expansion import reads_scores
from .builder import OnnxExportError, values_of
from .kernels import squared_distances


def _linear_scores(graph, gate, X):
    return graph.op("Add", graph.op("MatMul", X, gate.directions.T), gate.offsets)


def _gaussian(graph, gate, X):
    # beyond e±20 a width is as good as none, or as all
    narrow = np.exp(-2.0 * np.clip(gate.log_widths, -20.0, 20.0)) / gate.scale
    squares = squared_distances(graph, X, gate.centers.astype(np.float64))
    return graph.op("Softmax", graph.op("Mul", squares, -narrow), axis=1)


def _viewing(graph, gate, X):
    if kind_of(gate.view) != "Columns":
        raise OnnxExportError(
            "The gate sees rows through a function of yours, which has no ONNX graph: fit with "
            "gating_features as a list of columns, or compute them before."
        )
    return values_of(graph, gate.gate, graph.columns(X, gate.view.columns))


def _rounded(graph, gate, X):
    values = values_of(graph, gate.gate, X)
    values = graph.op("Where", graph.op("Less", values, gate.margin), 0.0, values)
    return graph.op("Where", graph.op("Greater", values, 1.0 - gate.margin), 1.0, values)


def _softmax_of(graph, gate, X):
    scores = values_of(graph, gate.scores, X)
    return graph.op("Softmax", graph.op("Mul", scores, float(gate.sharpness)), axis=1)


def _clipped(graph, gate, X):
    return graph.op("Clip", values_of(graph, gate.scores, X), float(gate.floor), 1.0)


def _unit_length(graph, gate, X):
    values = values_of(graph, gate.gate, X)
    squares = graph.sum_over(graph.op("Mul", values, values), 1)
    return graph.op("Div", values, graph.op("Sqrt", squares))


def _repeated(graph, gate, X):
    values = graph.op("Unsqueeze", values_of(graph, gate.gate, X), np.array([2]))
    copies = graph.op("Tile", values, np.array([1, 1, gate.count]))
    return graph.op("Flatten", copies, axis=1)


def _top_and_bottom(graph, gate, X):
    """γ(f) of scores f: half a mark for the largest ones and half for the smallest."""
    count, n_outputs = np.array([gate.count]), 2
    marks = []
    for largest in (0, 1):
        _, places = graph.op("TopK", X, count, n_outputs=n_outputs, axis=1, largest=largest)
        halves = graph.op("Mul", graph.cast(places, graph.dtype), 0.0)
        halves = graph.op("Add", halves, 0.5)
        zeros = graph.op("Mul", X, 0.0)
        marks.append(graph.op("ScatterElements", zeros, places, halves, axis=1))
    return graph.total(*marks)


GATES = {
    "Softmax": lambda graph, gate, X: graph.op("Softmax", _linear_scores(graph, gate, X), axis=1),
    "Sigmoid": lambda graph, gate, X: graph.op("Sigmoid", _linear_scores(graph, gate, X)),
    "GaussianGate": _gaussian,
    "Viewing": _viewing,
    "Rounded": _rounded,
    "SoftmaxOf": _softmax_of,
    "Clipped": _clipped,
    "UnitLength": _unit_length,
    "Repeated": _repeated,
    "TopAndBottom": _top_and_bottom,
}

# --- what they blend ----------------------------------------------------------------------------


def gated_expansion(graph, part, X):
    """Σ_q γ_q(x) s(f_q(x)) + bias."""
    scores = values_of(graph, part.components, X)
    values = graph.op("Tanh", scores) if part.activation == "tanh" else scores
    gates = values_of(graph, part.gate, scores if reads_scores(part.gate) else X)
    total = graph.sum_over(graph.op("Mul", gates, values), 1)
    return graph.op("Add", total, float(part.bias))
