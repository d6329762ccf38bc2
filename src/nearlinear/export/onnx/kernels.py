"""Kernels of rows and support rows, and the sums over them, as ONNX nodes.

``X`` is the name of a value, ``Z`` an array of support rows in float64.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.sparse import issparse

from ...kinds import kind_of
from .builder import Graph, require_room, values_of


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


@dataclass(frozen=True)
class Pairs:
    """Every row of X, a value of the graph, with every row of the array Z, in float64."""

    graph: Graph
    X: str
    Z: np.ndarray

    @property
    def products(self):
        return self.scaled_products(1.0)

    def scaled_products(self, factor):
        return self.graph.op("MatMul", self.X, factor * self.Z.T)

    @property
    def squared_distances(self):
        return squared_distances(self.graph, self.X, self.Z)

    def on(self, columns):
        """The same pairs, of which only these columns are seen."""
        columns = list(columns)
        return Pairs(self.graph, self.graph.columns(self.X, columns), self.Z[:, columns])

    @property
    def width(self):
        return len(self.Z)


@dataclass(frozen=True)
class EqualPairs:
    """Every row of X with itself: one column."""

    graph: Graph
    X: str
    width = 1

    @property
    def products(self):
        return squared_norms(self.graph, self.X)

    def scaled_products(self, factor):
        return self.graph.times(self.products, factor)

    @property
    def squared_distances(self):
        return self.graph.at_every_row(self.X, np.zeros(1))

    def on(self, columns):
        return EqualPairs(self.graph, self.graph.columns(self.X, columns))


def _polynomial(graph, kernel, pairs):
    sums = graph.op("Add", pairs.scaled_products(kernel.gamma), kernel.coef0)
    return graph.op("Pow", sums, float(kernel.degree))


def _unit_diagonal(graph, kernel, pairs):
    own = values_of(graph, kernel.kernel, EqualPairs(graph, pairs.X))
    if isinstance(pairs, EqualPairs):
        return graph.op("Where", graph.op("Greater", own, 0.0), 1.0, 0.0)
    diagonal = kernel.kernel.diagonal(pairs.Z)
    positive = diagonal > 0
    other = np.where(positive, 1.0 / np.sqrt(np.where(positive, diagonal, 1.0)), 0.0)
    block = graph.op("Mul", values_of(graph, kernel.kernel, pairs), _inverse_roots(graph, own))
    return graph.times(block, other)


def _inverse_roots(graph, diagonal):
    """1 / √d, and 0 where d is 0."""
    positive = graph.op("Greater", diagonal, 0.0)
    safe = graph.op("Where", positive, diagonal, 1.0)
    return graph.op("Where", positive, graph.op("Reciprocal", graph.op("Sqrt", safe)), 0.0)


def _weighted_sum(graph, kernel, pairs):
    """Kernels of weight zero are not evaluated."""
    weighted = zip(kernel.kernels, kernel.weights, strict=True)
    terms = [
        graph.times(values_of(graph, part, pairs), weight)
        for part, weight in weighted
        if weight != 0.0
    ]
    return graph.total(*terms) if terms else graph.at_every_row(pairs.X, np.zeros(pairs.width))


def _pairwise(graph, kernel, pairs):
    """Σ_m γ_m(x) γ_m(z) k_m(x, z) / Σ_m γ_m(x) γ_m(z): the last columns are gates."""
    d, n_kernels = kernel.n_features, len(kernel.kernels)
    rows, gates = pairs.on(range(d)), pairs.on(range(d, d + n_kernels))
    terms = []
    for m, part in enumerate(kernel.kernels):
        left = graph.columns(pairs.X, [d + m])
        block = graph.op("Mul", values_of(graph, part, rows), left)
        terms.append(graph.op("Mul", block, gates.Z[:, m]))
    return graph.op("Div", graph.total(*terms), gates.products)


KERNELS = {
    "Linear": lambda graph, kernel, pairs: pairs.products,
    "Polynomial": _polynomial,
    "Gaussian": lambda graph, kernel, pairs: graph.op(
        "Exp", graph.op("Mul", pairs.squared_distances, -kernel.gamma)
    ),
    "OnColumns": lambda graph, kernel, pairs: values_of(
        graph, kernel.kernel, pairs.on(kernel.columns)
    ),
    "Scaled": lambda graph, kernel, pairs: graph.times(
        values_of(graph, kernel.kernel, pairs), kernel.factor
    ),
    "UnitDiagonal": _unit_diagonal,
    "WeightedSum": _weighted_sum,
    "Product": lambda graph, kernel, pairs: reduce(
        lambda left, right: graph.op("Mul", left, right),
        (values_of(graph, part, pairs) for part in kernel.kernels),
    ),
    "PairwiseNormalizedSum": _pairwise,
}


# --- sums over support rows ---------------------------------------------------------------------


def expansion(graph, part, X):
    """Σ_m k_m(X, support) @ coefficients_m + biases."""
    if part.n_support == 0:
        return graph.at_every_row(X, part.biases)
    Z = _dense(part.support)
    if part.owners is not None:
        return graph.op("Add", _side_by_side(graph, part, X, Z), part.biases)
    terms = [
        _product(graph, kernel, X, Z, coefficients)
        for kernel, _, coefficients in part.terms
        if np.any(coefficients)
    ]
    return graph.total(*terms, part.biases) if terms else graph.at_every_row(X, part.biases)


def _side_by_side(graph, part, X, Z):
    """Outputs with a kernel each."""
    terms = [term for term in part.terms if len(term[1])]
    found = [_product(graph, kernel, X, Z, coefficients) for kernel, _, coefficients in terms]
    scores = graph.op("Concat", *found, axis=1) if len(found) > 1 else found[0]
    order = np.concatenate([outputs for _, outputs, _ in terms])
    if np.any(np.diff(order) < 0):  # outputs of one kernel need not be neighbors
        scores = graph.columns(scores, np.argsort(order))
    return scores


def _product(graph, kernel, X, Z, coefficients):
    """k(X, Z) @ coefficients, which take the kernel's factor."""
    coefficients = coefficients.astype(np.float64)
    while kind_of(kernel) == "Scaled":
        kernel, coefficients = kernel.kernel, kernel.factor * coefficients
    return graph.op("MatMul", values_of(graph, kernel, Pairs(graph, X, Z)), coefficients)


def _dense(support):
    if issparse(support):
        require_room(support.shape[0] * support.shape[1] * support.dtype.itemsize)
        support = support.toarray()
    return np.asarray(support, dtype=np.float64)
