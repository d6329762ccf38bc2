"""f(x) = b + Σ c_k(x) W_k [x; 1] over the nodes k on the path of x down a tree."""

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import compiled_fast_sums, run_blocks
from ..gates.trees import lockstep, walk
from ..gates.trees.balanced import depth_of, hard_paths, local_scores_along_paths, pad
from ..gates.trees.node_gates import CompositionalNode, TanhNode
from .base import Cost, check_width

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class TreePath:
    """A tree of which each row sees one path.

    ``splits`` and ``slopes`` are the directions of :class:`TreeModel`, ``weights`` has shape
    (n_nodes, n_outputs, n_features + 1).
    """

    splits: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    node_gate: TanhNode | CompositionalNode

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
        return depth_of(len(self.weights))

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        return walk_down(self, X, n_jobs)

    @cached_property
    def block_kind(self):
        """How rows are best taken down: side by side, or sorted by node."""
        is_narrow = self.weights.shape[2] <= lockstep.WIDEST
        return lockstep.LockstepBlock if is_narrow and self.n_outputs == 1 else walk.WalkBlock

    @cached_property
    def block_rows(self):
        own = 0 if self.block_kind is lockstep.LockstepBlock else self.weights.shape[2]
        return rows_in_cache(self, own)

    @cached_property
    def packed(self):
        """Directions of the inner nodes and of the leaves, padded; the split comes first."""
        is_lockstep = self.block_kind is lockstep.LockstepBlock
        vector = (lockstep if is_lockstep else walk).VECTOR_BYTES
        # the compositional gate reads its split twice: so both kinds share all passes
        own = self.slopes if len(self.slopes) else self.splits
        nodes = np.concatenate([own[:, None], self.weights], axis=1)
        n_splits = 2**self.depth - 1
        inner = np.concatenate([self.splits[:n_splits, None], nodes[:n_splits]], axis=1)
        return pad(inner, vector), pad(nodes[n_splits:], vector)

    def add_up(self, found, scores):
        """Scores of rows that a block has led down."""
        n_outputs = scores.shape[1]
        found.features[:-1] = found.inner[:, -n_outputs - 1]
        found.features[-1] = found.leaf[0]
        gates = self.node_gate.along_path(found.features[:, : len(scores)])
        answers, leaf_answers = found.inner[:, -n_outputs:], found.leaf[1:]
        add_levels(gates, answers, leaf_answers, self.intercept, scores.T)

    def sparse_scores(self, X):
        Z = with_constant(X)
        paths = hard_paths(Z, self.splits, self.depth)
        products = local_scores_along_paths(self.directions[:, None], Z, paths)[:, :, 0]
        gates = self.node_gate.along_path(np.ascontiguousarray(products.T)).T
        answers = local_scores_along_paths(self.weights, Z, paths)
        return np.einsum("ik,ikc->ic", gates, answers) + self.intercept

    @property
    def directions(self):
        """Those of the nodes' gates."""
        return self.splits if self.node_gate.name == "compositional" else self.slopes

    def paths(self, X):
        """Nodes that each row passes, root first, shape (n_rows, depth + 1); rows dense or CSR."""
        return paths_of(self, X)

    def local_features(self, X):
        """The gates of the nodes that each row passes, CSR of shape (n_rows, n_nodes)."""
        Z = rows_with_constant(self, X)
        paths = hard_paths(Z, self.splits, self.depth)
        products = local_scores_along_paths(self.directions[:, None], Z, paths)[:, :, 0]
        gates = self.node_gate.along_path(np.ascontiguousarray(products.T)).T
        return gates_of_nodes(paths, gates, len(self.weights))

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def plain(self, X):
        """The same scores from the formula, level by level, in NumPy."""
        Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
        scores = np.zeros((len(X), self.n_outputs), dtype=self.dtype)
        above = np.ones(len(X), dtype=Z.dtype)
        for node in paths_of(self, X).T:
            reached = np.einsum("id,id->i", self.directions[node], Z)
            if self.node_gate.name == "compositional":
                above = np.tanh(above * reached)
            else:
                above = np.tanh(self.node_gate.sigma * reached)
            scores += above[:, None] * np.einsum("icd,id->ic", self.weights[node], Z)
        return scores + self.intercept

    @property
    def cost(self):
        n_dots = (self.depth + 1) * (1 + self.n_outputs)
        n_dots += 0 if self.node_gate.name == "compositional" else self.depth
        return tree_cost(self, n_dots, (self.splits, self.slopes))


def walk_down(tree, X, n_jobs):
    """Scores of rows that a tree leads down in blocks."""
    check_width(X, tree.n_features)
    if issparse(X):
        return tree.sparse_scores(X)
    scores = np.empty((len(X), tree.n_outputs), dtype=tree.dtype)
    inner, leaves = tree.packed
    idle = []  # memory of finished blocks, for the next one of any thread

    def work(start, stop):
        block = idle.pop() if idle else tree.block_kind(inner, leaves, min(tree.block_rows, len(X)))
        block.walk(X[start:stop])
        tree.add_up(block.found, scores[start:stop])
        idle.append(block)

    run_blocks(work, len(X), tree.block_rows, n_jobs)
    return scores


def rows_in_cache(tree, own):
    """As many rows as stay in the cache with their products and ``own`` numbers."""
    row_bytes = (own + (tree.depth + 1) * (2 + tree.n_outputs)) * tree.dtype.itemsize
    return int(np.clip(_BLOCK_BYTES // row_bytes, 64, 4096))


def paths_of(tree, X):
    return hard_paths(rows_with_constant(tree, X), tree.splits, tree.depth)


def rows_with_constant(tree, X):
    """[x, 1] in the tree's precision; sparse rows stay sparse."""
    check_width(X, tree.n_features)
    if issparse(X):
        return with_constant(X)
    Z = np.ones((len(X), X.shape[1] + 1), dtype=tree.splits.dtype)
    Z[:, :-1] = X
    return Z


def gates_of_nodes(paths, gates, n_nodes):
    """A sparse matrix with the gate of every node on a path; −1 is no node."""
    from scipy.sparse import csr_matrix

    on = paths >= 0
    starts = np.concatenate([[0], np.cumsum(on.sum(axis=1))])
    return csr_matrix((gates[on], paths[on], starts), shape=(len(paths), n_nodes))


def tree_cost(tree, n_dots, directions):
    """So many products with a row; ``directions`` beside weights and intercept."""
    work, arrays = n_dots * tree.n_features, (*directions, tree.weights, tree.intercept)
    linear = tree.n_features * tree.n_outputs
    return Cost(int(work), work / linear, int(sum(array.nbytes for array in arrays)))


def with_constant(X):
    """CSR rows with a last column of ones."""
    from scipy.sparse import csr_matrix, hstack

    ones = csr_matrix(np.ones((X.shape[0], 1), dtype=X.dtype))
    return hstack([X, ones], format="csr", dtype=X.dtype)


@compiled_fast_sums
def add_levels(features, answers, leaf_answers, intercept, scores):
    """``scores`` has one row per output: contiguous for a single one, where it matters most."""
    n_outputs, n_rows = scores.shape
    for c in range(n_outputs):
        score, feature, answer = scores[c], features[len(answers)], leaf_answers[c]
        for i in range(n_rows):
            score[i] = intercept[c] + feature[i] * answer[i]
        for level in range(len(answers)):
            feature, answer = features[level], answers[level, c]
            for i in range(n_rows):
                score[i] += feature[i] * answer[i]
