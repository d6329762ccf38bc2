"""f(x) = b + W_l [x; 1], where l is the leaf of x in a tree."""

from dataclasses import dataclass, fields

import numpy as np

from .._cached import cached_property
from ..gates.trees.balanced import hard_paths, local_scores_along_paths, pad, sums_along_paths
from ..gates.trees.node_gates import IndicatorNode
from ..gates.trees.walk import VECTOR_BYTES, WalkBlock
from .tree_path import gates_of_nodes, paths_of, rows_in_cache, tree_cost, walk_down, with_constant


@dataclass(frozen=True)
class TreeLeaves:
    """A tree with one linear model in each leaf.

    ``splits`` has shape (n_leaves − 1, n_features + 1), ``weights`` (n_leaves, n_outputs,
    n_features + 1).
    """

    splits: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray

    node_gate = IndicatorNode()
    block_kind = WalkBlock

    @classmethod
    def of_nodes(cls, splits, weights, intercept):
        """From the models of all nodes: those along a path are added up."""
        sums = sums_along_paths(weights)
        return cls(splits, np.ascontiguousarray(sums[len(sums) // 2 :]), intercept)

    @property
    def n_features(self):
        return self.weights.shape[2] - 1

    @property
    def n_outputs(self):
        return self.weights.shape[1]

    @property
    def dtype(self):
        return self.weights.dtype

    @property
    def depth(self):
        return len(self.weights).bit_length() - 1

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        return walk_down(self, X, n_jobs)

    @cached_property
    def block_rows(self):
        return rows_in_cache(self, self.weights.shape[2])

    @cached_property
    def packed(self):
        """Directions of the inner nodes, and models of the leaves, padded."""
        return pad(self.splits[:, None], VECTOR_BYTES), pad(self.weights, VECTOR_BYTES)

    def add_up(self, found, scores):
        """Scores of rows that a block has led down."""
        np.add(found.leaf[:, : len(scores)].T, self.intercept, out=scores)

    def sparse_scores(self, X):
        Z = with_constant(X)
        leaves = hard_paths(Z, self.splits, self.depth)[:, -1:] - len(self.splits)
        return local_scores_along_paths(self.weights, Z, leaves)[:, 0] + self.intercept

    def paths(self, X):
        """Nodes that each row passes, root first, shape (n_rows, depth + 1); rows dense or CSR."""
        return paths_of(self, X)

    def local_features(self, X):
        """1 for each node that a row passes, CSR of shape (n_rows, n_nodes)."""
        paths = paths_of(self, X)
        return gates_of_nodes(paths, np.ones(paths.shape, self.dtype), 2 * len(self.weights) - 1)

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
        leaves = paths_of(self, X)[:, -1] - len(self.splits)
        return np.einsum("icd,id->ic", self.weights[leaves], Z) + self.intercept

    @property
    def cost(self):
        return tree_cost(self, self.depth + self.n_outputs, (self.splits,))
