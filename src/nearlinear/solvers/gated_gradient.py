"""The adjoint of gated scores: from slopes of the loss to gradients of the local models."""

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled
from ..gates.local_models import group_by_anchor


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
