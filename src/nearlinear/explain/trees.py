"""w(x) and b(x) of trees: the models along the path of a row, each times its gate c(x)."""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled_fast_sums, run_blocks
from ..gates.trees.balanced import answers_along_paths, hard_paths
from ..gates.trees.lockstep import LockstepBlock
from ..predictors.tree_path import with_constant
from .linear import LinearParts, blend_models


def explain_tree(predictor, X, n_support, n_jobs):
    found = LinearParts(X, predictor.weights.shape[1], predictor.depth + 1)
    _fill(predictor, X, n_jobs, _NodeModels(predictor, found, found.active, found.gates))
    return found.explanation("node")


def explain_forest(predictor, X, n_support, n_jobs):
    """The mean over the trees; ``active`` and ``gates`` have shape (n_rows, n_trees, length)."""
    first, count = predictor.trees[0], len(predictor.trees)
    found = LinearParts(X, first.weights.shape[1], count, first.depth + 1)
    for t, tree in enumerate(predictor.trees):
        active, gates = found.active[:, t], found.gates[:, t]
        models = _NodeModels(tree, found, active, gates, share=1.0 / count, is_first=t == 0)
        _fill(tree, X, n_jobs, models)
    return found.explanation("node")


def _fill(predictor, X, n_jobs, models):
    """Lead the rows down the tree and blend what they meet."""
    if issparse(X) and predictor.projection is not None:
        X, predictor = predictor.seen(X), replace(predictor, projection=None)
    if issparse(X):
        models.blend(*_sparse_walk(predictor, X), slice(None))
        return
    idle = []  # memory of finished blocks, for the next one of any thread
    (inner, leaves), n_rows = predictor._packed, min(predictor._block_rows, len(X))

    def work(start, stop):
        # the very passes of prediction: rounded otherwise, a row near a border might cross it
        block = idle.pop() if idle else predictor._block_kind(inner, leaves, n_rows)
        seen = predictor.seen(X[start:stop])
        block.walk(seen)
        features = _features(predictor, block.found, stop - start)
        models.blend(_paths(predictor, block, seen), features, slice(start, stop))
        idle.append(block)

    run_blocks(work, len(X), predictor._block_rows, n_jobs)


class _NodeModels:
    """The linear models of all nodes (of the leaves, where those of a path are summed).

    They count with ``share`` and are put into ``found``, or added to what the ones before left.
    """

    def __init__(self, predictor, found, active, gates, share=1.0, is_first=True):
        self._weights = np.ascontiguousarray(predictor.weights[:, :, :-1])
        self._biases = np.ascontiguousarray(predictor.weights[:, :, -1:])
        self._intercept = share * predictor.intercept.astype(np.float64)
        self._is_leafy = predictor.node_gate.name == "indicator"
        self._projection = predictor.projection
        self._found, self._active, self._gates = found, active, gates
        self._share, self._is_first = share, is_first

    def blend(self, paths, features, rows):
        self._active[rows], self._gates[rows] = paths, features
        if self._is_leafy:
            paths, features = paths[:, -1:] - (len(self._weights) - 1), features[:, -1:]
        found, features = self._found, self._share * features.astype(np.float64)
        if self._is_first:
            found.intercepts[rows] = 0.0
        found.intercepts[rows] += self._intercept
        blend_models(paths, features, self._biases, found.intercepts[rows, :, None], is_first=False)
        if self._projection is None:
            blend_models(
                paths, features, self._weights, found.coefficients[rows], is_first=self._is_first
            )
            return
        weights = np.empty((len(paths), *self._weights.shape[1:]))
        blend_models(paths, features, self._weights, weights)
        projection = self._projection.astype(np.float64)
        found.intercepts[rows] += weights @ projection[:, -1]
        if self._is_first:
            np.matmul(weights, projection[:, :-1], out=found.coefficients[rows])
        else:
            found.coefficients[rows] += weights @ projection[:, :-1]


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
    own = predictor.splits if predictor.node_gate.name == "compositional" else predictor.slopes
    products = answers_along_paths(own[:, None], Z, paths)[:, :, 0]
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
