"""Linear models that fade around anchors, as ONNX nodes."""

import numpy as np

# Differences of a row from anchors that are held at once, in numbers: a block of 20,000 rows
# then takes some hundred megabytes, however many kernels there are.
_AT_ONCE = 4096


def conformal_linear(graph, part, X):
    """b + Σ_p h_k(x) ⟨w_p, x − c_k⟩; products would cancel where differences do not."""
    n_kernels, n_features = part.anchors.shape
    weights = np.zeros((n_kernels, n_features, len(part.biases)))
    for kernel, output, term in zip(part.kernels, part.outputs, part.weights, strict=True):
        weights[kernel, :, output] += term
    used = np.flatnonzero(weights.any(axis=(1, 2)))
    if len(used) == 0:
        return graph.at_every_row(X, part.biases)
    rows = graph.op("Unsqueeze", X, np.array([1]))
    step = max(1, _AT_ONCE // n_features)
    terms = []
    for start in range(0, len(used), step):
        some = used[start : start + step]
        images = _images(graph, part, rows, some)
        flat = weights[some].reshape(-1, len(part.biases))
        terms.append(graph.op("MatMul", graph.op("Flatten", images, axis=1), flat))
    return graph.total(*terms, part.biases)


def _images(graph, part, rows, some):
    """h_k(x) (x − c_k), shape (n_rows, n_kernels, n_features)."""
    away = graph.op("Sub", rows, part.anchors[some])
    u = graph.op("Mul", away, away)
    if not part.per_feature:
        u = graph.sum_over(u, 2)
    if part.profile in ("exponential", "linear"):
        u = graph.op("Sqrt", u)
    u = graph.op("Mul", u, part.gammas[some][:, None])
    if part.profile in ("linear", "square"):
        shares = graph.op("Relu", graph.op("Sub", 1.0, u))
    else:
        shares = graph.op("Exp", graph.op("Neg", u))
    return graph.op("Mul", shares, away)
