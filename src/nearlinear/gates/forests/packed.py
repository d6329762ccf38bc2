"""A forest as tables of the walk.

A node of the narrow form is one whole number: the threshold, the column and the first child. It
compares whole numbers that are ordered as the floats are. A block takes it if all its values are
float32 numbers; the wide form takes anything else.
"""

import heapq
from dataclasses import dataclass

import numpy as np

from ..._cached import cached_property
from ..._compile import run_blocks
from .block_memory import TILE, BlockMemory

_COLUMN_BITS, _CHILD_BITS = 10, 22  # beside 32 bits of threshold
_TOP_LEAVES = 32  # bits of a mask
_BLOCK_BYTES = 1 << 19  # of values, and of ends: they stay in a core's cache
_FEWEST_OF_ENDS, _FEW_TILES, _MOST_TILES = 16, 64, 256  # each block has calls that cost


@dataclass(frozen=True)
class NarrowTables:
    """Nodes of all trees as whole numbers, and the tops of the trees.

    Top nodes of tree t are those from ``top_starts[t]`` on: a column, a threshold, and the mask of
    leaves that stay where a row goes right. ``entries`` (n_trees, 32) are the nodes below. Of an
    oblivious tree, the top has one node for each level, and no entries.
    """

    nodes: np.ndarray
    top_starts: np.ndarray
    top_columns: np.ndarray
    top_keys: np.ndarray
    top_masks: np.ndarray
    entries: np.ndarray
    ends_there: np.ndarray  # 1: all entries of a tree are leaves; 2: it is oblivious; else 0


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
    leaf_of: np.ndarray  # number of the leaf, by node; −1 of others

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
        thresholds = np.where(is_leaf, gate.dtype.type(np.inf), gate.thresholds)
        return cls(
            gate.n_features, gate.dtype, used.astype(np.int32), place[: gate.n_features],
            place[pairs], np.ascontiguousarray(gate.factors[pair_used]), gate.starts, columns,
            thresholds, children, np.where(is_leaf, 1, gate.missing_left).astype(np.uint8),
            gate.sets, gate.categories, np.where(is_leaf, gate.children, -1).astype(np.int32),
        )  # fmt: skip

    @property
    def width(self):
        return len(self.used) + len(self.pairs)

    @property
    def n_trees(self):
        return len(self.starts) - 1

    @property
    def block_rows(self):
        """Every block reads all nodes: where these leave the cache, it is as large as they are."""
        of_values, of_ends = self.width * self.dtype.itemsize, 4 * self.n_trees
        # ends are written and read in order: of many trees they may leave the cache
        ends = max(_BLOCK_BYTES // max(of_ends, 1) // TILE, _FEWEST_OF_ENDS)
        few = np.clip(min(_BLOCK_BYTES // max(of_values, 1) // TILE, ends), 1, _FEW_TILES)
        many = 8 * len(self.columns) // max(of_values + of_ends, 1) // TILE
        return int(max(few, min(many, _MOST_TILES))) * TILE

    @cached_property
    def narrow(self):
        """The narrow form, or None."""
        return self._narrow(self.columns, self.width)

    @cached_property
    def narrow_missing(self):
        """That of rows whose every value stands twice: missing as the largest, as the smallest."""
        second = self.width * self.missing_left.astype(np.int32)
        columns = np.where(self.leaf_of < 0, self.columns + second, 0)
        return self._narrow(columns, 2 * self.width)

    def _narrow(self, columns, width):
        longest = int(np.diff(self.starts).max(initial=0))
        if width > 1 << _COLUMN_BITS or longest > 1 << _CHILD_BITS or len(self.sets):
            return None
        is_leaf = self.leaf_of >= 0
        keys = _keys_of_thresholds(np.where(is_leaf, 0, self.thresholds))
        shown = np.where(is_leaf, np.iinfo(np.int32).max, keys).astype(np.int64)
        nodes = (shown << 32) | (columns.astype(np.int64) << _CHILD_BITS) | self.children
        tops, masks, counts = [], [], []
        entries = np.zeros((self.n_trees, _TOP_LEAVES), dtype=np.int32)
        is_oblivious = np.zeros(self.n_trees, dtype=bool)
        for tree, (start, stop) in enumerate(zip(self.starts[:-1], self.starts[1:], strict=True)):
            of_tree = _levels(self.children[start:stop], nodes[start:stop] >> _CHILD_BITS)
            masks_of_tree, is_oblivious[tree] = [0] * len(of_tree), len(of_tree) > 0
            if not is_oblivious[tree]:
                below, of_tree, masks_of_tree = _top(self.children[start:stop].tolist())
                entries[tree] = below[-1]  # also in places that no row reaches
                entries[tree, : len(below)] = below
            tops += [start + node for node in of_tree]
            masks += masks_of_tree
            counts.append(len(of_tree))
        tops = np.array(tops, dtype=np.intp)
        ends_there = is_leaf[self.starts[:-1, None] + entries].all(axis=1).astype(np.uint8)
        ends_there[is_oblivious] = 2
        return NarrowTables(
            nodes, np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            columns[tops].astype(np.int32), keys[tops],
            np.array(masks, dtype=np.uint32).view(np.int32), entries, ends_there,
        )  # fmt: skip

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
        most = min(self.block_rows, -(-X.shape[0] // TILE) * TILE)

        def lead(start, stop):
            memory = idle.pop() if idle else BlockMemory(self, most)
            work(start, stop, memory.lead(X[start:stop]))
            idle.append(memory)

        run_blocks(lead, X.shape[0], self.block_rows, n_jobs)


def _top(children):
    """The top of a tree: nodes below it from left to right, its nodes, and their masks.

    It grows where most nodes are below. ``children`` are first children; that of a leaf is itself.
    """
    size = [1] * len(children)
    for node in range(len(children) - 1, -1, -1):
        child = children[node]
        if child != node:
            size[node] += size[child] + size[child + 1]
    inside, heap = set(), [(-size[0], 0)]
    while heap and len(inside) < _TOP_LEAVES - 1:
        _, node = heapq.heappop(heap)
        child = children[node]
        if child != node:
            inside.add(node)
            heapq.heappush(heap, (-size[child], child))
            heapq.heappush(heap, (-size[child + 1], child + 1))
    below, nodes, masks = [], [], []
    stack = [(0, None)]
    while stack:  # left to right; an inner node comes again when its left side is done
        node, first = stack.pop()
        if node not in inside:
            below.append(node)
        elif first is None:
            stack += [(children[node] + 1, None), (node, len(below)), (children[node], None)]
        else:
            left = ((1 << len(below)) - 1) & ~((1 << first) - 1)
            nodes.append(node)
            masks.append(~left & 0xFFFFFFFF)
    return below, nodes, masks


def _levels(children, splits):
    """The first node of each level of a complete tree with one split a level; else nothing."""
    n_inner = len(children) // 2
    depth = (n_inner + 1).bit_length() - 1
    if depth == 0 or n_inner + 1 != 1 << depth:
        return []
    inner = np.arange(n_inner)
    first = (1 << np.arange(depth)) - 1
    of_level = np.repeat(first, first + 1)
    is_alike = np.array_equal(splits[:n_inner], splits[of_level])
    return first.tolist() if is_alike and np.array_equal(children[:n_inner], 2 * inner + 1) else []


def _keys_of_thresholds(thresholds):
    """Whole numbers ordered as the thresholds are, of float32 numbers not above them."""
    with np.errstate(over="ignore"):
        found = thresholds.astype(np.float32)
    above = found > thresholds
    found[above] = np.nextafter(found[above], np.float32(-np.inf))
    bits = (found + np.float32(0)).view(np.int32)
    return bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
