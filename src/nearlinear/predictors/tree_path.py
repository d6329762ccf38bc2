"""f(x) = b + Σ c_k(x) W_k [x; 1] over the nodes k on the path of x down a tree."""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .._compile import compiled_fast_sums, run_blocks
from ..gates.trees import lockstep as tree_lockstep
from ..gates.trees import walk as tree_walk
from ..gates.trees.balanced import answers_along_paths, depth_of, hard_paths, pad
from ..gates.trees.node_gates import (
    NODE_GATES,
    CompositionalNode,
    IndicatorNode,
    TanhNode,
)
from .base import Cost, check_width, count_bytes

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class TreePath:
    """A tree of which each row sees one path.

    ``splits`` and ``slopes`` are the directions of :class:`TreeModel`, ``weights`` has shape
    (n_nodes, n_outputs, n_features + 1). With the indicator gate the models along a path are
    added up in advance and ``weights`` has one entry per leaf. With a ``projection``
    (n_components, n_features + 1) the tree stands on projected rows.
    """

    splits: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    intercept: np.ndarray
    node_gate: TanhNode | CompositionalNode | IndicatorNode
    projection: np.ndarray | None = None

    @classmethod
    def of(cls, splits, slopes, weights, intercept, node_gate, projection=None):
        """From the weights of all nodes, whatever the gate."""
        if node_gate.name == "indicator":
            weights = _sums_to_leaves(weights)
        return cls(splits, slopes, weights, intercept, node_gate, projection)

    @property
    def n_features(self):
        return (self.weights.shape[2] if self.projection is None else self.projection.shape[1]) - 1

    def seen(self, X):
        """Rows as the tree sees them."""
        if self.projection is None:
            return X
        return np.asarray(X @ self.projection[:, :-1].T) + self.projection[:, -1]

    @property
    def depth(self):
        if self.node_gate.name == "indicator":
            return len(self.weights).bit_length() - 1
        return depth_of(len(self.weights))

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        check_width(X, self.n_features)
        if issparse(X):
            if self.projection is None:
                return self._sparse_scores(X)
            return replace(self, projection=None)(self.seen(X), n_jobs)
        scores = np.empty((len(X), self.weights.shape[1]), dtype=self.weights.dtype)
        block_of, (inner, leaves) = self._block_kind, self._packed
        idle = []  # memory of finished blocks, for the next one of any thread

        def work(start, stop):
            block = idle.pop() if idle else block_of(inner, leaves, min(self._block_rows, len(X)))
            block.walk(self.seen(X[start:stop]))
            self._add_up(block.found, scores[start:stop])
            idle.append(block)

        run_blocks(work, len(X), self._block_rows, n_jobs)
        return scores

    @cached_property
    def _block_kind(self):
        """How rows are best taken down: side by side, or sorted by node."""
        is_narrow = self.weights.shape[2] <= tree_lockstep.WIDEST
        if is_narrow and self.node_gate.name != "indicator" and self.weights.shape[1] == 1:
            return tree_lockstep.LockstepBlock
        return tree_walk.WalkBlock

    @cached_property
    def _block_rows(self):
        """As many rows as stay in the cache with their products."""
        n_outputs, width = self.weights.shape[1:]
        own = 0 if self._block_kind is tree_lockstep.LockstepBlock else width
        row_bytes = (own + (self.depth + 1) * (2 + n_outputs)) * self.weights.itemsize
        return int(np.clip(_BLOCK_BYTES // row_bytes, 64, 4096))

    @cached_property
    def _packed(self):
        """Directions of the inner nodes and of the leaves, padded; the split comes first."""
        is_lockstep = self._block_kind is tree_lockstep.LockstepBlock
        vector = (tree_lockstep if is_lockstep else tree_walk).VECTOR_BYTES
        if self.node_gate.name == "indicator":
            return pad(self.splits[:, None], vector), pad(self.weights, vector)
        # the compositional gate reads its split twice: so both kinds share all passes
        own = self.slopes if len(self.slopes) else self.splits
        nodes = np.concatenate([own[:, None], self.weights], axis=1)
        n_splits = 2**self.depth - 1
        inner = np.concatenate([self.splits[:n_splits, None], nodes[:n_splits]], axis=1)
        return pad(inner, vector), pad(nodes[n_splits:], vector)

    def _add_up(self, found, scores):
        if self.node_gate.name == "indicator":
            np.add(found.leaf[:, : len(scores)].T, self.intercept, out=scores)
            return
        n_outputs = scores.shape[1]
        found.features[:-1] = found.inner[:, -n_outputs - 1]
        found.features[-1] = found.leaf[0]
        features = self.node_gate.along_path(found.features[:, : len(scores)])
        answers, leaf_answers = found.inner[:, -n_outputs:], found.leaf[1:]
        _add_levels(features, answers, leaf_answers, self.intercept, scores.T)

    def _sparse_scores(self, X):
        Z = with_constant(X)
        paths = hard_paths(Z, self.splits, self.depth)
        if self.node_gate.name == "indicator":
            leaves = paths[:, -1:] - (2**self.depth - 1)
            return answers_along_paths(self.weights, Z, leaves)[:, 0] + self.intercept
        directions = self.splits if self.node_gate.name == "compositional" else self.slopes
        products = answers_along_paths(directions[:, None], Z, paths)[:, :, 0]
        features = self.node_gate.along_path(np.ascontiguousarray(products.T)).T
        answers = answers_along_paths(self.weights, Z, paths)
        return np.einsum("ik,ikc->ic", features, answers) + self.intercept

    def paths(self, X):
        """Nodes that each row passes, root first, shape (n_rows, depth + 1); rows dense or CSR."""
        X = self.seen(X)
        if issparse(X):
            return hard_paths(with_constant(X), self.splits, self.depth)
        Z = np.ones((len(X), X.shape[1] + 1), dtype=self.splits.dtype)
        Z[:, :-1] = X
        return hard_paths(Z, self.splits, self.depth)

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def plain(self, X):
        """The same scores from the formula, level by level, in NumPy."""
        X = self.seen(X)
        Z = np.column_stack([X, np.ones(len(X), dtype=X.dtype)])
        directions = self.splits if self.node_gate.name == "compositional" else self.slopes
        node = np.zeros(len(X), dtype=np.intp)
        scores = np.zeros((len(X), self.weights.shape[1]), dtype=self.weights.dtype)
        above = np.ones(len(X), dtype=Z.dtype)
        for level in range(self.depth + 1):
            if self.node_gate.name != "indicator":
                reached = np.einsum("id,id->i", directions[node], Z)
                if self.node_gate.name == "compositional":
                    above = np.tanh(above * reached)
                else:
                    above = np.tanh(self.node_gate.sigma * reached)
                scores += above[:, None] * np.einsum("icd,id->ic", self.weights[node], Z)
            if level < self.depth:
                turn = np.einsum("id,id->i", self.splits[node], Z)
                node = np.where(turn > 0, 2 * node + 1, 2 * node + 2)
        if self.node_gate.name == "indicator":
            leaf = node - (2**self.depth - 1)
            scores = np.einsum("icd,id->ic", self.weights[leaf], Z)
        return scores + self.intercept

    @property
    def dtype(self):
        return self.weights.dtype

    @property
    def cost(self):
        n_outputs, width = self.weights.shape[1:]
        dots = {
            "tanh": self.depth + (self.depth + 1) * (1 + n_outputs),
            "compositional": (self.depth + 1) * (1 + n_outputs),
            "indicator": self.depth + n_outputs,
        }[self.node_gate.name]
        work = dots * (width - 1)
        if self.projection is not None:
            work += len(self.projection) * self.n_features
        linear = self.n_features * n_outputs
        return Cost(int(work), work / linear, count_bytes(self.to_arrays()))

    def to_arrays(self):
        """Plain arrays from which ``from_arrays`` rebuilds the predictor."""
        projection = {} if self.projection is None else {"projection": self.projection}
        return {
            **projection,
            "splits": self.splits,
            "slopes": self.slopes,
            "weights": self.weights,
            "intercept": self.intercept,
            "node_gate": np.array(self.node_gate.name),
            "sigma": np.array(getattr(self.node_gate, "sigma", 1.0)),
        }

    @classmethod
    def from_arrays(cls, arrays):
        kind = NODE_GATES[str(arrays["node_gate"])]
        node_gate = kind(float(arrays["sigma"])) if kind is TanhNode else kind()
        names = ("splits", "slopes", "weights", "intercept")
        return cls(*(arrays[name] for name in names), node_gate, arrays.get("projection"))


def with_constant(X):
    """CSR rows with a last column of ones."""
    from scipy.sparse import csr_matrix, hstack

    ones = csr_matrix(np.ones((X.shape[0], 1), dtype=X.dtype))
    return hstack([X, ones], format="csr", dtype=X.dtype)


def _sums_to_leaves(weights):
    """Add up the models of each path: the one linear model of every leaf."""
    sums = weights.copy()
    for node in range(1, len(sums)):
        sums[node] += sums[(node - 1) // 2]
    return np.ascontiguousarray(sums[len(sums) // 2 :])


@compiled_fast_sums
def _add_levels(features, answers, leaf_answers, intercept, scores):
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
