"""Leaf values that rise (or fall) with a column, and the proof that they do.

A tree rises with column c if at every split that c can turn, no leaf on the low side is above a
leaf on the high side: a row whose c grows either stays in a branch, where the same holds, or
crosses to one whose leaves are all as high. Values of that kind are a convex cone, and the nearest
ones in it are found exactly, from the lowest splits up.
"""

from dataclasses import dataclass

import numpy as np

from ..._compile import compiled

_EQUAL = 2  # in place of a direction: no leaf of the two sides may differ


@dataclass(frozen=True)
class TreeOrder:
    """Which leaves of one tree must not be above which.

    ``places`` lists the tree's leaves from left to right, so that those below a node are a stretch.
    Each row of ``splits`` is (start, middle, stop, direction), lower splits first: leaves from
    ``start`` to ``middle`` are at most those from there to ``stop`` where the direction is 1, at
    least those where it is −1, and equal to them where it is 2.
    """

    places: np.ndarray
    splits: np.ndarray

    def nearest(self, values, weight):
        """The ordered values v with the least Σ weight (v − values)²."""
        found = values[self.places].copy()
        nearest_ordered(found, values[self.places], weight[self.places], self.splits)
        ordered = np.empty_like(found)
        ordered[self.places] = found
        return ordered


def tree_orders(gate, constraints):
    """A ``TreeOrder`` for every tree; ``constraints`` has 1, −1 or 0 for each column of rows."""
    directions = split_directions(gate, constraints)
    found = []
    for tree in range(gate.n_trees):
        first, last = gate.starts[tree], gate.starts[tree + 1]
        n_below = np.ones(last - first, dtype=np.int64)
        for node in range(last - 1, first - 1, -1):  # children come after their parents
            if gate.columns[node] >= 0:
                child = gate.children[node] - first
                n_below[node - first] = n_below[child] + n_below[child + 1]
        start = np.zeros(last - first, dtype=np.int64)
        places = np.empty(n_below[0], dtype=np.int64)
        splits = []
        for node in range(first, last):
            own, begin = node - first, start[node - first]
            child = gate.children[node] - first
            if gate.columns[node] < 0:
                places[begin] = gate.children[node] - gate.leaf_starts[tree]
                continue
            middle = begin + n_below[child]
            start[child], start[child + 1] = begin, middle
            if directions[node]:
                splits.append((begin, middle, begin + n_below[own], directions[node]))
        found.append(TreeOrder(places, np.array(splits[::-1], dtype=np.int64).reshape(-1, 4)))
    return tuple(found)


def split_directions(gate, constraints):
    """For each node 1 where the second child must be the higher one, −1, 0, or 2 for no step."""
    constraints = np.asarray(constraints, dtype=np.int64)
    if constraints.shape != (gate.n_features,) or not np.isin(constraints, (-1, 0, 1)).all():
        raise ValueError(
            f"Monotone constraints must be one of -1, 0 and 1 for each of the {gate.n_features} "
            "columns."
        )
    of_pairs = constraints[gate.pairs] * np.sign(gate.factors).astype(np.int64)
    first, second = of_pairs.T if len(of_pairs) else np.empty((2, 0), dtype=np.int64)
    both = np.where(first * second < 0, _EQUAL, np.where(first != 0, first, second))
    inner = gate.columns >= 0
    directions = np.where(inner, np.append(constraints, both)[np.where(inner, gate.columns, 0)], 0)
    if len(gate.sets):
        directions[(gate.sets >= 0) & (directions != 0)] = _EQUAL  # categories have no order
    return directions


