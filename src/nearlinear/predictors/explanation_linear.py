"""w(x) and b(x) of models that blend linear ones by a gate."""

import numpy as np
from scipy.sparse import csr_array, issparse

from .._compile import run_blocks
from ..gates.local_models import rows_per_block
from .explanation_record import Explanation

# Sparse rows are told in dense numbers, up to so many.
_MOST_NUMBERS = 10**8
_BLOCK = 2048  # of GatedLinear, so that gates are computed as in prediction


def explain_locally_linear(predictor, X, n_jobs):
    n_anchors, width, n_outputs = predictor.weights.shape
    found = LinearParts(X, n_outputs, predictor.gate.n_neighbors)
    weights = flat_models(predictor.weights.transpose(0, 2, 1))
    biases = predictor.biases.astype(np.float64)

    def work(start, stop):
        # gates in the model's own precision: rounded otherwise, other anchors might be nearest
        indices, codes = predictor.gate.codes(X[start:stop])
        blend = sparse_gates(indices, codes, n_anchors)
        found.active[start:stop], found.gates[start:stop] = indices, codes
        local = (blend @ weights).reshape(stop - start, n_outputs, width)
        found.coefficients[start:stop, :, :width] = local
        found.intercepts[start:stop] = blend @ biases

    run_blocks(work, X.shape[0], rows_per_block(X.shape[1]), n_jobs)
    if width < X.shape[1]:  # local models are constants
        found.coefficients[:, :, width:] = 0.0
    return found.explanation("anchor")


def explain_gated_linear(predictor, X, n_jobs):
    n_components = len(predictor.biases)
    found = LinearParts(X, 1, n_components)
    weights = np.ascontiguousarray(predictor.weights.T, dtype=np.float64)
    biases = predictor.biases.astype(np.float64)
    found.active[...] = np.arange(n_components)

    def work(start, stop):
        gates = np.asarray(predictor.gate(X[start:stop]), dtype=np.float64)
        found.gates[start:stop] = gates
        np.matmul(gates, weights, out=found.coefficients[start:stop, 0])
        found.intercepts[start:stop, 0] = gates @ biases + predictor.bias

    run_blocks(work, X.shape[0], _BLOCK, n_jobs)
    return found.explanation("component")


class LinearParts:
    """Room for the explanation of rows, which blocks of them fill; ``n_active`` may have axes."""

    def __init__(self, X, n_outputs, *n_active):
        n_rows, n_features = X.shape
        n_numbers = n_rows * n_outputs * n_features
        if issparse(X) and n_numbers > _MOST_NUMBERS:
            most = _MOST_NUMBERS // (n_outputs * n_features)
            raise ValueError(
                f"Explaining {n_rows} sparse rows would take {n_numbers:.2g} coefficients, which "
                f"are dense; explain at most {most} rows at a time."
            )
        # a copy: what is explained must not change with the caller's rows
        self.rows = (X.toarray() if issparse(X) else X).astype(np.float64, order="C")
        self.coefficients = np.empty((n_rows, n_outputs, n_features))
        self.intercepts = np.empty((n_rows, n_outputs))
        self.active = np.empty((n_rows, *n_active), dtype=np.int32)
        self.gates = np.empty((n_rows, *n_active))

    def explanation(self, component):
        return Explanation(
            self.intercepts, self.coefficients, self.rows, component, self.active, self.gates
        )


def flat_models(models):
    """Linear models (n_models, n_outputs, n_features) as rows of float64."""
    return np.ascontiguousarray(models, dtype=np.float64).reshape(len(models), -1)


def sparse_gates(active, gates, n_components):
    """Gate values (n_rows, n_active) as a sparse matrix, by which a product blends models."""
    n_rows, n_active = active.shape
    starts = np.arange(0, active.size + 1, n_active)
    values = gates.astype(np.float64).ravel()
    return csr_array((values, active.ravel(), starts), shape=(n_rows, n_components))
