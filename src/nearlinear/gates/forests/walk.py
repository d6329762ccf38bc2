"""Blocks of rows down the trees of a forest, eight rows side by side.

Row by row, a path is a chain of loads: the next node is known only when the last one is read. Eight
rows at once keep the processor busy. A node of the narrow form is one whole number: the threshold,
a flag, the column and the first child. It compares whole numbers that are ordered as the floats
are. A block takes it if all its values are float32 numbers; the wide form takes anything else.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from ..._compile import compiled, run_blocks

_ABREAST = 8
_COLUMN_BITS, _CHILD_BITS = 10, 21  # beside 32 bits of threshold and the flag
_BLOCK_BYTES = 1 << 18  # of values, and of ends: they stay in a core's cache


@dataclass(frozen=True)
class PackedForest:
    """Tables of the walk. Rows are reduced to the columns that trees split, then pair columns."""

    n_features: int
    dtype: np.dtype
    used: np.ndarray  # columns that are read, in order
    place: np.ndarray  # of every column among those, −1 of others
    pairs: np.ndarray  # in places
    factors: np.ndarray
    starts: np.ndarray
    columns: np.ndarray  # in places; 0 of leaves
    thresholds: np.ndarray
    children: np.ndarray  # counted from the tree's root; of a leaf itself
    missing_left: np.ndarray
    sets: np.ndarray
    categories: np.ndarray
    leaf_of: np.ndarray  # number of the leaf, by node
    narrow: np.ndarray  # empty where there is no narrow form

    @classmethod
    def of(cls, gate):
        is_leaf = gate.columns < 0
        split = np.unique(gate.columns[~is_leaf])
        pair_used = np.zeros(len(gate.pairs), dtype=bool)
        pair_used[split[split >= gate.n_features] - gate.n_features] = True
        pairs = gate.pairs[pair_used]
        used = np.unique(np.concatenate([split[split < gate.n_features], pairs.ravel()]))
        place = np.full(gate.n_features + len(gate.pairs), -1, dtype=np.int32)
        place[used] = np.arange(len(used))
        place[gate.n_features + np.flatnonzero(pair_used)] = len(used) + np.arange(len(pairs))
        columns = np.where(is_leaf, 0, place[np.where(is_leaf, 0, gate.columns)]).astype(np.int32)
        own = np.repeat(gate.starts[:-1], np.diff(gate.starts))
        numbers = np.arange(len(own), dtype=np.int32)
        children = (np.where(is_leaf, numbers, gate.children) - own).astype(np.int32)
        narrow = np.empty(0, dtype=np.int64)
        width, longest = len(used) + len(pairs), int(np.diff(gate.starts).max(initial=0))
        if width <= 1 << _COLUMN_BITS and longest <= 1 << _CHILD_BITS and not len(gate.sets):
            keys = _keys_of_thresholds(gate.thresholds).astype(np.int64)
            keys[is_leaf] = np.iinfo(np.int32).max
            narrow = (keys << 32) | (columns.astype(np.int64) << (_CHILD_BITS + 1))
            narrow |= (gate.missing_left.astype(np.int64) << _CHILD_BITS) | children
        thresholds = np.where(is_leaf, gate.dtype.type(np.inf), gate.thresholds)
        sets = gate.sets if len(gate.sets) else np.empty(0, dtype=np.int32)
        return cls(
            gate.n_features, gate.dtype, used.astype(np.int32), place[: gate.n_features],
            place[pairs], np.ascontiguousarray(gate.factors[pair_used]), gate.starts, columns,
            thresholds, children, np.where(is_leaf, 1, gate.missing_left).astype(np.uint8), sets,
            gate.categories, np.where(is_leaf, gate.children, -1).astype(np.int32), narrow,
        )  # fmt: skip

    @property
    def width(self):
        return len(self.used) + len(self.pairs)

    @property
    def n_trees(self):
        return len(self.starts) - 1

    @property
    def block_rows(self):
        largest = max(self.width * self.dtype.itemsize, 4 * self.n_trees, 1)
        return int(np.clip(_BLOCK_BYTES // largest, 64, 1024)) // _ABREAST * _ABREAST

    def leaves(self, X, n_jobs=None):
        """The leaf of each row in every tree, shape (n_rows, n_trees)."""
        found = np.empty((X.shape[0], self.n_trees), dtype=np.int32)
        starts = self.starts[:-1, None]

        def work(start, stop, ends):
            found[start:stop] = self.leaf_of[ends[:, : stop - start] + starts].T

        self.walk(X, work, n_jobs)
        return found

    def walk(self, X, work, n_jobs=None):
        """Call ``work(start, stop, ends)`` for blocks of rows that have reached their leaves.

        ``ends`` (n_trees, at least stop − start) are nodes, counted from each tree's root.
        """
        idle = []  # memory of finished blocks, for the next one of any thread

        def lead(start, stop):
            memory = idle.pop() if idle else _Memory(self)
            work(start, stop, memory.lead(X[start:stop]))
            idle.append(memory)

        run_blocks(lead, X.shape[0], self.block_rows, n_jobs)


class _Memory:
    """Of one block of rows on its way down."""

    def __init__(self, forest):
        n_rows = forest.block_rows
        self._forest = forest
        self._keys = np.zeros((n_rows, forest.width), dtype=np.float32)
        self._both = None  # keys of missing values that go right, then left
        self._values = None
        self._ends = np.zeros((forest.n_trees, n_rows), dtype=np.int32)

    def lead(self, X):
        forest, n_rows = self._forest, X.shape[0]
        if len(forest.narrow) and self._narrow_values(X):
            keys = self._keys.view(np.int32)
            if not to_keys(keys, n_rows):
                walk_narrow(keys, n_rows, forest.narrow, forest.starts, self._ends)
                return self._ends
            if self._both is None:
                self._both = np.zeros((len(keys), 2 * forest.width), dtype=np.int32)
            split_missing(keys, n_rows, self._both)
            walk_missing(self._both, n_rows, forest.narrow, forest.starts, self._ends)
            return self._ends
        if self._values is None:
            self._values = np.zeros(self._keys.shape, dtype=forest.dtype)
        self._fill(X, self._values)
        walk_wide(
            self._values, n_rows, forest.columns, forest.thresholds, forest.children,
            forest.missing_left, forest.sets, forest.categories, forest.starts, self._ends,
        )  # fmt: skip
        return self._ends

    def _narrow_values(self, X):
        """Whether all values of the block are float32 numbers, which are then in place."""
        if self._forest.dtype == np.float32:
            return self._fill(X, self._keys)
        values = X.data if issparse(X) else X
        is_exact = values.dtype == np.float32 or all_float32(values.ravel())
        # sums of pairs are rounded in the gate's own precision
        return is_exact and not len(self._forest.pairs) and self._fill(X, self._keys)

    def _fill(self, X, values):
        forest = self._forest
        if issparse(X):
            rows = X.indptr, X.indices, X.data
            fill_sparse(*rows, forest.place, len(forest.used), values)
        else:
            fill_dense(X, forest.used, values)
        if len(forest.pairs):
            add_pairs(values, X.shape[0], forest.pairs, forest.factors, len(forest.used))
        return True


def _keys_of_thresholds(thresholds):
    """Whole numbers ordered as the thresholds are, of float32 numbers not above them."""
    with np.errstate(over="ignore"):
        found = thresholds.astype(np.float32)
    above = found > thresholds
    found[above] = np.nextafter(found[above], np.float32(-np.inf))
    bits = (found + np.float32(0)).view(np.int32)
    return bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))


@compiled
def all_float32(values):
    exact = True
    for i in range(len(values)):
        x = values[i]
        exact &= (np.float64(np.float32(x)) == x) | (x != x)
    return exact


@compiled
def fill_dense(X, used, values):
    kind = values.dtype.type
    if len(used) == X.shape[1]:
        for i in range(len(X)):
            for s in range(len(used)):
                values[i, s] = kind(X[i, s]) + kind(0.0)  # −0 becomes 0
    else:
        for i in range(len(X)):
            for s in range(len(used)):
                values[i, s] = kind(X[i, used[s]]) + kind(0.0)


@compiled
def fill_sparse(indptr, indices, data, place, n_used, values):
    kind = values.dtype.type
    for i in range(len(indptr) - 1):
        for s in range(n_used):
            values[i, s] = kind(0.0)
        for t in range(indptr[i], indptr[i + 1]):
            s = place[indices[t]]
            if s >= 0:
                values[i, s] = kind(data[t]) + kind(0.0)


@compiled
def add_pairs(values, n_rows, pairs, factors, first):
    """fl(fl(a x_i) + fl(b x_j)): every target rounds in these places."""
    for i in range(n_rows):
        for p in range(len(pairs)):
            one = values[i, pairs[p, 0]] * factors[p, 0]
            two = values[i, pairs[p, 1]] * factors[p, 1]
            values[i, first + p] = (one + two) + values.dtype.type(0.0)


@compiled
def to_keys(keys, n_rows):
    """Bits of floats become whole numbers in the floats' order; whether some are missing."""
    missing = False
    for i in range(n_rows):
        for s in range(keys.shape[1]):
            bits = keys[i, s]
            missing |= (bits & np.int32(0x7FFFFFFF)) > np.int32(0x7F800000)
            keys[i, s] = bits ^ ((bits >> np.int32(31)) & np.int32(0x7FFFFFFF))
    return missing


