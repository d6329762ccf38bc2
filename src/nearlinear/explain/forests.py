"""Scores of forests, taken apart: what every split of a row's paths has changed.

The value of a node is the mean of the leaves below it, weighed by their covers. On its way down, a
row changes that value at every split, by something that goes to the column that is split; a pair
column has a part of its own. What the roots and the slopes of leaves see, w_j x_j, goes to column
j. The values of all first nodes are in the intercept, so that everything sums to the score.
"""

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled, run_blocks
from ..predictors.forest import filled
from .linear import require_room
from .record import Explanation


def explain_forest(predictor, X, n_support, n_jobs):
    """Active are the leaves of the row, one of each tree; all gates are 1."""
    gate, n_outputs = predictor.gate, predictor.n_outputs
    n_parts = gate.n_features + len(gate.pairs)
    require_room(X, n_outputs, n_parts)
    parents, means = node_means(predictor)
    leaves = gate(X, n_jobs)
    leaf_nodes = np.flatnonzero(gate.columns < 0)
    rows = (X.toarray() if issparse(X) else X).astype(np.float64, order="C")
    parts = np.zeros((len(rows), n_outputs, n_parts))
    seen = filled(rows, predictor.fill.astype(np.float64))
    if predictor.root.shape[1]:
        parts[:, :, : gate.n_features] = predictor.root.astype(np.float64) * seen[:, None]
    Z = np.ascontiguousarray(seen[:, predictor.slope_columns])
    tables = leaf_nodes, parents, gate.columns, means, predictor.outputs, predictor.slopes
    tables = (*tables, predictor.slope_columns)

    def work(start, stop):
        add_paths(leaves[start:stop], *tables, Z[start:stop], parts[start:stop])

    run_blocks(work, len(rows), 256, n_jobs)
    intercepts = predictor.intercept.astype(np.float64)
    of_roots = means[gate.starts[:-1]]
    if means.shape[1] == 1:
        np.add.at(intercepts, predictor.outputs, of_roots[:, 0])
    else:
        intercepts += of_roots.sum(axis=0)
    pairs = zip(gate.pairs.tolist(), gate.factors.tolist(), strict=True)
    return Explanation(
        np.tile(intercepts, (len(rows), 1)), rows=rows, component="leaf", active=leaves,
        gates=np.ones(leaves.shape), parts=parts,
        pairs=tuple((*pair, *both) for pair, both in pairs),
    )  # fmt: skip


def node_means(predictor):
    """The parent of every node, −1 of first ones, and its value, shape (n_nodes, n_told)."""
    gate, n_nodes = predictor.gate, len(predictor.gate.columns)
    inner = np.flatnonzero(gate.columns >= 0)
    parents = np.full(n_nodes, -1, dtype=np.int32)
    parents[gate.children[inner]] = parents[gate.children[inner] + 1] = inner
    means, covers = np.zeros((n_nodes, predictor.values.shape[1])), np.zeros(n_nodes)
    is_leaf = gate.columns < 0
    means[is_leaf], covers[is_leaf] = predictor.values, predictor.covers
    add_means(gate.columns, gate.children, covers, means)
    return parents, means


@compiled
def add_means(columns, children, covers, means):
    """Children come after their parents; of two leaves without cover, each counts half."""
    for back in range(len(columns)):
        node = len(columns) - 1 - back
        if columns[node] >= 0:
            left = children[node]
            total = covers[left] + covers[left + 1]
            share = covers[left] / total if total > 0.0 else 0.5
            covers[node] = total
            for k in range(means.shape[1]):
                means[node, k] = share * means[left, k] + (1.0 - share) * means[left + 1, k]


@compiled
def add_paths(
    leaves, leaf_nodes, parents, columns, means, outputs, slopes, slope_columns, Z, parts
):
    n_told = means.shape[1]
    for i in range(len(leaves)):
        for t in range(leaves.shape[1]):
            leaf = leaves[i, t]
            node = leaf_nodes[leaf]
            for k in range(n_told):
                output = outputs[t] if n_told == 1 else k
                for s in range(len(slope_columns)):
                    parts[i, output, slope_columns[s]] += slopes[leaf, k, s] * Z[i, s]
            while parents[node] >= 0:
                parent = parents[node]
                for k in range(n_told):
                    output = outputs[t] if n_told == 1 else k
                    parts[i, output, columns[parent]] += means[node, k] - means[parent, k]
                node = parent
