"""w(x) and b(x) of trees: the models along the path of a row, each times its gate c(x)."""

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled_fast_sums, run_blocks
from ..gates.trees.balanced import hard_paths, local_scores_along_paths
from ..gates.trees.lockstep import LockstepBlock
from ..predictors.tree_path import with_constant
from .linear import LinearParts, blend_models


def explain_tree(predictor, X, n_support, n_jobs):
    found = LinearParts(X, predictor.n_outputs, predictor.depth + 1)
    weights = np.ascontiguousarray(predictor.weights[:, :, :-1])
    biases = np.ascontiguousarray(predictor.weights[:, :, -1:])
    is_leafy = predictor.node_gate.name == "indicator"

    def blend(paths, gates, rows):
        found.active[rows], found.gates[rows] = paths, gates
        if is_leafy:
            paths, gates = paths[:, -1:] - (len(weights) - 1), gates[:, -1:]
        gates = gates.astype(np.float64)
        found.intercepts[rows] = predictor.intercept
        blend_models(paths, gates, biases, found.intercepts[rows, :, None], is_first=False)
        blend_models(paths, gates, weights, found.coefficients[rows])

    if issparse(X):
        blend(*_sparse_walk(predictor, X), slice(None))
        return found.explanation("node")
    idle = []  # memory of finished blocks, for the next one of any thread
    (inner, leaves), n_rows = predictor.packed, min(predictor.block_rows, len(X))

    def work(start, stop):
        # the very passes of prediction: rounded otherwise, a row near a border might cross it
        block = idle.pop() if idle else predictor.block_kind(inner, leaves, n_rows)
        seen = X[start:stop]
        block.walk(seen)
        gates = _features(predictor, block.found, stop - start)
        blend(_paths(predictor, block, seen), gates, slice(start, stop))
        idle.append(block)

    run_blocks(work, len(X), predictor.block_rows, n_jobs)
    return found.explanation("node")


def explain_linked(predictor, X, n_support, n_jobs):
    """Of a path that has ended, the nodes are −1 and the gates 0."""
    found = LinearParts(X, predictor.n_outputs, predictor.depth + 1)
    weights = np.ascontiguousarray(predictor.weights[:, :, :-1])
    biases = np.ascontiguousarray(predictor.weights[:, :, -1:])

    def work(start, stop):
        rows, walked = slice(start, stop), predictor.walk(X[start:stop])
        paths = np.ascontiguousarray(walked.paths.T)
        gates = np.where(paths >= 0, predictor.gates(walked).T, 0.0)
        found.active[rows], found.gates[rows] = paths, gates
        if predictor.ends_alone:
            paths, gates = paths.max(axis=1, keepdims=True), np.ones((len(paths), 1))
        paths = np.maximum(paths, 0)
        found.intercepts[rows] = predictor.intercept
        blend_models(paths, gates, biases, found.intercepts[rows, :, None], is_first=False)
        blend_models(paths, gates, weights, found.coefficients[rows])

    run_blocks(work, X.shape[0], predictor.block_rows, n_jobs)
    return found.explanation("node")


def _features(predictor, found, n_rows):
    """c(x) of the nodes on the paths, shape (n_rows, depth + 1), from products of prediction."""
    if predictor.node_gate.name == "indicator":
        return np.ones((n_rows, predictor.depth + 1))
    own = -predictor.weights.shape[1] - 1
    reached = np.concatenate([found.inner[:, own, :n_rows], found.leaf[:1, :n_rows]])
    return predictor.node_gate.along_path(reached).T


def _paths(predictor, block, seen):
    """Nodes that prediction has led the rows through, shape (n_rows, depth + 1)."""
    n_rows, found = len(seen), block.found
    paths = np.zeros((n_rows, predictor.depth + 1), dtype=np.int32)
    is_lockstep = isinstance(block, LockstepBlock)
    if is_lockstep and predictor.node_gate.name == "tanh":
        reached = np.concatenate([found.inner[:, 1:, :n_rows], found.leaf[None, :, :n_rows]])
        nodes = np.stack([predictor.slopes, predictor.weights[:, 0]], axis=1)
        lengths = np.linalg.norm(predictor.splits, axis=1)
        slack = predictor.splits.shape[1] * np.finfo(seen.dtype).eps
        _retrace(seen, predictor.splits, lengths, nodes, reached, slack, paths)
        return paths
    # side by side, a composed feature's product is the turn; the turns themselves are not kept
    for level, turns in enumerate(found.inner[:, 1 if is_lockstep else 0, :n_rows]):
        paths[:, level + 1] = 2 * paths[:, level] + np.where(turns > 0, 1, 2)
    return paths


def _sparse_walk(predictor, X):
    Z = with_constant(X)
    paths = hard_paths(Z, predictor.splits, predictor.depth)
    if predictor.node_gate.name == "indicator":
        return paths, np.ones(paths.shape)
    products = local_scores_along_paths(predictor.directions[:, None], Z, paths)[:, :, 0]
    return paths, predictor.node_gate.along_path(np.ascontiguousarray(products.T)).T


@compiled_fast_sums
def _product(direction, x):
    """⟨direction, [x, 1]⟩."""
    total = direction[len(x)]
    for d in range(len(x)):
        total += direction[d] * x[d]
    return total


@compiled_fast_sums
def _retrace(X, splits, lengths, nodes, reached, slack, paths):
    """Paths of rows by the signs of their splits, near a border by the products found beyond it.

    ``nodes`` has two directions for each node and ``reached`` (depth + 1, 2, n_rows) the products
    with those on the path.
    """
    for i in range(len(X)):
        x = X[i]
        size = 1.0
        for d in range(len(x)):
            size += x[d] * x[d]
        size = slack * np.sqrt(size)
        node = 0
        for level in range(paths.shape[1] - 1):
            turn = _product(splits[node], x)
            left = turn > 0
            if abs(turn) <= size * lengths[node]:
                miss = 0.0
                for q in range(2):
                    there = reached[level + 1, q, i]
                    miss += abs(_product(nodes[2 * node + 1, q], x) - there)
                    miss -= abs(_product(nodes[2 * node + 2, q], x) - there)
                left = miss < 0.0
            node = 2 * node + (1 if left else 2)
            paths[i, level + 1] = node