@compiled
def split_missing(keys, n_rows, both):
    """Missing values as the largest number, and beside that as the smallest."""
    width = keys.shape[1]
    for i in range(n_rows):
        for s in range(width):
            key = keys[i, s]
            bits = key ^ ((key >> np.int32(31)) & np.int32(0x7FFFFFFF))
            missing = (bits & np.int32(0x7FFFFFFF)) > np.int32(0x7F800000)
            both[i, s] = np.int32(0x7FFFFFFF) if missing else key
            both[i, width + s] = np.int32(-0x80000000) if missing else key


@compiled
def _step(tree, keys, j, first):
    node = tree[j]
    key = keys[first + ((node >> 22) & 0x3FF)]
    return (node & 0x1FFFFF) + (1 if key > (node >> 32) else 0)


@compiled
def _step_missing(tree, keys, j, first, width):
    node = tree[j]
    key = keys[first + ((node >> 22) & 0x3FF) + ((node >> 21) & 1) * width]
    return (node & 0x1FFFFF) + (1 if key > (node >> 32) else 0)


@compiled
def walk_narrow(keys, n_rows, nodes, starts, ends):
    width, flat = keys.shape[1], keys.ravel()
    for t in range(len(starts) - 1):
        tree = nodes[starts[t] : starts[t + 1]]
        for i in range(0, n_rows, 8):
            o0 = i * width
            o1, o2, o3, o4 = o0 + width, o0 + 2 * width, o0 + 3 * width, o0 + 4 * width
            o5, o6, o7 = o0 + 5 * width, o0 + 6 * width, o0 + 7 * width
            a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0
            moved = 1
            while moved != 0:
                for _ in range(3):
                    a0, a1 = _step(tree, flat, a0, o0), _step(tree, flat, a1, o1)
                    a2, a3 = _step(tree, flat, a2, o2), _step(tree, flat, a3, o3)
                    a4, a5 = _step(tree, flat, a4, o4), _step(tree, flat, a5, o5)
                    a6, a7 = _step(tree, flat, a6, o6), _step(tree, flat, a7, o7)
                b0, b1 = _step(tree, flat, a0, o0), _step(tree, flat, a1, o1)
                b2, b3 = _step(tree, flat, a2, o2), _step(tree, flat, a3, o3)
                b4, b5 = _step(tree, flat, a4, o4), _step(tree, flat, a5, o5)
                b6, b7 = _step(tree, flat, a6, o6), _step(tree, flat, a7, o7)
                moved = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3)
                moved |= (a4 ^ b4) | (a5 ^ b5) | (a6 ^ b6) | (a7 ^ b7)
                a0, a1, a2, a3, a4, a5, a6, a7 = b0, b1, b2, b3, b4, b5, b6, b7
            ends[t, i], ends[t, i + 1], ends[t, i + 2], ends[t, i + 3] = a0, a1, a2, a3
            ends[t, i + 4], ends[t, i + 5], ends[t, i + 6], ends[t, i + 7] = a4, a5, a6, a7


