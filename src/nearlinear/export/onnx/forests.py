"""Forests as one operator of ONNX's own, ``TreeEnsembleRegressor`` of ai.onnx.ml.

It leads rows to the leaves that our walk finds: rows and thresholds in the gate's precision, a side
for missing values at each split, pair columns made before it from single products. Where leaves
have slopes, a leaf's slopes are values like its constant, and their sums over the trees are the
linear model of a row. A set of categories becomes a chain of comparisons.
"""

import numpy as np

from .builder import OnnxExportError

_WORD = 32  # categories in a word of a set
_MOST_NODES = 10**7  # some hundred bytes each, while a graph is put together
_MODES = np.array(["LEAF", "BRANCH_LEQ", "BRANCH_EQ"])


def forest(graph, part, X):
    gate = part.gate
    own = graph.of(gate.dtype)
    rows = X if graph.dtype == gate.dtype else graph.cast(X, gate.dtype)
    scores = own.op("Add", _leaves(own, part, rows), part.intercept)
    if part.root.shape[1]:
        scores = own.op("Add", scores, own.op("MatMul", _filled(own, part, rows), part.root.T))
    return scores if graph.dtype == gate.dtype else graph.cast(scores, graph.dtype)


def _filled(graph, part, rows):
    """Rows as root and slopes see them."""
    fill = part.fill if len(part.fill) else np.zeros(part.n_features)
    return graph.op("Where", graph.op("IsNaN", rows), fill[None], rows)


def _leaves(graph, part, rows):
    """Sums over the trees, shape (n_rows, n_outputs)."""
    gate = part.gate
    weights, numbers = _weights(part)
    n_targets = part.n_outputs * (1 + part.slopes.shape[2])
    columns, places = _split_columns(graph, gate, rows)
    tables = _nodes(gate, places)
    of_leaf = np.flatnonzero(tables["nodes_modes"] == "LEAF")
    of_leaf = np.repeat(of_leaf, weights.shape[1])
    tables["target_treeids"] = tables["nodes_treeids"][of_leaf]
    tables["target_nodeids"] = tables["nodes_nodeids"][of_leaf]
    tables["target_ids"], weights = numbers.ravel(), weights.ravel()
    if gate.dtype == np.float32:
        tables["target_weights"] = weights.astype(np.float32)
        found = _regressor(graph, columns, n_targets, tables)
    else:
        tables["nodes_values_as_tensor"] = tables.pop("nodes_values")
        found = _in_double(graph, columns, n_targets, tables, weights, gate.n_trees)
    if not part.slopes.shape[2]:
        return found
    found = graph.op("Reshape", found, np.array([0, part.n_outputs, 1 + part.slopes.shape[2]]))
    seen = graph.columns(_filled(graph, part, rows), part.slope_columns)
    seen = graph.op("Pad", seen, np.array([0, 1, 0, 0]), 1.0)
    products = graph.op("Mul", found, graph.op("Unsqueeze", seen, np.array([1])))
    return graph.sum_over(products, 2, keepdims=0)


def _regressor(graph, columns, n_targets, tables):
    return graph.op("ai.onnx.ml.TreeEnsembleRegressor", columns, n_targets=n_targets, **tables)


def _in_double(graph, columns, n_targets, tables, weights, n_trees):
    """The operator gives single precision, so it is asked for two sums.

    The first is of multiples of a grid so coarse that single precision holds it; the second of what
    is left.
    """
    largest = n_trees * np.abs(weights).max(initial=0.0)
    grid = 2.0 ** (np.ceil(np.log2(largest)) - 23) if largest > 0 else 1.0
    coarse = np.rint(weights / grid) * grid
    for name in ("target_treeids", "target_nodeids"):
        tables[name] = np.repeat(tables[name], 2)
    numbers = tables["target_ids"]
    tables["target_ids"] = np.column_stack([numbers, n_targets + numbers]).ravel()
    tables["target_weights_as_tensor"] = np.column_stack([coarse, weights - coarse]).ravel()
    found = graph.cast(_regressor(graph, columns, 2 * n_targets, tables), np.float64)
    first, rest = (np.arange(n_targets) + k * n_targets for k in range(2))
    return graph.op("Add", graph.columns(found, first), graph.columns(found, rest))


