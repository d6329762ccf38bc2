"""Scores of trees in plain NumPy, and the gates of the nodes that rows pass."""

import numpy as np

from .parts import values_of


def _levels(part, X):
    """For each level: numbers of the rows that are there, their nodes, gates, and which end there.

    A path of an indicator tree has gates of 1.
    """
    Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    kind = part.node_gate.kind if hasattr(part, "node_gate") else "IndicatorNode"
    children = _children(part)
    own = part.slopes if kind == "TanhNode" else part.splits
    seen = Z[:, Z.shape[1] - own.shape[1] :]
    above = np.ones(len(X), dtype=Z.dtype)
    rows, node = np.arange(len(X)), np.zeros(len(X), dtype=np.intp)
    while len(rows):
        after = np.full(len(rows), -1, dtype=np.intp)
        inner = node < len(children)
        turn = np.einsum("id,id->i", part.splits[node[inner]], seen[rows[inner]])
        after[inner] = children[node[inner], np.where(turn > 0, 0, 1)]
        gate = above[rows]
        if kind != "IndicatorNode":
            reached = np.einsum("id,id->i", own[node], seen[rows])
            gate = _node_feature(part.node_gate, reached, gate)
            if kind == "CompositionalNode":
                above[rows] = gate
        yield rows, node, gate, after < 0
        rows, node = rows[after >= 0], after[after >= 0]


def _node_feature(gate, reached, above):
    """c of nodes from the products with their directions; ``above`` is that of the parents."""
    if gate.kind == "CompositionalNode":
        return np.tanh(above * reached)
    return np.tanh(gate.sigma * reached)


def _children(part):
    if part.kind == "LinkedTree":
        return part.children
    inner = np.arange(
        len(part.weights) - 1 if part.kind == "TreeLeaves" else len(part.weights) // 2
    )
    return np.stack([2 * inner + 1, 2 * inner + 2], axis=1)


def _path_scores(part, X):
    """Σ over the nodes of a path, each times its gate."""
    Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    scores = np.tile(part.intercept, (len(X), 1))
    for rows, node, gate, _ in _levels(part, X):
        scores[rows] += gate[:, None] * np.einsum("icd,id->ic", part.weights[node], Z[rows])
    return scores


def _end_scores(part, X):
    """The last node of a path answers alone; a balanced tree has weights of leaves only."""
    Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
    scores = np.tile(part.intercept, (len(X), 1))
    before = len(part.weights) - 1 if part.kind == "TreeLeaves" else 0
    for rows, node, _, ends in _levels(part, X):
        weights, rows = part.weights[node[ends] - before], rows[ends]
        scores[rows] += np.einsum("icd,id->ic", weights, Z[rows])
    return scores


def _linked_tree(part, X):
    is_leafy = part.node_gate.kind == "IndicatorNode"
    return _end_scores(part, X) if is_leafy else _path_scores(part, X)


def local_features(part, X):
    """The gates of the nodes that each row passes, zero elsewhere, (n_rows, n_nodes)."""
    if part.kind == "Mapped":
        return local_features(part.predictor, values_of(part.map, X))
    if part.kind == "Averaged":
        trees = zip(part.members, part.weights)
        found = np.hstack([local_features(tree, X) * np.sqrt(weight) for tree, weight in trees])
        return found / np.sqrt(sum(part.weights))
    n_nodes = 2 * len(part.weights) - 1 if part.kind == "TreeLeaves" else len(part.weights)
    found = np.zeros((len(X), n_nodes), dtype=X.dtype)
    for rows, node, gate, _ in _levels(part, X):
        found[rows, node] = gate
    return found


def quadratic(part, X):
    """Products of scaled features in pairs, then these features."""
    Z = (X - part.center) / part.center.dtype.type(part.scale)
    first, second = np.triu_indices(Z.shape[1])
    return np.concatenate([Z[:, first] * Z[:, second], Z], axis=1)


TREES = {"TreePath": _path_scores, "TreeLeaves": _end_scores, "LinkedTree": _linked_tree}
