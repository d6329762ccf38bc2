"""A forest as a gate: of every tree one leaf answers for a row, γ = 1, and the others are shut."""

from dataclasses import dataclass, fields, replace

import numpy as np
from scipy.sparse import issparse

from ..._cached import cached_property
from .packed import PackedForest

LEAF = -1  # in place of a node's column
_WORD = 32  # categories in a word of a set


@dataclass(frozen=True)
class ForestGate:
    """Trees of splits on single columns, on pair columns or on sets of categories.

    Pair column p is ``factors[p, 0]`` x_i + ``factors[p, 1]`` x_j for (i, j) = ``pairs[p]``, in the
    gate's own precision: each product is rounded, then the sum. It has the number n_features + p.

    Nodes of all trees stand one after another; tree t has those from ``starts[t]`` on, its root
    first, and every node before its children. A node splits ``columns``: rows with a value of at
    most ``thresholds`` go to ``children``, the others to the node after that. The column of a leaf
    is −1, and its child is the number of the leaf; leaves are counted through all trees, in the
    order of nodes. A missing value goes to the first child where ``missing_left`` is 1.

    Where ``sets`` is not −1 (it is empty without such nodes), the column has categories 0, 1, …:
    those whose bit is set in that row of ``categories`` go to the first child. A category beyond
    the bits, or below 0, is like a missing one; fractions are cut off.
    """

    n_features: int
    pairs: np.ndarray
    factors: np.ndarray
    starts: np.ndarray
    columns: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    missing_left: np.ndarray
    sets: np.ndarray
    categories: np.ndarray

    @property
    def dtype(self):
        return self.thresholds.dtype

    @property
    def n_trees(self):
        return len(self.starts) - 1

    @property
    def n_leaves(self):
        return int(np.count_nonzero(self.columns == LEAF))

    @cached_property
    def leaf_starts(self):
        """The first leaf of every tree, and the number of all leaves."""
        is_leaf = self.columns == LEAF
        return np.concatenate([[0], np.cumsum(is_leaf)])[self.starts].astype(np.int32)

    @cached_property
    def packed(self):
        return PackedForest.of(self)

    def __call__(self, X, n_jobs=None):
        """The leaf of each row in every tree, shape (n_rows, n_trees); rows dense or CSR."""
        return self.packed.leaves(X, n_jobs)

    def all_columns(self, X):
        """Dense rows with their pair columns."""
        X = np.asarray(X, dtype=self.dtype)
        first, second = X[:, self.pairs[:, 0]], X[:, self.pairs[:, 1]]
        return np.hstack([X, first * self.factors[:, 0] + second * self.factors[:, 1]])

    def plain(self, X):
        """The same leaves, level by level, in NumPy."""
        A = self.all_columns(X.toarray() if issparse(X) else X)
        rows = np.arange(len(A))
        found = np.empty((len(A), self.n_trees), dtype=np.int32)
        for tree, root in enumerate(self.starts[:-1]):
            node = np.full(len(A), root)
            while True:
                inner = self.columns[node] != LEAF
                if not inner.any():
                    break
                at, on = node[inner], rows[inner]
                node[inner] = self.children[at] + ~self._goes_left(at, A[on, self.columns[at]])
            found[:, tree] = self.children[node]
        return found

    def _goes_left(self, nodes, values):
        left = values <= self.thresholds[nodes]
        is_known = ~np.isnan(values)
        if len(self.sets):
            of_sets = np.flatnonzero(self.sets[nodes] >= 0)
            inside = (values[of_sets] > -1) & (values[of_sets] < _WORD * self.categories.shape[1])
            is_known[of_sets] = inside
            category = np.where(inside, values[of_sets], 0).astype(np.int64)
            words = self.categories[self.sets[nodes[of_sets]], category // _WORD]
            left[of_sets] = (words >> (category % _WORD).astype(np.uint32)) & 1 == 1
        return np.where(is_known, left, self.missing_left[nodes] == 1)

    def in_single(self):
        """The same gate for float32 rows, which go the same ways where they split no pairs."""
        return replace(
            self, factors=self.factors.astype(np.float32),
            thresholds=rounded_down(self.thresholds, np.dtype(np.float32)),
        )  # fmt: skip

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class GrownTree:
    """One tree as a grower has it, its nodes in any order, the root first.

    ``left`` and ``right`` are −1 at leaves; ``threshold`` means value ≤ threshold goes left;
    ``sets`` has for each node None or the categories that go left, and ``missing_left`` says where
    all other categories and missing values go. ``value`` (n_nodes, n_told) counts at leaves and
    ``cover``, the weight of a node's training rows, too. ``output`` is the one that the tree adds
    to, and 0 of vector leaves.
    """

    column: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    cover: np.ndarray
    output: int = 0
    sets: tuple | None = None


def gather_trees(trees, n_features, dtype, pairs=None, factors=None, n_categories=0):
    """A gate of grown trees, and arrays of their leaves: values (n_leaves, n_told), covers.

    ``n_categories`` is how many there are in any column: sets have at least as many bits.

    float32 gates take thresholds rounded down: for a float32 x, x ≤ t holds just when x ≤ the
    largest float32 that is not above t.
    """
    pairs = np.empty((0, 2), dtype=np.int32) if pairs is None else pairs
    factors = np.empty((0, 2), dtype=dtype) if factors is None else factors
    sets, dtype = [], np.dtype(dtype)
    parts = {name: [] for name in ("columns", "thresholds", "children", "missing_left", "sets")}
    values, covers, starts, n_leaves = [], [], [0], 0
    for tree in trees:
        order, children = _breadth_first(tree)
        is_leaf = tree.left[order] < 0
        children = children + starts[-1]
        children[is_leaf] = n_leaves + np.arange(np.count_nonzero(is_leaf))
        parts["columns"].append(np.where(is_leaf, LEAF, tree.column[order]))
        parts["thresholds"].append(np.where(is_leaf, 0.0, tree.threshold[order]))
        parts["children"].append(children)
        parts["missing_left"].append(np.where(is_leaf, 0, tree.missing_left[order]))
        numbers = np.full(len(order), -1)
        for place, node in enumerate(order if tree.sets is not None else ()):
            if tree.sets[node] is not None:
                numbers[place] = len(sets)
                sets.append(np.asarray(tree.sets[node], dtype=np.int64))
        parts["sets"].append(numbers)
        values.append(tree.value[order][is_leaf])
        covers.append(tree.cover[order][is_leaf])
        n_leaves += len(values[-1])
        starts.append(starts[-1] + len(order))
    joined = {name: np.concatenate(part) for name, part in parts.items()}
    known = max([n_categories, *(int(one.max(initial=-1)) + 1 for one in sets)])
    categories = np.zeros((len(sets), -(-known // _WORD) if sets else 0), dtype=np.uint32)
    for bits, members in zip(categories, sets, strict=True):
        np.bitwise_or.at(
            bits, members // _WORD, np.uint32(1) << (members % _WORD).astype(np.uint32)
        )
    gate = ForestGate(
        int(n_features),
        np.asarray(pairs, dtype=np.int32).reshape(-1, 2),
        np.asarray(factors, dtype=dtype).reshape(-1, 2),
        np.array(starts, dtype=np.int32),
        joined["columns"].astype(np.int32),
        rounded_down(joined["thresholds"], dtype),
        joined["children"].astype(np.int32),
        joined["missing_left"].astype(np.uint8),
        joined["sets"].astype(np.int32) if sets else np.empty(0, dtype=np.int32),
        categories,
    )
    return gate, np.concatenate(values), np.concatenate(covers)


def rounded_down(thresholds, dtype):
    with np.errstate(over="ignore"):
        found = thresholds.astype(dtype)
    too_high = found > thresholds
    found[too_high] = np.nextafter(found[too_high], dtype.type(-np.inf))
    return found


def _breadth_first(tree):
    """Old numbers of nodes in their new order, and the new number of each one's left child."""
    below = np.stack([tree.left, tree.right], axis=1).astype(np.intp)
    order, children, level, n_before = [], [], np.zeros(1, dtype=np.intp), 0
    while len(level):
        inner = below[level, 0] >= 0
        n_before += len(level)
        order.append(level)
        children.append(n_before + 2 * (np.cumsum(inner) - inner))
        level = below[level[inner]].ravel()
    return np.concatenate(order), np.concatenate(children)
