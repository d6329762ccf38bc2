"""Grown forests: the first trees of one, and several as one."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class GrownForest:
    """A gate and what its leaves hold as grown; ``intercept`` (n_outputs,) comes before them."""

    gate: object
    values: np.ndarray
    outputs: np.ndarray
    covers: np.ndarray
    intercept: np.ndarray

    def times(self, factor):
        """The same trees, whose scores are multiplied."""
        return replace(self, values=factor * self.values, intercept=factor * self.intercept)

    def first(self, n_trees):
        """The same forest with its first trees."""
        return self if n_trees == self.gate.n_trees else self._some(0, n_trees)

    def tree(self, number):
        return self._some(number, number + 1)

    def _some(self, first, last):
        gate = self.gate
        start, stop = gate.starts[[first, last]]
        leaf, last_leaf = gate.leaf_starts[[first, last]]
        names = ("columns", "thresholds", "missing_left")
        some = {name: getattr(gate, name)[start:stop] for name in names}
        children = gate.children[start:stop] - np.where(some["columns"] < 0, leaf, start)
        sets, categories = gate.sets[start:stop], gate.categories
        if len(gate.sets):
            used, sets = np.unique(np.append(sets, -1), return_inverse=True)
            sets, categories = (sets[:-1] - 1).astype(np.int32), categories[used[1:]]
        gate = replace(
            gate, starts=gate.starts[first : last + 1] - start, sets=sets, categories=categories,
            children=children.astype(np.int32), **some,
        )  # fmt: skip
        return replace(
            self, gate=gate, values=self.values[leaf:last_leaf],
            outputs=self.outputs[first:last], covers=self.covers[leaf:last_leaf],
        )  # fmt: skip


def joined(forests):
    """Forests one after another, as one."""
    first = forests[0]
    if len(forests) == 1:
        return first
    gates = [one.gate for one in forests]
    node_offsets = np.cumsum([0, *(len(gate.columns) for gate in gates)])
    leaf_offsets = np.cumsum([0, *(gate.n_leaves for gate in gates)])
    set_offsets = np.cumsum([0, *(len(gate.categories) for gate in gates)])
    has_sets = set_offsets[-1] > 0
    words = max(gate.categories.shape[1] for gate in gates)

    def shifted(gate, number):
        more = np.where(gate.columns < 0, leaf_offsets[number], node_offsets[number])
        return gate.children + more.astype(np.int32)

    def sets_of(gate, number):
        if not len(gate.sets):
            return np.full(len(gate.columns), -1, dtype=np.int32)
        return np.where(gate.sets >= 0, gate.sets + set_offsets[number], -1).astype(np.int32)

    def widened(categories):
        return np.pad(categories, ((0, 0), (0, words - categories.shape[1])))

    numbered = list(enumerate(gates))
    starts = [gate.starts[:-1] + node_offsets[number] for number, gate in numbered]
    gate = replace(
        gates[0],
        starts=np.concatenate([*starts, node_offsets[-1:]]).astype(np.int32),
        columns=np.concatenate([gate.columns for gate in gates]),
        thresholds=np.concatenate([gate.thresholds for gate in gates]),
        children=np.concatenate([shifted(gate, number) for number, gate in numbered]),
        missing_left=np.concatenate([gate.missing_left for gate in gates]),
        sets=np.concatenate([sets_of(gate, k) for k, gate in numbered])
        if has_sets
        else gates[0].sets,
        categories=np.concatenate([widened(gate.categories) for gate in gates]),
    )
    return GrownForest(
        gate, *(np.concatenate([getattr(one, name) for one in forests])
                for name in ("values", "outputs", "covers")), first.intercept,
    )  # fmt: skip
