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
    if part.node_gate.name == "tanh":
        own = graph.op("Mul", own, float(part.node_gate.sigma))
    elif above is not None:
        own = graph.op("Mul", own, above)
    return graph.op("Tanh", own), graph.columns(found, range(first, n_directions))


def _next_place(graph, found, place):
    """Where in the next level: the first child of a node if its turn is positive, or the second."""
    is_second = graph.op("LessOrEqual", graph.columns(found, 0), 0.0)
    step = graph.cast(is_second, np.int64)
    return step if place is None else graph.op("Add", graph.op("Mul", place, 2), step)
