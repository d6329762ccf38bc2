"""A forest that rows may leave after any tree."""

from dataclasses import dataclass, replace

import numpy as np

from .._cached import cached_property
from .._compile import compiled, run_blocks
from ..gates.forests.block_memory import BlockMemory
from ..gates.forests.walk import walk_narrow, walk_wide
from .base import check_width, leads, stopping_cost
from .forest import Forest


@dataclass(frozen=True)
class Exiting:
    """A row leaves after the first tree at which its lead reaches the tree's threshold.

    Its scores are the sums up to there. The lead is |score|, or with several outputs the best
    score less the second. ``thresholds`` has one number for each tree but the last, infinite where
    no row leaves. ``shares`` of held-out rows left after each tree.
    """

    forest: Forest
    thresholds: tuple
    shares: tuple

    takes_missing = True  # no field: NaN is a value of rows

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        return self._walk(X, n_jobs)[0]

    def stops(self, X, n_jobs=None):
        """The number of the last tree of each row."""
        return self._walk(X, n_jobs)[1]

    def _walk(self, X, n_jobs):
        check_width(X, self.n_features)
        forest, packed = self.forest, self.forest.gate.packed
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)
        stops = np.empty(X.shape[0], dtype=np.int32)
        idle = []  # memory of finished blocks, for the next one of any thread

        def work(start, stop):
            memory = idle.pop() if idle else BlockMemory(packed, self.block_rows)
            rows, n_rows = X[start:stop], stop - start
            sums = forest.before_trees(rows)
            Z = forest.seen_by_slopes(rows)
            told = (packed.leaf_of, self._alone, forest.values, forest.slopes, forest.outputs, Z)
            held = np.arange(self.block_rows, dtype=np.int32)
            own = stops[start:stop]
            own[:] = packed.n_trees - 1
            found = memory.keys(rows)
            if found is None:
                leave_wide(
                    memory.values(rows), n_rows, packed.columns, packed.thresholds,
                    packed.children, packed.missing_left, packed.sets, packed.categories,
                    packed.starts, self._limits, *told, held, own, sums,
                )  # fmt: skip
            else:
                tiles, tables = found
                leave_narrow(
                    tiles, n_rows, tables.nodes, packed.starts, tables.top_starts,
                    tables.top_columns, tables.top_keys, tables.top_masks, tables.entries,
                    tables.ends_there, self._limits, *told, held, own, sums,
                )  # fmt: skip
            scores[start:stop] = sums
            idle.append(memory)

        run_blocks(work, X.shape[0], self.block_rows, n_jobs)
        return scores, stops

    @cached_property
    def _limits(self):
        return np.append(np.asarray(self.thresholds, dtype=np.float64), np.inf)

    @property
    def _alone(self):
        """What the nodes of all trees tell, where that is one number; else nothing."""
        forest = self.forest
        is_one = forest.n_outputs == 1 and forest.slopes.shape[2] == 0
        return forest.node_values if is_one else forest.values[:0, 0]

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        scores = [first_trees(self.forest, n + 1).plain(X) for n in range(len(self._limits))]
        is_out = np.array([leads(one) >= limit for one, limit in zip(scores, self._limits)])
        is_out[-1] = True
        return np.array(scores)[is_out.argmax(axis=0), np.arange(X.shape[0])]

    @property
    def n_features(self):
        return self.forest.n_features

    @property
    def n_outputs(self):
        return self.forest.n_outputs

    @property
    def dtype(self):
        return self.forest.dtype

    @property
    def block_rows(self):
        """Many, so that the late trees have some rows left when their nodes are fetched."""
        return 8 * self.forest.block_rows

    @property
    def cost(self):
        """The mean over held-out rows, and how far they spread."""
        paid = self.forest.cost_before_trees + np.cumsum(self.forest.costs_of_trees)
        linear = self.n_features * self.n_outputs
        return stopping_cost(linear, paid, self.shares, self.forest.cost.n_bytes)

    def __getstate__(self):
        """Fields only."""
        names = ("forest", "thresholds", "shares")
        return {name: getattr(self, name) for name in names}


def first_trees(forest, n_trees):
    """The forest of the first trees alone."""
    return some_trees(forest, 0, n_trees)


