"""Linear models, local ones, sums of curves and hinge units in SQL."""

import numpy as np

from .builder import values_of
from .curves import on_knots
from .literals import number, number_list


def locally_linear(query, part, X):
    """Σ_j γ_j(x) (W_jᵀ x + b_j) + b."""
    gates = values_of(query, part.gate, X)
    _, width, n_outputs = part.weights.shape
    seen = X[:width]
    intercept = np.zeros(n_outputs) if part.intercept is None else part.intercept
    blend = _of_nearest if isinstance(gates, tuple) else _of_all
    return [
        query.total([number(intercept[o]), *blend(query, part, seen, gates, o)])
        for o in range(n_outputs)
    ]


def _of_all(query, part, X, gates, output):
    local = query.products(X, part.weights[:, :, output], part.biases[:, output])
    return [f"{gate} * {value}" for gate, value in zip(map(query.let, gates), local)]


def _of_nearest(query, part, X, gates, output):
    indices, codes = gates
    biases = query.let(number_list(part.biases[:, output]))
    weights = part.weights[:, :, output]
    row = query.row(X)
    models = query.let(number_list(weights)) if len(X) else None
    terms = []
    for index, code in zip(indices, codes):
        local = f"{biases}[{index}]"
        if models is not None:
            local = f"({local} + list_dot_product({row}, {models}[{index}]))"
        terms.append(f"{code} * {local}")
    return terms


def additive(query, part, X):
    """⟨w, x⟩ + b, and a line through the knots of each column that has some."""
    scores = query.products(X, part.weights.T, part.intercept)
    for output, score in enumerate(scores):
        terms = [score]
        for d in np.flatnonzero(np.diff(part.firsts)):
            mine = slice(part.firsts[d], part.firsts[d + 1])
            terms.append(on_knots(query, X[d], part.knots[mine], part.values[mine, output]))
        scores[output] = query.total(terms)
    return scores


def hinges(query, part, X):
    for weights, biases in zip(part.weights[:-1], part.biases[:-1]):
        units = query.products(X, weights.T, biases)
        X = tuple(query.let(f"greatest({unit}, 0e0)") for unit in units)
    return query.products(X, part.weights[-1].T, part.biases[-1])


# --- maps, and predictors of others -------------------------------------------------------------


def mapped(query, part, X):
    seen = tuple(query.let(one) for one in values_of(query, part.map, X))
    return values_of(query, part.predictor, seen)


def affine(query, part, X):
    return query.products(X, part.matrix[:, :-1], part.matrix[:, -1])


def quadratic(query, part, X):
    scale = number(part.scale)
    Z = [query.let(f"({x} - {number(c)}) / {scale}") for x, c in zip(X, part.center)]
    first, second = np.triu_indices(len(Z))
    return [*(f"{Z[i]} * {Z[j]}" for i, j in zip(first, second)), *Z]


def with_gates(query, part, X):
    return [*X, *values_of(query, part.gate, X)]


def stacked(query, part, X):
    return [score for output in part.outputs for score in values_of(query, output, X)]


def exponential(query, part, X):
    return [f"exp({score})" for score in values_of(query, part.predictor, X)]
