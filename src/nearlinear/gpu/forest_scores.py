"""Scores of forests for rows that are tensors: the walk of ``gates/forests/gate.py``.

All rows go down all trees together, level by level. Comparisons are in the precision of the forest,
so that a row ends in the leaves that it has on the CPU, and sums are in float64.
"""

import torch

from ..gates.forests.gate import LEAF
from .anchors.forms import can_compile


def is_known_forest(predictor):
    """Sets of categories are not there."""
    return not len(predictor.gate.sets)


def forest(predictor, X):
    """A function of rows, and the numbers that it makes of one."""
    gate, device = predictor.gate, X.device

    def put(array, dtype=torch.float64):
        return torch.tensor(array, device=device, dtype=dtype)

    walk = _Walk(gate, put)
    values, slopes, fill = map(put, (predictor.values, predictor.slopes, predictor.fill))
    root, intercept = put(predictor.root).T, put(predictor.intercept)
    columns = put(predictor.slope_columns, torch.int64)
    n_told, n_slopes = slopes.shape[1:]
    # which output a tree of one value a leaf adds to
    owner = torch.nn.functional.one_hot(put(predictor.outputs, torch.int64), len(intercept))

    def score(X):
        leaves = walk(X)
        told = values[leaves]  # row, tree, output
        if n_slopes or len(root):
            seen = torch.where(torch.isnan(X), fill if len(fill) else 0.0, X.double())
        if n_slopes:
            told = told + torch.einsum("itkd,id->itk", slopes[leaves], seen[:, columns])
        scores = told.sum(1) if n_told > 1 else told[:, :, 0] @ owner.double()
        if len(root):
            scores = scores + seen @ root
        return scores + intercept

    return score, gate.n_trees * (10 + 4 * n_told * (1 + n_slopes)) + 4 * gate.n_features


class _Walk:
    """The leaf of each row in every tree."""

    def __init__(self, gate, put):
        self._dtype = getattr(torch, gate.dtype.name)
        self._nodes = (
            put(gate.columns, torch.int32), put(gate.thresholds, self._dtype),
            put(gate.children, torch.int32), put(gate.missing_left, torch.uint8),
            put(gate.starts[:-1], torch.int32),
        )  # fmt: skip
        self._pairs, self._factors = put(gate.pairs, torch.int64), put(gate.factors, self._dtype)

    def __call__(self, X):
        rows = X.to(self._dtype)
        if len(self._pairs):  # each product is rounded, then the sum
            first, second = rows[:, self._pairs[:, 0]], rows[:, self._pairs[:, 1]]
            first, second = first * self._factors[:, 0], second * self._factors[:, 1]
            rows = torch.cat([rows, first + second], 1)
        if can_compile(rows.device):
            from .triton_forest import leaves
        else:
            leaves = plain_leaves
        return leaves(rows.contiguous(), *self._nodes)


def plain_leaves(rows, columns, thresholds, children, missing_left, roots):
    """``triton_forest.leaves``, level by level."""
    n_trees, width = len(roots), rows.shape[1]
    node, rows = roots.repeat(len(rows)), rows.flatten()
    going = (columns[node] != LEAF).nonzero()[:, 0]
    while len(going):
        at = node[going]
        found = rows[going // n_trees * width + columns[at]]
        left = torch.where(torch.isnan(found), missing_left[at] != 0, found <= thresholds[at])
        at = children[at] + (~left).int()
        node[going] = at
        going = going[columns[at] != LEAF]
    return children[node].view(-1, n_trees).long()
