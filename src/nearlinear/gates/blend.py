"""Local linear models under a sparse gate: f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j), and its adjoint.

Every pass works on the k active models of a row only; the n × m(D+1) Kronecker features
γ(x) ⊗ [x; 1] are never built. Rows are grouped by anchor so that one matrix product serves all
rows of a local model.
The adjoint takes slopes of a loss to gradients of the local models.
"""

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled, compiled_fast_sums, run_blocks

# Numbers of the data handled at once (2 MB of float32): measured, between the caches' sizes and the
# overhead of a block.
_BLOCK_NUMBERS = 1 << 19


def rows_per_block(n_features):
    return int(np.clip(_BLOCK_NUMBERS // max(1, n_features), 64, 2048))


def gated_scores(X, indices, codes, weights, biases, n_jobs=None):
    """Scores f(X), shape (n_rows, n_outputs)."""
    scores = np.empty((X.shape[0], weights.shape[2]), dtype=codes.dtype)

    def work(start, stop):
        local = local_scores(X[start:stop], indices[start:stop], weights, biases)
        np.einsum("ik,ikc->ic", codes[start:stop], local, out=scores[start:stop])

    run_blocks(work, X.shape[0], rows_per_block(X.shape[1]), n_jobs)
    return scores


def local_scores(X, indices, weights, biases):
    """What each active local model says: s[i, p] = W_jᵀ x_i + b_j with j = indices[i, p]."""
    n_rows, n_neighbors = indices.shape
    n_outputs = weights.shape[2]
    local = np.empty((n_rows, n_neighbors, n_outputs), dtype=weights.dtype)
    if issparse(X):
        _sparse_local_scores(X.indptr, X.indices, X.data, indices, weights, biases, local)
    elif n_outputs == 1:
        _single_local_scores(X, indices, weights[:, :, 0], biases[:, 0], local[:, :, 0])
    else:
        order, starts = group_by_anchor(indices, len(weights))
        room = int(np.diff(starts).max())
        gathered = np.empty((room, X.shape[1]), dtype=X.dtype)
        products = np.empty((room, n_outputs), dtype=X.dtype)
        flat = local.reshape(-1, n_outputs)
        _grouped_local_scores(
            X, n_neighbors, order, starts, weights, biases, gathered, products, flat
        )
    return local


def group_by_anchor(indices, n_anchors):
    """Pairs (row, position) in order of their anchor: flat pair numbers, and where each starts."""
    order = np.empty(indices.size, dtype=np.int32)
    starts = np.empty(n_anchors + 1, dtype=np.int32)
    _group_pairs(indices.ravel(), order, starts)
    return order, starts


@compiled
def _group_pairs(flat, order, starts):
    starts[:] = 0
    for pair in range(len(flat)):
        starts[flat[pair] + 1] += 1
    for j in range(1, len(starts)):
        starts[j] += starts[j - 1]
    for pair in range(len(flat)):
        j = flat[pair]
        order[starts[j]] = pair
        starts[j] += 1
    for j in range(len(starts) - 1, 0, -1):
        starts[j] = starts[j - 1]
    starts[0] = 0


@compiled_fast_sums
def _single_local_scores(X, indices, weights, biases, local):
    for i in range(X.shape[0]):
        for p in range(indices.shape[1]):
            j = indices[i, p]
            total = biases[j]
            for d in range(X.shape[1]):
                total += weights[j, d] * X[i, d]
            local[i, p] = total


@compiled
def _grouped_local_scores(
    X, n_neighbors, order, starts, weights, biases, gathered, products, local
):
    for j in range(len(weights)):
        first, count = starts[j], starts[j + 1] - starts[j]
        if count == 0:
            continue
        for t in range(count):
            gathered[t] = X[order[first + t] // n_neighbors]
        np.dot(gathered[:count], weights[j], products[:count])
        for t in range(count):
            pair = order[first + t]
            for c in range(biases.shape[1]):
                local[pair, c] = products[t, c] + biases[j, c]


@compiled
def _sparse_local_scores(indptr, columns, data, indices, weights, biases, local):
    for i in range(len(indptr) - 1):
        for p in range(indices.shape[1]):
            j = indices[i, p]
            local[i, p] = biases[j]
            for t in range(indptr[i], indptr[i + 1]):
                for c in range(biases.shape[1]):
                    local[i, p, c] += data[t] * weights[j, columns[t], c]


def gated_gradient(X, indices, pair_slopes, active, n_anchors):
    """Σ over pairs of an anchor of x_i ⊗ slope, shape (n_anchors, n_features, n_columns).

    ``pair_slopes`` has one row of slopes for each (row, position); only ``active`` rows count.
    Also returns the plain sums of the slopes, shape (n_anchors, n_columns).
    """
    n_rows, n_neighbors, n_columns = pair_slopes.shape
    products = np.zeros((n_anchors, X.shape[1], n_columns), dtype=pair_slopes.dtype)
    sums = np.zeros((n_anchors, n_columns), dtype=pair_slopes.dtype)
    if issparse(X):
        _sparse_gradient(X.indptr, X.indices, X.data, indices, pair_slopes, active, products, sums)
        return products, sums
    order, starts = group_by_anchor(indices, n_anchors)
    room = int(np.diff(starts).max())
    gathered = np.empty((room, X.shape[1]), dtype=X.dtype)
    slopes = np.empty((room, n_columns), dtype=pair_slopes.dtype)
    flat = pair_slopes.reshape(n_rows * n_neighbors, n_columns)
    _grouped_gradient(X, n_neighbors, order, starts, flat, active, gathered, slopes, products, sums)
    return products, sums


@compiled
def _grouped_gradient(
    X, n_neighbors, order, starts, pair_slopes, active, gathered, slopes, products, sums
):
    n_columns = pair_slopes.shape[1]
    for j in range(len(sums)):
        count = 0
        for t in range(starts[j], starts[j + 1]):
            pair = order[t]
            row = pair // n_neighbors
            if active[row]:
                gathered[count] = X[row]
                for c in range(n_columns):
                    slopes[count, c] = pair_slopes[pair, c]
                    sums[j, c] += pair_slopes[pair, c]
                count += 1
        if count > 0:
            np.dot(gathered[:count].T, slopes[:count], products[j])


@compiled
def _sparse_gradient(indptr, columns, data, indices, pair_slopes, active, products, sums):
    for i in range(len(active)):
        if not active[i]:
            continue
        for p in range(indices.shape[1]):
            j = indices[i, p]
            for c in range(sums.shape[1]):
                sums[j, c] += pair_slopes[i, p, c]
            for t in range(indptr[i], indptr[i + 1]):
                for c in range(sums.shape[1]):
                    products[j, columns[t], c] += data[t] * pair_slopes[i, p, c]