def some_trees(forest, first, last):
    """The forest of the trees from ``first`` on and before ``last``; the root is of the first."""
    gate = forest.gate
    nodes = slice(gate.starts[first], gate.starts[last])
    leaves = slice(gate.leaf_starts[first], gate.leaf_starts[last])
    columns = gate.columns[nodes]
    lower = np.where(columns < 0, gate.leaf_starts[first], gate.starts[first])
    part = replace(
        gate,
        starts=gate.starts[first : last + 1] - gate.starts[first],
        columns=columns,
        thresholds=gate.thresholds[nodes],
        children=(gate.children[nodes] - lower).astype(np.int32),
        missing_left=gate.missing_left[nodes],
        sets=gate.sets[nodes] if len(gate.sets) else gate.sets,
    )
    return replace(
        forest,
        gate=part,
        values=forest.values[leaves],
        outputs=forest.outputs[first:last],
        slopes=forest.slopes[leaves],
        covers=forest.covers[leaves],
        root=forest.root if first == 0 else forest.root[:, :0],
        intercept=forest.intercept if first == 0 else np.zeros_like(forest.intercept),
    )


# --- compiled: rows that stay move together, so that tiles are full of them ---------------------


@compiled
def lead_of(scores):
    if len(scores) == 1:
        return abs(scores[0])
    best, second = -np.inf, -np.inf
    for k in range(len(scores)):
        if scores[k] > best:
            best, second = scores[k], best
        elif scores[k] > second:
            second = scores[k]
    return best - second


@compiled
def _add_tree(
    t, end, start, n_held, limit, leaf_of, alone, values, slopes, outputs, Z, held, stops, sums
):
    """Leaves of tree t for rows that are held; how many of these go on."""
    n_told, n_slopes, n_staying = values.shape[1], slopes.shape[2], 0
    is_alone = len(alone) > 0
    for k in range(n_held):
        i = held[k]
        if stops[i] < t:  # it has left, and only its place is still there
            continue
        if is_alone:
            sums[i, 0] += alone[start + end[k]]
            lead = abs(sums[i, 0])
        else:
            leaf = leaf_of[start + end[k]]
            for o in range(n_told):
                total = Z.dtype.type(0.0)
                for d in range(n_slopes):
                    total += slopes[leaf, o, d] * Z[i, d]
                sums[i, outputs[t] if n_told == 1 else o] += values[leaf, o] + total
            lead = lead_of(sums[i]) if limit < np.inf else 0.0
        if lead >= limit:
            stops[i] = t
        else:
            n_staying += 1
    return n_staying


@compiled
def _close_up(tiles, t, n_held, held, stops):
    """Rows that go on beyond tree t take the places of those that left; how many these are."""
    n = 0
    for k in range(n_held):
        if stops[held[k]] > t:
            if n < k:
                source, target, a, b = tiles[k >> 6], tiles[n >> 6], k & 63, n & 63
                for s in range(tiles.shape[1]):
                    target[s, b] = source[s, a]
                held[n] = held[k]
            n += 1
    return n


@compiled
def leave_narrow(
    tiles, n_rows, nodes, starts, top_starts, columns, keys, masks, entries, ends_there, limits,
    leaf_of, alone, values, slopes, outputs, Z, held, stops, sums,
):  # fmt: skip
    ends, n_held = np.empty((1, 64 * len(tiles)), dtype=np.int32), n_rows
    for t in range(len(starts) - 1):
        walk_narrow(
            tiles, (n_held + 63) >> 6, nodes, starts[t : t + 2], top_starts[t : t + 2], columns,
            keys, masks, entries[t : t + 1], ends_there[t : t + 1], ends,
        )  # fmt: skip
        n_staying = _add_tree(
            t, ends[0], starts[t], n_held, limits[t], leaf_of, alone, values, slopes, outputs, Z,
            held, stops, sums,
        )  # fmt: skip
        if n_staying == 0:
            break
        if (n_staying + 63) >> 6 <= ((n_held + 63) >> 6) * 1 // 2:
            n_held = _close_up(tiles, t, n_held, held, stops)


@compiled
def leave_wide(
    tiles, n_rows, columns, thresholds, children, missing_left, sets, categories, starts, limits,
    leaf_of, alone, values, slopes, outputs, Z, held, stops, sums,
):  # fmt: skip
    ends, n_held = np.empty((1, 64 * len(tiles)), dtype=np.int32), n_rows
    for t in range(len(starts) - 1):
        walk_wide(
            tiles, n_held, columns, thresholds, children, missing_left, sets, categories,
            starts[t : t + 2], ends,
        )  # fmt: skip
        n_staying = _add_tree(
            t, ends[0], starts[t], n_held, limits[t], leaf_of, alone, values, slopes, outputs, Z,
            held, stops, sums,
        )  # fmt: skip
        if n_staying == 0:
            break
        if n_staying < n_held:
            n_held = _close_up(tiles, t, n_held, held, stops)
