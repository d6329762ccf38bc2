"""The arrays of a refit, in the order that its passes read them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .leaf_steps import rows_by_leaf


class Unit(NamedTuple):
    """What a step moves: the leaves of one tree for one output, and where they stand in models."""

    tree: int
    output: int
    told: int


@dataclass(frozen=True)
class LeafProblem:
    """What is given to a refit, trees and outputs first; models are values, then slopes."""

    leaves: np.ndarray  # (n_trees, n_rows), counted in each tree
    leaf_starts: np.ndarray
    grown: np.ndarray  # (n_leaves, n_told, 1 + n_slopes), as are all models here
    units: tuple
    base: np.ndarray  # (n_outputs, n_rows)
    targets: np.ndarray
    weight: np.ndarray
    loss: object
    Z: np.ndarray
    tree_orders: tuple
    rows: np.ndarray  # numbers of rows in the order they are kept in; empty: their own
    by_leaf: tuple  # of each tree: rows by leaf, and where leaves begin; empty without slopes

    @classmethod
    def of(
        cls, leaves, leaf_starts, values, outputs, base, targets, weight, *,
        loss, Z=None, slopes=None, tree_orders=(),
    ):  # fmt: skip
        """The problem of a forest and its training rows.

        ``leaves`` (n_rows, n_trees) has the leaf of each row in every tree, counted through all
        trees; tree t has those from ``leaf_starts[t]`` on. ``values`` (n_leaves, n_told) and
        ``slopes`` (n_leaves, n_told, n_slopes) are as grown; without ``slopes`` they are 0. Tree t
        adds to the output ``outputs[t]`` if n_told is 1, and to all outputs otherwise. ``base``
        (n_rows, n_outputs) is what comes before the trees, ``Z`` (n_rows, n_slopes) the columns
        that slopes see, on scales that are alike. ``targets`` and ``loss`` are those of
        ``losses.py``. ``tree_orders`` has a ``TreeOrder`` for each tree where values must rise or
        fall with a column; leaves are constants then.
        """
        starts = np.asarray(leaf_starts, dtype=np.int64)
        n_rows = len(leaves)
        by_tree = np.ascontiguousarray(np.asarray(leaves, dtype=np.int32).T)
        by_tree -= starts[:-1, None].astype(np.int32)
        Z = columns_seen(Z, n_rows)
        if Z.shape[1] and tree_orders:
            raise ValueError(
                "Leaves with slopes cannot obey monotone constraints: refit constants instead."
            )
        if slopes is None:
            slopes = np.zeros((*np.shape(values), Z.shape[1]))
        grown = models_of(values, slopes)
        weight = np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
        base, targets = (np.asarray(one, dtype=np.float64).T for one in (base, targets))
        rows, by_leaf = np.empty(0, dtype=np.int32), ()
        if Z.shape[1]:
            # neighbors in one tree are often neighbors in another: their rows are read together
            rows = _rows_by_leaves(by_tree, starts)
            by_tree, weight, Z = np.ascontiguousarray(by_tree[:, rows]), weight[rows], Z[rows]
            base, targets = base[:, rows], targets[:, rows]
            by_leaf = tuple(map(rows_of_leaves, by_tree, np.diff(starts)))
        return cls(
            by_tree, starts, grown, units_of(outputs, grown.shape[1]), np.ascontiguousarray(base),
            np.ascontiguousarray(targets), weight, loss, Z, tuple(tree_orders), rows, by_leaf,
        )  # fmt: skip

    def own(self, models, unit):
        """The part of ``models`` that a unit's steps move, (n_leaves of the tree, 1 + n_slopes)."""
        return models[self.leaf_starts[unit.tree] : self.leaf_starts[unit.tree + 1], unit.told]


def units_of(outputs, n_told):
    if n_told == 1:
        return tuple(Unit(tree, int(output), 0) for tree, output in enumerate(outputs))
    return tuple(Unit(tree, told, told) for tree in range(len(outputs)) for told in range(n_told))


def models_of(values, slopes):
    values = np.asarray(values, dtype=np.float64)
    return np.concatenate([values[:, :, None], np.asarray(slopes, dtype=np.float64)], axis=2)


def columns_seen(Z, n_rows):
    return np.empty((n_rows, 0), dtype=np.float32) if Z is None else np.ascontiguousarray(Z)


def rows_of_leaves(leaf, n_leaves):
    """Rows by leaf in one tree, and where leaves begin in them."""
    order, bounds = np.empty(len(leaf), dtype=np.int32), np.empty(n_leaves + 1, dtype=np.int64)
    rows_by_leaf(leaf, n_leaves, order, bounds)
    return order, bounds


def _rows_by_leaves(leaves, starts):
    """Rows sorted by their leaf in the first tree, those of one leaf by the second, and so on."""
    rows = np.arange(leaves.shape[1], dtype=np.int32)
    for leaf, n_leaves in zip(leaves[::-1], np.diff(starts)[::-1], strict=True):
        rows = rows[rows_of_leaves(leaf[rows], n_leaves)[0]]
    return rows