@compiled
def nearest_ordered(found, wanted, weight, splits):
    """``found`` starts as ``wanted``.

    Where two sides, each in order, do not fit together, there is a height m with the low side cut
    off above it and the high side filled up to it: under a bound the best ordered values are those
    without it, cut off. m is where Σ weight (m − wanted) over all that are moved vanishes.
    """
    for split in range(len(splits)):
        start, middle, stop, direction = splits[split]
        if direction == _EQUAL:
            total, mass = 0.0, 0.0
            for k in range(start, stop):
                total += weight[k] * wanted[k]
                mass += weight[k]
            found[start:stop] = total / mass
            continue
        a, b, c, d = start, middle, middle, stop
        if direction < 0:
            a, b, c, d = middle, stop, start, middle
        highest, lowest = found[a:b].max(), found[c:d].min()
        if highest <= lowest:
            continue
        steps = np.empty(stop - start + 2)
        steps[0], steps[1], n_steps = lowest, highest, 2
        for k in range(start, stop):
            if lowest < found[k] < highest:
                steps[n_steps] = found[k]
                n_steps += 1
        steps = np.sort(steps[:n_steps])
        low, high = 0, n_steps - 1  # between two steps the same leaves are moved
        while high - low > 1:
            half = (low + high) // 2
            if _moved_mean(found, wanted, weight, a, b, c, d, steps[half]) < steps[half]:
                high = half
            else:
                low = half
        m = _moved_mean(found, wanted, weight, a, b, c, d, 0.5 * (steps[low] + steps[high]))
        m = min(max(m, steps[low]), steps[high])
        for k in range(a, b):
            found[k] = min(found[k], m)
        for k in range(c, d):
            found[k] = max(found[k], m)


@compiled
def _moved_mean(found, wanted, weight, a, b, c, d, m):
    total, mass = 0.0, 0.0
    for k in range(a, b):
        if found[k] > m:
            total += weight[k] * wanted[k]
            mass += weight[k]
    for k in range(c, d):
        if found[k] < m:
            total += weight[k] * wanted[k]
            mass += weight[k]
    return total / mass if mass > 0.0 else m


def check_monotone(gate, values, constraints):
    """Whether every tree obeys ``constraints``, proved from its tables; NaN is no value here.

    Two leaves are compared where one row can be led to either by its constrained column alone:
    their paths part at a split on it, and agree about some value of every other column.
    """
    split_directions(gate, constraints)  # refuses what is no constraint
    for column in np.flatnonzero(constraints):
        alone = np.zeros(gate.n_features, dtype=np.int64)
        alone[column] = constraints[column]
        directions = split_directions(gate, alone)
        for told in np.asarray(values, dtype=np.float64).T:
            proof = _Proof(gate, directions, told)
            if not all(proof.holds(node) for node in np.flatnonzero(directions)):
                return False
    return True


class _Proof:
    """Of one column and one output."""

    def __init__(self, gate, directions, told):
        self._gate, self._directions = gate, directions
        leaf = np.where(gate.columns < 0, gate.children, 0)
        self._least, self._most = told[leaf], told[leaf]
        for node in range(len(leaf) - 1, -1, -1):
            if gate.columns[node] >= 0:
                below = slice(gate.children[node], gate.children[node] + 2)
                self._least[node] = self._least[below].min()
                self._most[node] = self._most[below].max()

    def holds(self, node):
        first = self._gate.children[node]
        direction = self._directions[node]
        upward = direction == -1 or self._ordered(first, first + 1)
        return upward and (direction == 1 or self._ordered(first + 1, first))

    def _ordered(self, low, high):
        """Whether no leaf below ``low`` is above one below ``high`` that it meets."""
        waiting = [(low, high, {})]
        while waiting:
            low, high, agreed = waiting.pop()
            if self._most[low] <= self._least[high]:
                continue
            is_low = self._gate.columns[low] >= 0
            node = low if is_low else high
            if self._gate.columns[node] < 0:
                return False
            for side in (0, 1):
                known = self._narrowed(agreed, node, side)
                if known is not None:
                    child = self._gate.children[node] + side
                    waiting.append((child, high, known) if is_low else (low, child, known))
        return True

    def _narrowed(self, agreed, node, side):
        """What is known of other columns on one side of a split; None if no row can be there."""
        gate = self._gate
        is_set = len(gate.sets) > 0 and gate.sets[node] >= 0
        if self._directions[node] or is_set:
            return agreed
        column, threshold = gate.columns[node], gate.thresholds[node]
        above, up_to, missing = agreed.get(column, (-np.inf, np.inf, True))
        if side == 0:
            up_to = min(up_to, threshold)
        else:
            above = max(above, threshold)
        missing = missing and bool(gate.missing_left[node]) == (side == 0)
        if above >= up_to and not missing:
            return None
        return {**agreed, column: (above, up_to, missing)}
