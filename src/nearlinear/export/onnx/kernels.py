"""Kernels of rows and support rows, and the sums over them, as ONNX nodes.

``X`` is the name of a value, ``Z`` an array of support rows in float64.
"""

import numpy as np
from scipy.sparse import issparse

from .builder import chosen, require_room


def squared_distances(graph, X, Z):
    """‖x − z‖², seen from the mean z: far from the origin distances would drown in rounding."""
    if Z.shape[1] == 1:
        away = graph.op("Sub", X, Z.T)
        return graph.op("Mul", away, away)
    # rows and support rows must be moved by the same number, so it is rounded first
    center = Z.mean(axis=0).astype(graph.dtype)
    moved, Z = graph.op("Sub", X, center), Z - center
    products = graph.op("MatMul", moved, -2.0 * Z.T)
    squares = graph.total(products, (Z**2).sum(axis=1), squared_norms(graph, moved))
    return graph.op("Relu", squares)


def squared_norms(graph, X):
    return graph.sum_over(graph.op("Mul", X, X), 1)


def kernel_block(graph, kernel, X, Z):
    """k(x, z), shape (n_rows, len(Z))."""
    return chosen(_BLOCKS, kernel, "kernel")(graph, kernel, X, Z)


def _diagonal(graph, kernel, X):
    """k(x, x), shape (n_rows, 1)."""
    return chosen(_DIAGONALS, kernel, "kernel")(graph, kernel, X)


def _polynomial(graph, kernel, X, Z):
    products = graph.op("MatMul", X, kernel.gamma * Z.T)
    return _power(graph, kernel, products)


def _power(graph, kernel, products):
    return graph.op("Pow", graph.op("Add", products, kernel.coef0), float(kernel.degree))


def _gaussian(graph, kernel, X, Z):
    return graph.op("Exp", graph.op("Mul", squared_distances(graph, X, Z), -kernel.gamma))


def _on_columns(graph, kernel, X, Z):
    columns = list(kernel.columns)
    return kernel_block(graph, kernel.kernel, graph.columns(X, columns), Z[:, columns])


def _unit_diagonal(graph, kernel, X, Z):
    roots = _inverse_roots(graph, _diagonal(graph, kernel.kernel, X))
    diagonal = kernel.kernel.diagonal(Z)
    positive = diagonal > 0
    other = np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
    block = graph.op("Mul", kernel_block(graph, kernel.kernel, X, Z), roots)
    return graph.times(block, other)


def _inverse_roots(graph, diagonal):
    """1 / √d, and 0 where d is 0."""
    positive = graph.op("Greater", diagonal, 0.0)
    safe = graph.op("Where", positive, diagonal, 1.0)
    return graph.op("Where", positive, graph.op("Reciprocal", graph.op("Sqrt", safe)), 0.0)


def _weighted(graph, kernel, X, width, values):
    """Σ_m weights_m values_m of ``width`` columns; kernels of weight zero are not evaluated."""
    pairs = zip(kernel.kernels, kernel.weights, strict=True)
    terms = [graph.times(values(part), weight) for part, weight in pairs if weight != 0.0]
    return graph.total(*terms) if terms else graph.at_every_row(X, np.zeros(width))


def _pairwise(graph, kernel, X, Z):
    """Σ_m γ_m(x) γ_m(z) k_m(x, z) / Σ_m γ_m(x) γ_m(z): the last columns are gates."""
    d, n_kernels = kernel.n_features, len(kernel.kernels)
    rows = graph.columns(X, range(d))
    terms = []
    for m, part in enumerate(kernel.kernels):
        left = graph.columns(X, [d + m])
        block = graph.op("Mul", kernel_block(graph, part, rows, Z[:, :d]), left)
        terms.append(graph.op("Mul", block, Z[:, d + m]))
    gates = graph.columns(X, range(d, d + n_kernels))
    return graph.op("Div", graph.total(*terms), graph.op("MatMul", gates, Z[:, d:].T))


def _unit_diagonal_squares(graph, kernel, X):
    positive = graph.op("Greater", _diagonal(graph, kernel.kernel, X), 0.0)
    return graph.op("Where", positive, 1.0, 0.0)


_BLOCKS = {
    "Linear": lambda graph, kernel, X, Z: graph.op("MatMul", X, Z.T),
    "Polynomial": _polynomial,
    "Gaussian": _gaussian,
    "OnColumns": _on_columns,
    "Scaled": lambda graph, kernel, X, Z: graph.times(
        kernel_block(graph, kernel.kernel, X, Z), kernel.factor
    ),
    "UnitDiagonal": _unit_diagonal,
    "WeightedSum": lambda graph, kernel, X, Z: _weighted(
        graph, kernel, X, len(Z), lambda part: kernel_block(graph, part, X, Z)
    ),
    "PairwiseNormalizedSum": _pairwise,
}
_DIAGONALS = {
    "Linear": lambda graph, kernel, X: squared_norms(graph, X),
    "Polynomial": lambda graph, kernel, X: _power(
        graph, kernel, graph.times(squared_norms(graph, X), kernel.gamma)
    ),
    "Gaussian": lambda graph, kernel, X: graph.at_every_row(X, np.ones(1)),
    "OnColumns": lambda graph, kernel, X: _diagonal(
        graph, kernel.kernel, graph.columns(X, kernel.columns)
    ),
    "Scaled": lambda graph, kernel, X: graph.times(
        _diagonal(graph, kernel.kernel, X), kernel.factor
    ),
    "UnitDiagonal": _unit_diagonal_squares,
    "WeightedSum": lambda graph, kernel, X: _weighted(
        graph, kernel, X, 1, lambda part: _diagonal(graph, part, X)
    ),
}


# --- sums over support rows ---------------------------------------------------------------------


def expansion(graph, part, X):
    """Σ_m k_m(X, support) @ coefficients_m + biases."""
    Z = _dense(part.support)
    terms = [
        _product(graph, kernel, X, Z, coefficients)
        for kernel, coefficients in zip(part.kernels, part.coefficients, strict=True)
        if np.any(coefficients)
    ]
    if not terms:
        return graph.at_every_row(X, part.biases)
    return graph.total(*terms, part.biases)


def component_scores(graph, part, X):
    """Every component's k_owner(X, support) @ coefficients + bias, side by side."""
    if part.support.shape[0] == 0:
        return graph.at_every_row(X, part.biases)
    Z, owners = _dense(part.support), np.array(part.owners)
    groups = [(m, np.flatnonzero(owners == m)) for m in np.unique(owners)]
    found = [
        _product(graph, part.kernels[m], X, Z, part.coefficients[mine].T) for m, mine in groups
    ]
    scores = graph.op("Concat", *found, axis=1) if len(found) > 1 else found[0]
    order = np.concatenate([mine for _, mine in groups])
    if np.any(np.diff(order) < 0):  # components of one kernel need not be neighbors
        scores = graph.columns(scores, np.argsort(order))
    return graph.op("Add", scores, part.biases)


def _product(graph, kernel, X, Z, coefficients):
    """k(X, Z) @ coefficients, which take the kernel's factor."""
    coefficients = coefficients.astype(np.float64)
    while type(kernel).__name__ == "Scaled":
        kernel, coefficients = kernel.kernel, kernel.factor * coefficients
    return graph.op("MatMul", kernel_block(graph, kernel, X, Z), coefficients)


def _dense(support):
    if issparse(support):
        require_room(support.shape[0] * support.shape[1] * support.dtype.itemsize)
        support = support.toarray()
    return np.asarray(support, dtype=np.float64)


SCORERS = {"KernelExpansion": expansion, "ComponentScores": component_scores}
