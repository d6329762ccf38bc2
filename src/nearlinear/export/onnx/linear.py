"""Local linear models around anchors as ONNX nodes: the nearest anchors, their codes, the blend."""

import numpy as np

from .builder import values_of
from .kernels import squared_distances

# Up to this many anchors a neighbor, one product with all local models beats fetching a few.
_DENSE_RATIO = 16


def locally_linear(graph, part, X):
    """Σ_j γ_j(x) (W_jᵀ x + b_j)."""
    found = values_of(graph, part.gate, X)
    if isinstance(found, str):
        scores = graph.op("MatMul", found, part.biases)
        scores = graph.op("Add", scores, _all_models(graph, part.weights, X, found))
    else:
        scores = _blend(graph, part, X, *found)
    return scores if part.intercept is None else graph.op("Add", scores, part.intercept)


def _blend(graph, part, X, indices, codes):
    """Of the nearest anchors."""
    n_anchors, width, _ = part.weights.shape
    zeros = graph.at_every_row(X, np.zeros(n_anchors))
    gates = graph.op("ScatterElements", zeros, indices, codes, axis=1)
    scores = graph.op("MatMul", gates, part.biases)
    if width == 0:
        return scores
    if n_anchors <= _DENSE_RATIO * part.gate.n_neighbors:
        return graph.op("Add", scores, _all_models(graph, part.weights, X, gates))
    return graph.op("Add", scores, _fetched_models(graph, part.weights, X, indices, codes))


def _all_models(graph, weights, X, gates):
    n_anchors, width, n_outputs = weights.shape
    flat = weights.transpose(1, 0, 2).reshape(width, n_anchors * n_outputs)
    local = graph.op("MatMul", X, flat)
    # a first extent of 0 stands for the rows, so that there may be none
    local = graph.op("Reshape", local, np.array([0, n_anchors, n_outputs]))
    return graph.row_times_matrix(gates, local)


def _fetched_models(graph, weights, X, indices, codes):
    n_anchors, width, n_outputs = weights.shape
    fetched = graph.op("Gather", weights.reshape(n_anchors, -1), indices, axis=0)
    blend = graph.row_times_matrix(codes, fetched)
    blend = graph.op("Reshape", blend, np.array([0, width, n_outputs]))
    return graph.row_times_matrix(X, blend)


# --- codes: numbers of the nearest anchors and their gates, each (n_rows, n_neighbors) ---------


def nearest(graph, gate, values):
    """The smallest of every row's values, nearest first, and their places."""
    return graph.op("TopK", values, np.array([gate.n_neighbors]), n_outputs=2, axis=1, largest=0)


def _soft_assignment(graph, gate, X):
    """Softmax of −sharpness ‖x − v_j‖² over the nearest; ‖x‖² is the same for all, so left out."""
    anchors = gate.anchors.astype(np.float64)
    center = anchors.mean(axis=0).astype(graph.dtype)
    moved, anchors = graph.op("Sub", X, center), anchors - center
    directions = anchors if gate.metric is None else anchors * gate.metric
    products = graph.op("MatMul", moved, -2.0 * directions.T)
    squares = graph.op("Add", products, (anchors * directions).sum(axis=1))
    squares, indices = nearest(graph, gate, squares)
    beyond = graph.op("Sub", squares, graph.columns(squares, [0]))
    exponents = graph.op("Mul", beyond, -float(gate.sharpness))
    return indices, graph.op("Softmax", exponents, axis=1)


def _inverse_distance(graph, gate, X):
    squares = squared_distances(graph, X, gate.anchors.astype(np.float64))
    squares, indices = nearest(graph, gate, squares)
    # a row that is an anchor gets the gate 1, and no division by zero
    floor = np.finfo(graph.dtype).eps * max(1.0, float(np.abs(gate.geometry.offsets).max()))
    values = graph.op("Reciprocal", graph.op("Sqrt", graph.op("Max", squares, floor)))
    return indices, normalized(graph, values)


def _reconstruction(graph, gate, X):
    """(G + ridge I) γ ∝ 1 with G the Gram matrix of v_j − x over the nearest anchors."""
    anchors, k = gate.anchors.astype(np.float64), gate.n_neighbors
    _, indices = nearest(graph, gate, squared_distances(graph, X, anchors))
    double = graph.of(np.float64)  # the system is ill-conditioned: float32 has too few digits
    rows = graph.op("Unsqueeze", graph.cast(X, np.float64), np.array([1]))
    away = double.op("Sub", double.op("Gather", anchors, indices, axis=0), rows)
    # ONNX Runtime before 1.26 fuses MatMul of a Transpose to an operator without float64; the
    # operators Neg prevent this. Einsum ends the process if there are no rows.
    transposed = graph.op("Transpose", away, perm=(0, 2, 1))
    gram = graph.op("MatMul", graph.op("Neg", away), graph.op("Neg", transposed))
    trace = graph.sum_over(graph.sum_over(double.op("Mul", gram, np.eye(k)), 2), 1)
    ridge = double.op("Mul", trace, float(gate.ridge))
    ridge = double.op("Max", ridge, np.finfo(np.float64).tiny * 1e10)
    gram = graph.op("Add", gram, double.op("Mul", ridge, np.eye(k)))
    # of size one, so that no pivot is above one; the codes' own scale does not matter
    gram = graph.op("Div", gram, graph.op("Add", trace, ridge))
    values = graph.op("Squeeze", _solved_for_ones(double, gram, k), np.array([2]))
    return indices, graph.cast(normalized(graph, values), graph.dtype)


def _solved_for_ones(graph, matrix, k):
    """A⁻¹ 1 of positive definite (n_rows, k, k), by Gauss and Jordan's elimination, unrolled.

    With column j less one at row j itself, one outer product clears the column and scales the row.
    """
    system = graph.op("Pad", matrix, np.array([0, 0, 0, 0, 0, 1]), 1.0)  # A and a column of ones
    for j in range(k):
        place = np.array([j])
        row = graph.op("Gather", system, place, axis=1)
        row = graph.op("Div", row, graph.op("Gather", row, place, axis=2))
        column = graph.op("Gather", system, place, axis=2)
        column = graph.op("Sub", column, np.eye(k)[:, place])
        system = graph.op("Sub", system, graph.op("MatMul", column, row))
    return graph.op("Gather", system, np.array([k]), axis=2)


def normalized(graph, values):
    """Rows divided by their sums."""
    return graph.op("Div", values, graph.sum_over(values, 1))


SPARSE_GATES = {
    "SoftAssignment": _soft_assignment,
    "InverseDistance": _inverse_distance,
    "ReconstructionCodes": _reconstruction,
}
