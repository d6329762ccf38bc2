"""A small random tree with rows, targets and weights for it."""

from dataclasses import replace

import numpy as np

from nearlinear.gates.trees.node_gates import NODE_GATES, TanhNode
from nearlinear.losses import LOSSES, EpsilonInsensitive, LabelLogLoss, SquaredError
from nearlinear.solvers.trees.model import TreeModel

from . import tree

SIGMA = 0.7
ALL_LOSSES = {
    **LOSSES,
    "log loss of labels": LabelLogLoss(),
    "squared_error": SquaredError(),
    "epsilon_insensitive": EpsilonInsensitive(0.3),
}


def make_feature(kind, sigma=SIGMA):
    return TanhNode(sigma) if kind == "tanh" else NODE_GATES[kind]()


def make_tree(kind, depth=2, n_outputs=1, *, n_features=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    n_nodes = 2 ** (depth + 1) - 1
    n_split_rows = n_nodes if kind == "compositional" else 2**depth - 1
    n_slope_rows = n_nodes if kind == "tanh" else 0
    shapes = (n_split_rows,), (n_slope_rows,), (n_nodes, n_outputs)
    arrays = (rng.standard_normal((*shape, n_features + 1)).astype(dtype) for shape in shapes)
    return TreeModel(*arrays, make_feature(kind))


def make_projected(kind, n_outputs=1, *, n_components=3, n_features=5, dtype=np.float64):
    """A tree of depth 2 on projected rows."""
    projection = np.random.default_rng(2).standard_normal((n_components, n_features)).astype(dtype)
    model = make_tree(kind, 2, n_outputs, n_features=n_components, dtype=dtype)
    return replace(model, projection=projection)


def make_rows(n_outputs=1, n_rows=12, *, n_features=3, seed=1, dtype=np.float64):
    """Rows with a constant column, targets of ±1 and weights; a fifth of the numbers is zero."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n_rows, n_features + 1))
    Z[np.abs(Z) < 0.25] = 0.0
    Z[:, -1] = 1.0
    if n_outputs == 1:
        targets = np.where(Z[:, :1] + Z[:, 1:2] * Z[:, 2:3] > 0, 1.0, -1.0)
    else:
        labels = (Z @ rng.standard_normal((n_features + 1, n_outputs))).argmax(axis=1)
        targets = np.where(labels[:, None] == np.arange(n_outputs), 1.0, -1.0)
    return Z.astype(dtype), targets.astype(dtype), rng.uniform(0.5, 1.5, n_rows)


def make_directions(rng, depth, n_directions, n_leaf_directions, n_features, dtype):
    """Directions of the inner nodes, of which the first is the split, and of the leaves."""
    inner = rng.standard_normal((2**depth - 1, n_directions, n_features + 1)).astype(dtype)
    leaves = rng.standard_normal((2**depth, n_leaf_directions, n_features + 1)).astype(dtype)
    return inner, leaves


def path_products(X, inner, leaves):
    """Products with the nodes of each path (level, direction, row), and with its leaf."""
    depth = len(leaves).bit_length() - 1
    products = np.zeros((depth, inner.shape[1], len(X)))
    at_leaf = np.zeros((leaves.shape[1], len(X)))
    for i, x in enumerate(X):
        z = np.append(x, 1.0)
        *nodes, leaf = tree.path(z, inner[:, 0], depth)
        for level, node in enumerate(nodes):
            products[level, :, i] = inner[node] @ z
        at_leaf[:, i] = leaves[leaf - len(inner)] @ z
    return products, at_leaf
