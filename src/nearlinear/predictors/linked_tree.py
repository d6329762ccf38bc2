"""f(x) = b + Σ c_k(x) W_k [x; 1] over the nodes k on the path of x down an unbalanced tree."""

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import run_blocks
from ..gates.trees.balanced import pad, sums_along_paths
from ..gates.trees.linked import END, LinkedProducts, levels_of
from ..gates.trees.lockstep import VECTOR_BYTES
from .base import Cost, check_width
from .tree_path import add_levels, gates_of_nodes

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class LinkedTree:
    """A tree whose nodes name their children.

    Nodes with children come first, the root is 0. ``children`` (n_inner, 2) is where rows go on
    whose split is positive, and where others do; −1 means that they end at the node. ``splits``
    (n_inner rows or, for the compositional gate, n_nodes) and ``slopes`` (n_nodes rows, or none)
    see the last columns of [x; 1], as many as they have. ``weights`` (n_nodes, n_outputs,
    n_features + 1) see all. With the indicator gate the last node of a path local_scores alone: its
    weights are the sum along the path.
    """

    children: np.ndarray
    splits: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    node_gate: object

    @property
    def n_features(self):
        return self.weights.shape[2] - 1

    @property
    def n_outputs(self):
        return self.weights.shape[1]

    @property
    def dtype(self):
        return self.weights.dtype

    @cached_property
    def levels(self):
        """The level of every node."""
        return levels_of(self.children, len(self.weights))

    @property
    def depth(self):
        return int(self.levels.max())

    @property
    def ends_alone(self):
        return self.node_gate.name == "indicator"

    @property
    def directions(self):
        """Those of the nodes' gates."""
        return self.slopes if len(self.slopes) else self.splits

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        check_width(X, self.n_features)
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)

        def work(start, stop):
            found = self.walk(X[start:stop])
            if self.ends_alone:
                np.add(found.local_scores[0].T, self.intercept, out=scores[start:stop])
            else:
                local_scores = found.local_scores[:-1], found.local_scores[-1]
                add_levels(self.gates(found), *local_scores, self.intercept, scores[start:stop].T)

        run_blocks(work, X.shape[0], self.block_rows, n_jobs)
        return scores

    @cached_property
    def block_rows(self):
        row_bytes = (self.depth + 1) * (2 + 2 * self.n_outputs) * self.dtype.itemsize
        return int(np.clip(_BLOCK_BYTES // row_bytes, 64, 4096))

    def walk(self, X):
        """Rows of one block on their way down."""
        found = LinkedProducts(
            self.depth + 1, self.n_outputs, X.shape[0], self.dtype, ends_alone=self.ends_alone
        )
        if self.n_outputs == 1 and not self.ends_alone and not issparse(X):
            found.walk_threes(X, self.children, self.packed)
        else:
            found.walk(X, self.children, self.splits, self.directions, self.weights)
        return found

    @cached_property
    def packed(self):
        """Split, direction of the gate and weights of every node of one output, padded."""
        n_nodes, _, width = self.weights.shape
        threes = np.zeros((n_nodes, 3, width), dtype=self.dtype)
        seen = width - self.splits.shape[1]
        threes[: len(self.splits), 0, seen:] = self.splits
        threes[:, 1, seen:] = self.directions
        threes[:, 2] = self.weights[:, 0]
        return pad(threes, VECTOR_BYTES)

    def gates(self, found):
        """c of the nodes on the paths, shape (depth + 1, n_rows)."""
        if self.ends_alone:
            return np.ones(found.paths.shape, dtype=self.dtype)
        return self.node_gate.along_path(found.own)

    def paths(self, X):
        """Nodes that each row passes, root first, then −1; shape (n_rows, depth + 1)."""
        X = X.astype(self.dtype, copy=False)
        return np.ascontiguousarray(self.walk(X).paths.T)

    def local_features(self, X):
        """The gates of the nodes that each row passes, CSR of shape (n_rows, n_nodes)."""
        check_width(X, self.n_features)
        found = self.walk(X.astype(self.dtype, copy=False))
        paths = np.ascontiguousarray(found.paths.T)
        return gates_of_nodes(paths, self.gates(found).T, len(self.weights))

    def plain(self, X):
        """The same scores from the formula, level by level, in NumPy."""
        Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
        seen = Z[:, Z.shape[1] - self.splits.shape[1] :]
        scores = np.tile(self.intercept, (len(X), 1)).astype(self.dtype)
        node, reached = np.zeros(len(X), dtype=np.intp), []
        for _ in range(self.depth + 1):
            on = np.flatnonzero(node != END)
            at = node[on]
            local_scores = np.zeros_like(scores)
            local_scores[on] = np.einsum("icd,id->ic", self.weights[at], Z[on])
            after = np.full(len(X), END, dtype=np.intp)
            has_child = at < len(self.children)
            inner, rows = at[has_child], on[has_child]
            turns = np.einsum("id,id->i", self.splits[inner], seen[rows])
            after[rows] = self.children[inner, np.where(turns > 0, 0, 1)]
            if self.ends_alone:
                scores += np.where((after == END) & (node != END), 1, 0)[:, None] * local_scores
            else:
                own = np.zeros(len(X), dtype=Z.dtype)
                own[on] = np.einsum("id,id->i", self.directions[at], seen[on])
                reached.append(own)
                scores += self.node_gate.along_path(np.array(reached))[-1][:, None] * local_scores
            node = after
        return scores

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be found again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def cost(self):
        """That of the longest path."""
        seen, n_outputs = self.splits.shape[1] - 1, self.n_outputs
        own = 0 if self.ends_alone or not len(self.slopes) else seen
        n_ways = len(self.splits) - len(self.children)  # leaves that have a split, too
        work = self.depth * (seen + own) + own + (seen if n_ways else 0)
        n_models = 1 if self.ends_alone else self.depth + 1
        work += n_models * n_outputs * self.n_features
        arrays = (getattr(self, field.name) for field in fields(self) if field.name != "node_gate")
        linear = self.n_features * n_outputs
        return Cost(int(work), work / linear, int(sum(array.nbytes for array in arrays)))


def linked_tree(splits, slopes, weights, intercept, node_gate, children, nodes=None):
    """From the arrays of a balanced tree; ``nodes`` are those that stay, in their new order."""
    if node_gate.name == "indicator":
        weights = sums_along_paths(weights)
    if nodes is not None:
        n_inner = len(children)
        splits = splits[nodes] if len(splits) == len(weights) else splits[nodes[:n_inner]]
        slopes, weights = slopes[nodes] if len(slopes) else slopes, weights[nodes]
    arrays = children, splits, slopes, weights
    return LinkedTree(*map(np.ascontiguousarray, arrays), intercept, node_gate)
