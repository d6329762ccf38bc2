"""Trees of linear models as ONNX nodes: all rows go down together, level by level.

A level is a table of its nodes' directions, from which a row fetches those of its own node. One
product then gives the turn (the first), the node's feature (before the scores) and its scores.
"""

import numpy as np

# Up to this many directions a node, a product and a sum beat multiplying many small matrices.
_FEW = 3


def tree_path(graph, part, X):
    """b + Σ c_k(x) W_k [x; 1] over the nodes k on the path of x; of leaves, the last one alone."""
    rows = graph.op("Pad", X, np.array([0, 0, 0, 1]), 1.0)
    place, feature, terms = None, None, []
    for level, table in enumerate(_tables(part)):
        found = _products(graph, table, place, rows)
        if part.node_gate.name != "indicator":
            feature, scores = _feature_and_scores(graph, part, found, table.shape[1], feature)
            terms.append(graph.op("Mul", feature, scores))
        elif level == part.depth:
            terms.append(found)
        if level < part.depth:
            place = _next_place(graph, found, place)
    return graph.total(*terms, part.intercept)


def _tables(part):
    """Directions of every level's nodes, shape (n_nodes, n_directions, n_features + 1)."""
    for level in range(part.depth + 1):
        nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
        splits = [part.splits[nodes, None]] if level < part.depth else []
        if part.node_gate.name == "indicator":
            yield splits[0] if splits else part.weights
        elif part.node_gate.name == "compositional":  # a split is its node's feature, too
            yield np.concatenate([part.splits[nodes, None], part.weights[nodes]], axis=1)
        else:
            own = [part.slopes[nodes, None], part.weights[nodes]]
            yield np.concatenate([*splits, *own], axis=1)


def _products(graph, table, place, rows):
    """Products of every row with the directions of its node, shape (n_rows, n_directions)."""
    if place is None:  # the root, where all rows are
        return graph.op("MatMul", rows, table[0].T)
    directions = graph.op("Gather", table, place, axis=0)
    if table.shape[1] <= _FEW:
        products = graph.op("Mul", directions, graph.op("Unsqueeze", rows, np.array([1])))
        return graph.sum_over(products, 2, keepdims=0)
    products = graph.op("MatMul", directions, graph.op("Unsqueeze", rows, np.array([2])))
    return graph.op("Squeeze", products, np.array([2]))


def _feature_and_scores(graph, part, found, n_directions, above):
    n_outputs = part.weights.shape[1]
    first = n_directions - n_outputs
    own = graph.columns(found, [first - 1])
    scores = graph.columns(found, range(first, n_directions))
    if part.node_gate.name == "tanh":
        own = graph.op("Mul", own, float(part.node_gate.sigma))
    elif above is not None:
        own = graph.op("Mul", own, above)
    return graph.op("Tanh", own), scores


def _next_place(graph, found, place):
    """Where in the next level: the first child of a node if its turn is positive, or the second."""
    is_second = graph.op("LessOrEqual", graph.columns(found, 0), 0.0)
    step = graph.cast(is_second, np.int64)
    return step if place is None else graph.op("Add", graph.op("Mul", place, 2), step)


def linked_tree(graph, part, X):
    """The same for a tree whose nodes name their children: one table for all levels.

    A row whose path has ended meets a last node of zeros; with the indicator gate, it stays.
    """
    rows = graph.op("Pad", X, np.array([0, 0, 0, 1]), 1.0)
    table, ways = _linked_tables(part)
    is_leafy = part.node_gate.name == "indicator"
    place, feature, terms = None, None, []
    for level in range(part.depth + 1):
        found = None if is_leafy and level == part.depth else _products(graph, table, place, rows)
        if not is_leafy:
            feature, scores = _feature_and_scores(graph, part, found, table.shape[1], feature)
            terms.append(graph.op("Mul", feature, scores))
        if level < part.depth:
            place = graph.op("Gather", ways, _next_place(graph, found, place), axis=0)
    if is_leafy:
        terms.append(_products(graph, part.weights, place, rows))
    return graph.total(*terms, part.intercept)


def _linked_tables(part):
    """Directions of all nodes, and where each side of a node leads."""
    n_nodes, n_outputs, width = part.weights.shape
    is_leafy = part.node_gate.name == "indicator"
    # split, own direction and weights; a composed feature is that of the split
    n_own = 0 if is_leafy else 1 + n_outputs
    n_splits = 0 if part.node_gate.name == "compositional" else 1
    table = np.zeros((n_nodes + 1, n_splits + n_own, width), dtype=part.weights.dtype)
    table[: len(part.splits), 0, width - part.splits.shape[1] :] = part.splits
    if not is_leafy:
        table[:n_nodes, n_splits + 1 :] = part.weights
        if len(part.slopes):
            table[:n_nodes, n_splits, width - part.slopes.shape[1] :] = part.slopes
    ways = np.full((n_nodes + 1, 2), -1, dtype=np.int64)
    ways[: len(part.children)] = part.children
    ends = np.arange(n_nodes + 1)[:, None] if is_leafy else n_nodes
    return table, np.where(ways < 0, ends, ways).ravel()
