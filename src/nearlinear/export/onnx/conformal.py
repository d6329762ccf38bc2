"""Linear models that fade around anchors, as ONNX nodes.

From differences of rows and anchors the scores are exact, at several passes over (rows × kernels ×
features) numbers; from products they come four to thirty times faster. Squared distances from
products are off by about ‖c‖² roundings, which the scores feel γ-fold.
"""

import numpy as np

from .kernels import squared_distances

# Products are taken where the scores feel no more than this many roundings.
_MOST_ROUNDINGS = 32.0
# Differences of a row from anchors that are held at once, in numbers: a block of 20,000 rows
# then takes some hundred megabytes, however many kernels there are.
_AT_ONCE = 4096


def conformal_linear(graph, part, X):
    """b + Σ_p h_k(x) ⟨w_p, x − c_k⟩, p over terms and k the kernel of each."""
    weights = np.zeros((*part.anchors.shape, len(part.biases)))
    for kernel, output, term in zip(part.kernels, part.outputs, part.weights, strict=True):
        weights[kernel, :, output] += term
    used = np.flatnonzero(weights.any(axis=(1, 2)))
    if len(used) == 0:
        return graph.at_every_row(X, part.biases)
    anchors, gammas = part.anchors[used].astype(np.float64), part.gammas[used].astype(np.float64)
    by = _by_products if _may_use_products(part, anchors, gammas) else _by_differences
    return graph.op("Add", by(graph, part, X, anchors, gammas, weights[used]), part.biases)


def _may_use_products(part, anchors, gammas):
    lengths = ((anchors - anchors.mean(axis=0)) ** 2).sum(axis=1)
    felt = lengths * (gammas**2 if _is_of_root(part) else gammas)
    return not part.per_feature and felt.max() <= _MOST_ROUNDINGS


def _by_products(graph, part, X, anchors, gammas, weights):
    n_kernels, width, n_outputs = weights.shape
    h = _h(graph, part, squared_distances(graph, X, anchors), gammas)
    center = anchors.mean(axis=0).astype(graph.dtype)
    moved = graph.op("Sub", X, center)
    local = graph.op("MatMul", moved, weights.transpose(1, 0, 2).reshape(width, -1))
    local = graph.op("Sub", local, np.einsum("kd,kdo->ko", anchors - center, weights).ravel())
    local = graph.op("Reshape", local, np.array([0, n_kernels, n_outputs]))
    return graph.row_times_matrix(h, local)


def _by_differences(graph, part, X, anchors, gammas, weights):
    n_kernels, width, n_outputs = weights.shape
    rows = graph.op("Unsqueeze", X, np.array([1]))
    step = max(1, _AT_ONCE // width)
    terms = []
    for start in range(0, n_kernels, step):
        some = slice(start, start + step)
        away = graph.op("Sub", rows, anchors[some])
        squares = graph.op("Mul", away, away)
        if not part.per_feature:
            squares = graph.sum_over(squares, 2)
        images = graph.op("Mul", _h(graph, part, squares, gammas[some, None]), away)
        flat = weights[some].reshape(-1, n_outputs)
        terms.append(graph.op("MatMul", graph.op("Flatten", images, axis=1), flat))
    return graph.total(*terms)


def _h(graph, part, squares, gammas):
    """h for squared distances."""
    u = graph.op("Mul", graph.op("Sqrt", squares) if _is_of_root(part) else squares, gammas)
    if part.profile in ("linear", "square"):
        return graph.op("Relu", graph.op("Sub", 1.0, u))
    return graph.op("Exp", graph.op("Neg", u))


def _is_of_root(part):
    return part.profile in ("exponential", "linear")
