"""What splits are worth, from the leaves alone: no grower's private numbers."""

import numpy as np

from .gate import LEAF


def node_means(gate, values, covers):
    """Means of the leaf values below every node, (n_nodes, n_told), and the weight of its rows."""
    n_nodes = len(gate.columns)
    sums, weight = np.zeros((n_nodes, values.shape[1])), np.zeros(n_nodes)
    is_leaf = gate.columns == LEAF
    weight[is_leaf] = covers
    sums[is_leaf] = covers[:, None] * values
    for node in np.flatnonzero(~is_leaf)[::-1]:  # children come after their parents
        child = gate.children[node]
        weight[node] = weight[child] + weight[child + 1]
        sums[node] = sums[child] + sums[child + 1]
    return sums / np.maximum(weight, np.finfo(np.float64).tiny)[:, None], weight


def gains_by_column(gate, values, covers):
    """Σ over splits of a column of the variance that the split explains; pair columns come last."""
    means, weight = node_means(gate, np.asarray(values, dtype=np.float64), covers)
    inner = np.flatnonzero(gate.columns != LEAF)
    left = gate.children[inner]
    explained = sum(weight[side] * ((means[side] - means[inner]) ** 2).sum(axis=1)
                    for side in (left, left + 1))  # fmt: skip
    n_columns = gate.n_features + len(gate.pairs)
    return np.bincount(gate.columns[inner], weights=explained, minlength=n_columns)


def feature_shares(predictor):
    """Shares of features in what all splits explain; a pair column counts half for each of two."""
    forest = getattr(predictor, "predictor", predictor)  # of an exponential
    gains = gains_by_column(forest.gate, forest.values, forest.covers)
    n_features = forest.n_features
    shares = gains[:n_features].copy()
    for (i, j), gain in zip(forest.gate.pairs, gains[n_features:], strict=True):
        shares[i] += 0.5 * gain
        shares[j] += 0.5 * gain
    return shares / shares.sum() if shares.sum() > 0 else shares
