"""Trees in SQL: nested CASE down to a number of nodes, and below that lists that are looked up.

A CASE costs the least time, but DuckDB keeps about 36 kB for each, in every thread. A step by lists
takes four times as long as one by CASE, and next to no memory.
"""

from dataclasses import dataclass

import numpy as np

from .builder import any_of
from .literals import SqlExportError, number, number_list

_DEEPEST = 100  # of nested CASE: DuckDB's own limit is 1,000 of any expressions


@dataclass(frozen=True)
class Tree:
    """Nodes from the root on. Values of at most the threshold go to ``children``, others behind it.

    ``columns`` are numbers of the expressions ``X``, −1 for a leaf. Where ``sets`` has an array of
    booleans, a category goes to the first child where it is True.
    """

    X: tuple
    columns: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    missing_left: np.ndarray
    sets: dict

    def is_leaf(self, node):
        return self.columns[node] < 0

    def branch(self, node, left, right):
        """A CASE; what is NULL meets no condition, and takes the side of ELSE."""
        x = self.X[self.columns[node]]
        if node in self.sets:
            is_left = self.sets[node]
            if self.missing_left[node]:
                return f"CASE WHEN {_is_among(x, ~is_left)} THEN {right} ELSE {left} END"
            return f"CASE WHEN {_is_among(x, is_left)} THEN {left} ELSE {right} END"
        at = number(self.thresholds[node])
        if self.missing_left[node]:
            return f"CASE WHEN {x} > {at} THEN {right} ELSE {left} END"
        return f"CASE WHEN {x} <= {at} THEN {left} ELSE {right} END"


def _is_among(x, members):
    """Fractions are cut off: category k has the numbers from k on and below k + 1."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], members.astype(np.int8), [0]])))
    runs = zip(edges[::2].tolist(), edges[1::2].tolist())
    return any_of(
        [
            f"({x} > (-1e0) AND {x} < {number(last)})" if first == 0
            else f"({x} >= {number(first)} AND {x} < {number(last)})"
            for first, last in runs
        ]
    )  # fmt: skip


def search_tree(x, borders):
    """A tree whose leaves, from left to right, tell how many borders are at most x; and these."""
    columns, thresholds, children, told = [], [], [], []
    waiting, n_nodes = [(0, len(borders))], 1
    for first, last in waiting:
        if first == last:
            columns.append(-1), thresholds.append(0.0), children.append(0), told.append(first)
            continue
        middle = (first + last) // 2
        columns.append(0), told.append(-1), children.append(n_nodes)
        thresholds.append(np.nextafter(np.float64(borders[middle]), -np.inf))
        waiting += [(first, middle), (middle + 1, last)]
        n_nodes += 2
    none = np.zeros(n_nodes, dtype=np.uint8)
    tables = (np.array(one) for one in (columns, thresholds, children))
    return Tree((x,), *tables, none, {}), np.array(told)


def nodes_of_cases(tree, most):
    """Inner nodes that are CASE, from the root on, level by level; all of them if they are few."""
    found, waiting, depth = [], [0], 0
    while waiting and depth < _DEEPEST:
        inner = [node for node in waiting if not tree.is_leaf(node)]
        if len(found) + len(inner) > most and not tree.sets:
            break
        found += inner
        waiting = [int(tree.children[node]) + side for node in inner for side in (0, 1)]
        depth += 1
    is_all = all(tree.is_leaf(node) for node in waiting)
    if tree.sets and not is_all:
        raise SqlExportError(
            f"A tree with splits of categories is more than {_DEEPEST} levels deep, which DuckDB "
            "does not nest: fit with max_depth, or encode the categories as numbers."
        )
    return set(found), is_all


def cases(tree, nodes, end):
    """Nested CASE of these nodes; ``end`` gives the expression of any other."""
    found = {}
    for node in sorted(nodes, reverse=True):  # children come after their parents
        first = int(tree.children[node])
        sides = [found.pop(k) if k in nodes else end(k) for k in (first, first + 1)]
        found[node] = tree.branch(node, *sides)
    return found.get(0) or end(0)


def lookup(query, values, index):
    """An entry of a list that is made once; the first has the number 1."""
    return f"{query.let(number_list(values))}[{index}]"


def last_node(query, tree, nodes):
    """The number of the node, from 1 on, where a row ends: by CASE, then by lists."""
    at = query.let(cases(tree, nodes, lambda node: str(node + 1)))
    is_leaf = tree.columns < 0
    here = np.arange(len(is_leaf))
    columns, children = np.where(is_leaf, 0, tree.columns), np.where(is_leaf, here, tree.children)
    lists = [number_list(columns + 1), number_list(np.where(is_leaf, np.inf, tree.thresholds))]
    lists = [query.let(one) for one in (*lists, number_list(children + 1))]
    goes_left = np.where(is_leaf, 1, tree.missing_left)
    missing = query.let(number_list(goes_left))
    row = query.let(f"[{', '.join(tree.X)}]")
    for _ in range(_levels_below(tree, nodes)):
        column, threshold, child = (f"{one}[{at}]" for one in lists)
        side = f"CASE WHEN {row}[{column}] <= {threshold} THEN 0 "
        side += f"WHEN {row}[{column}] IS NULL THEN 1 - {missing}[{at}] ELSE 1 END"
        at = query.let(f"{child} + {side}")
    return at


def _levels_below(tree, nodes):
    """Levels of the tree beyond those of CASE."""
    waiting = [0] if not nodes else []
    for node in nodes:
        first = int(tree.children[node])
        waiting += [k for k in (first, first + 1) if k not in nodes]
    count = 0
    while inner := [node for node in waiting if not tree.is_leaf(node)]:
        count += 1
        waiting = [int(tree.children[node]) + side for node in inner for side in (0, 1)]
    return count
