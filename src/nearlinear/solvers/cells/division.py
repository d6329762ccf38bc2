"""Rows divided into cells: centers by k-means, in one level or two, and the rows of each cell."""

import itertools

import numpy as np

from ...gates.cells import Cells
from ...gates.clustering import fit_anchors
from ...kernels.row_scales import RowScales

MOST_FLAT = 64  # cells in one level


def divide(X, n_cells, rng, weight):
    """At most so many cells, none of them without a row.

    Up to 64 cells lie side by side. More come in about as many groups as a group has cells.
    """
    if n_cells == 1:
        return Cells(np.average(X, axis=0, weights=weight)[None].astype(X.dtype))
    if n_cells <= MOST_FLAT:
        return Cells(_used(X, fit_anchors(X, n_cells, rng, weight)))
    n_groups = int(np.ceil(np.sqrt(n_cells)))
    in_group = -(-n_cells // n_groups)
    groups = _used(X, fit_anchors(X, min(n_groups, len(X)), rng, weight))
    parts = []
    for rows in rows_of_cells(Cells(groups), X):
        count = min(in_group, len(rows))
        parts.append(_used(X[rows], fit_anchors(X[rows], count, rng, weight[rows])))
    firsts = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Cells(np.concatenate(parts), groups, firsts)


def _used(X, centers):
    """Centers that are the nearest of some row."""
    return np.ascontiguousarray(centers[np.unique(Cells(centers)(X))])


def rows_of_cells(cells, X, overlap=1):
    """Numbers of the rows of each cell: those that have it among their ``overlap`` nearest."""
    near = cells(X)[:, None] if overlap == 1 else cells.nearest(X, overlap)
    order = np.argsort(near.ravel(), kind="stable")
    ends = np.searchsorted(near.ravel()[order], np.arange(len(cells) + 1))
    rows = order // near.shape[1]
    return [rows[a:b] for a, b in itertools.pairwise(ends)]


def squared_distance_inside(X, members, weight):
    """The median squared distance within a cell; its mean over cells by the weight of rows."""
    parts = [rows for rows in members if len(rows) > 1]
    if not parts:
        return RowScales(X).squared_distance
    medians = [RowScales(X[rows]).squared_distance for rows in parts]
    return float(np.average(medians, weights=[weight[rows].sum() for rows in parts]))
