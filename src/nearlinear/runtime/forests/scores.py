"""Scores of forests in plain NumPy: all rows go down all trees together, level by level."""

import numpy as np

_WORD = 32  # categories in a word of a set


def row_numbers(part):
    """How many numbers the walk and the leaves make of one row."""
    n_trees = len(part.gate.starts) - 1
    return part.gate.n_features + len(part.gate.pairs) + n_trees * (2 + part.slopes[0].size)


def leaves(gate, X):
    """The leaf of each row in every tree, shape (n_rows, n_trees)."""
    A = _with_pairs(gate, X)
    node = np.tile(gate.starts[:-1].astype(np.intp), (len(X), 1)).ravel()
    rows = np.repeat(np.arange(len(X)), len(gate.starts) - 1)
    going = np.flatnonzero(gate.columns[node] >= 0)
    while len(going):
        at = node[going]
        left = _goes_left(gate, at, A[rows[going], gate.columns[at]])
        at = gate.children[at] + ~left
        node[going] = at
        going = going[gate.columns[at] >= 0]
    return gate.children[node].reshape(len(X), len(gate.starts) - 1)


def _with_pairs(gate, X):
    """Each product is rounded, then the sum: as everywhere else, so that no row changes sides."""
    X = X.astype(gate.thresholds.dtype, copy=False)
    first, second = X[:, gate.pairs[:, 0]], X[:, gate.pairs[:, 1]]
    return np.hstack([X, first * gate.factors[:, 0] + second * gate.factors[:, 1]])


def _goes_left(gate, nodes, values):
    left, is_known = values <= gate.thresholds[nodes], ~np.isnan(values)
    if len(gate.sets):
        of_sets = np.flatnonzero(gate.sets[nodes] >= 0)
        found = values[of_sets]
        inside = (found > -1) & (found < _WORD * gate.categories.shape[1])
        category = np.where(inside, found, 0).astype(np.int64)
        words = gate.categories[gate.sets[nodes[of_sets]], category // _WORD].astype(np.int64)
        is_known[of_sets], left[of_sets] = inside, (words >> category % _WORD) & 1 == 1
    return np.where(is_known, left, gate.missing_left[nodes] == 1)


def forest(part, X):
    """b + ⟨root, x⟩ + Σ_t ⟨w_l, z⟩, where l is the leaf of x in tree t; sums in float64."""
    dtype = part.gate.thresholds.dtype
    scores = np.tile(part.intercept.astype(np.float64), (len(X), 1))
    filled = X
    if part.root.shape[1] or part.slopes.shape[2]:
        filled = np.where(np.isnan(X), part.fill if len(part.fill) else dtype.type(0), X)
    if part.root.shape[1]:
        scores += filled @ part.root.T.astype(np.float64)
    seen = filled[:, part.slope_columns].astype(np.float64)
    for tree, leaf in enumerate(leaves(part.gate, X).T):
        told = part.values[leaf].astype(np.float64)
        if part.slopes.shape[2]:
            told += np.einsum("ikd,id->ik", part.slopes[leaf], seen)
        if told.shape[1] == 1:
            scores[:, part.outputs[tree]] += told[:, 0]
        else:
            scores += told
    return scores.astype(dtype)