def _weights(part):
    """What leaves add, and to which numbers; constant and slopes of an output side by side."""
    told = np.concatenate([part.values[:, :, None], part.slopes], axis=2)
    n_leaves, n_told, width = told.shape
    first = np.arange(n_told)[None]
    if n_told == 1:
        trees = np.repeat(np.arange(part.gate.n_trees), np.diff(part.gate.leaf_starts))
        first = part.outputs[trees][:, None]
    numbers = np.broadcast_to(first[:, :, None] * width + np.arange(width), told.shape)
    return told.reshape(n_leaves, -1), numbers.reshape(n_leaves, -1)


def _split_columns(graph, gate, rows):
    """Columns with pair columns, then those of categories; and the place of each among these."""
    columns = [rows]
    if len(gate.pairs):
        sides = (
            graph.op("Mul", graph.columns(rows, gate.pairs[:, k]), gate.factors[:, k])
            for k in range(2)
        )
        columns.append(graph.op("Add", *sides))
    joined = columns[0] if len(columns) == 1 else graph.op("Concat", *columns, axis=1)
    if not np.any(gate.sets >= 0):
        return joined, None
    split = np.unique(gate.columns[gate.sets >= 0])
    places = np.full(gate.n_features + len(gate.pairs), -1)
    places[split] = len(places) + np.arange(len(split))
    found = graph.columns(joined, split)
    n_known = float(_WORD * gate.categories.shape[1])
    known = graph.op(
        "And", graph.op("Greater", found, -1.0), graph.op("Less", found, n_known)
    )  # fmt: skip
    whole = graph.op("Floor", graph.op("Max", found, 0.0))
    # of a category that no set knows, as of a missing one, the operator sees NaN
    missing = graph.op("Sqrt", graph.at_every_row(rows, -np.ones(len(split))))
    return graph.op("Concat", joined, graph.op("Where", known, whole, missing), axis=1), places


def _nodes(gate, places):
    """Attributes of the nodes; those of a chain follow each other."""
    of_sets = gate.sets if len(gate.sets) else np.full(len(gate.columns), -1)
    members, swapped = _chains(gate)
    lengths = np.array([1, *(len(chain) for chain in members)])[of_sets + 1]
    if lengths.sum() > _MOST_NODES:
        raise OnnxExportError(
            f"The sets of categories are {lengths.sum():.2g} comparisons in ONNX, where there is "
            f"room for {_MOST_NODES:.2g}: give columns of fewer categories."
        )
    first = np.concatenate([[0], np.cumsum(lengths)])
    node = np.repeat(np.arange(len(lengths)), lengths)
    at = np.arange(len(node))
    is_leaf, is_set = gate.columns[node] < 0, of_sets[node] >= 0
    tree = np.repeat(np.arange(gate.n_trees), np.diff(gate.starts))[node]
    root = first[gate.starts[:-1]][tree]
    child = np.where(is_leaf, 0, gate.children[node])
    left, right = (np.where(is_leaf, root, first[child + k * ~is_leaf]) for k in range(2))
    is_swapped = np.array([False, *swapped])[of_sets[node] + 1]
    true, false = np.where(is_swapped, right, left), np.where(is_swapped, left, right)
    is_last = at == first[node + 1] - 1
    values, column = gate.thresholds[node].copy(), np.where(is_leaf, 0, gate.columns[node])
    if places is not None:
        order = [members[number] for number in of_sets if number >= 0]
        values[is_set] = np.concatenate(order)
        column = np.where(is_set, places[column], column)
    values[is_leaf] = 0.0
    return {
        "nodes_treeids": tree,
        "nodes_nodeids": at - root,
        "nodes_featureids": column,
        "nodes_modes": _MODES[np.where(is_leaf, 0, 1 + is_set)],
        "nodes_values": values,
        "nodes_truenodeids": true - root,
        "nodes_falsenodeids": np.where(is_last, false, at + 1) - root,
        "nodes_missing_value_tracks_true": np.where(
            is_leaf, 0, gate.missing_left[node] ^ is_swapped
        ),
    }


def _chains(gate):
    """Of every set its members, or those of its complement where these are fewer; and which."""
    bits = np.unpackbits(
        gate.categories.astype("<u4").view(np.uint8), axis=1, bitorder="little"
    ).astype(bool)  # fmt: skip
    members, swapped = [], []
    for known in bits:
        is_swapped = np.count_nonzero(known) > len(known) // 2
        chain = np.flatnonzero(~known if is_swapped else known)
        members.append(chain if len(chain) else np.array([-1]))  # no category is that
        swapped.append(is_swapped)
    return members, swapped