@compiled
def walk_missing(keys, n_rows, nodes, starts, ends):
    stride, flat = keys.shape[1], keys.ravel()
    width = stride // 2
    for t in range(len(starts) - 1):
        tree = nodes[starts[t] : starts[t + 1]]
        for i in range(0, n_rows, 4):
            o0 = i * stride
            o1, o2, o3 = o0 + stride, o0 + 2 * stride, o0 + 3 * stride
            a0 = a1 = a2 = a3 = 0
            moved = 1
            while moved != 0:
                b0 = _step_missing(tree, flat, a0, o0, width)
                b1 = _step_missing(tree, flat, a1, o1, width)
                b2 = _step_missing(tree, flat, a2, o2, width)
                b3 = _step_missing(tree, flat, a3, o3, width)
                a0 = _step_missing(tree, flat, b0, o0, width)
                a1 = _step_missing(tree, flat, b1, o1, width)
                a2 = _step_missing(tree, flat, b2, o2, width)
                a3 = _step_missing(tree, flat, b3, o3, width)
                moved = (a0 ^ b0) | (a1 ^ b1) | (a2 ^ b2) | (a3 ^ b3)
            ends[t, i], ends[t, i + 1], ends[t, i + 2], ends[t, i + 3] = a0, a1, a2, a3


@compiled
def _goes_left(x, threshold, missing_left, number, categories):
    if number >= 0:
        if x > -1.0 and x < 32.0 * categories.shape[1]:
            category = np.int64(x)
            word = np.int64(categories[number, category >> 5])
            return (word >> (category & 31)) & 1 == 1
        return missing_left == 1
    return missing_left == 1 if x != x else x <= threshold


@compiled
def walk_wide(
    values, n_rows, columns, thresholds, children, missing_left, sets, categories, starts, ends
):
    has_sets = len(sets) > 0
    for t in range(len(starts) - 1):
        root = starts[t]
        for i in range(n_rows):
            j, moved = root, True
            while moved:
                number = sets[j] if has_sets else np.int32(-1)
                left = _goes_left(
                    values[i, columns[j]], thresholds[j], missing_left[j], number, categories
                )
                after = root + children[j] + (0 if left else 1)
                moved = after != j
                j = after
            ends[t, i] = j - root
