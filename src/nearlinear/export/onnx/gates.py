"""Gates of components, and what they blend, as ONNX nodes."""

import numpy as np

from ...kinds import kind_of
from .builder import OnnxExportError, values_of
from .kernels import expansion, squared_distances


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
}

# --- what they blend ----------------------------------------------------------------------------


def gated_expansion(graph, part, X):
    """Σ_q γ_q(x) f_q(x) + bias."""
    return _blend(graph, part, X, values_of(graph, part.components, X), part.bias)


def gated_vote(graph, part, X):
    """Σ_q γ_q(x) tanh f_q(x)."""
    votes = graph.op("Tanh", values_of(graph, part.components, X))
    return _blend(graph, part, X, votes, 0.0)


def gated_linear(graph, part, X):
    """Σ_q γ_q(x) (⟨w_q, x⟩ + b_q) + bias."""
    local = graph.op("Add", graph.op("MatMul", X, part.weights), part.biases)
    return _blend(graph, part, X, local, part.bias)


def _blend(graph, part, X, answers, bias):
    blend = graph.op("Mul", values_of(graph, part.gate, X), answers)
    return graph.op("Add", graph.sum_over(blend, 1), float(bias))


def selected_sum(graph, part, X):
    """Half the sum of the largest and of the smallest f_q(x), plus bias."""
    scores = values_of(graph, part.components, X)
    count = np.array([part.n_selected])
    ends = [
        graph.sum_over(graph.op("TopK", scores, count, n_outputs=2, axis=1, largest=largest)[0], 1)
        for largest in (0, 1)
    ]
    return graph.op("Add", graph.op("Mul", graph.total(*ends), 0.5), float(part.bias))


def expansion_of_gated_rows(graph, part, X):
    """A kernel expansion on rows that carry their gates' values as last columns."""
    rows = graph.op("Concat", X, values_of(graph, part.gate, X), axis=1)
    return expansion(graph, part.expansion, rows)
