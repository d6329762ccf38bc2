"""Scores of predictors for rows that are tensors, on the tensors' device, in float32."""

from typing import NamedTuple

import numpy as np
import torch

from .anchors.step import nearest

_BLOCK_BYTES = 1 << 30  # of what a block of rows is turned into


def scores_of(predictor, X):
    """Scores (n_rows, n_outputs) as a tensor on the device of ``X``; of what ``is_known``."""
    if X.ndim != 2 or X.shape[1] != predictor.n_features:
        raise ValueError(
            f"X has the shape {tuple(X.shape)}, but the model has {predictor.n_features} features."
        )
    score, n_wide = _MAKERS[type(predictor).__name__](predictor, X.device)
    block = max(256, _BLOCK_BYTES // (4 * (n_wide + X.shape[1])))
    out = torch.empty(len(X), predictor.n_outputs, device=X.device)
    for start in range(0, len(X), block):
        out[start : start + block] = score(X[start : start + block].float())
    return out


def _on(device, array):
    return torch.as_tensor(array, device=device, dtype=torch.float32)


def _locally_linear(predictor, device):
    gate, geometry = predictor.gate, predictor.gate.geometry
    n_anchors, width, n_outputs = predictor.weights.shape
    directions = _on(device, geometry.directions).T.contiguous()
    offsets, biases = _on(device, geometry.offsets), _on(device, predictor.biases)
    models = _on(device, predictor.weights).permute(1, 2, 0).flatten(1).contiguous()
    extra = None if predictor.intercept is None else _on(device, predictor.intercept)
    sharpness, k = float(gate.sharpness), min(gate.n_neighbors, n_anchors)

    def score(X):
        half = offsets - X @ directions
        is_near = nearest(half, k)
        half = half - half.amin(1, keepdim=True)
        codes = torch.where(is_near, torch.exp(-2.0 * sharpness * half), 0.0)
        codes = codes / codes.sum(1, keepdim=True)
        local = (X[:, :width] @ models).view(-1, n_outputs, n_anchors)
        found = torch.einsum("im,icm->ic", codes, local) + codes @ biases
        return found if extra is None else found + extra

    return score, n_anchors * (n_outputs + 4)


def _tree_path(tree, device):
    return _trees((tree,), (1.0,), device)


def _averaged(predictor, device):
    return _trees(predictor.members, predictor.weights, device)


def _trees(members, shares, device):
    """All nodes of all trees in one product; the path is what is left of it."""
    from .trees.adam import layout_of, matrix_of
    from .trees.step import hard_scores

    models = [_Directions(one.splits, one.slopes, one.weights, one.node_gate) for one in members]
    layout = layout_of(models)
    values = matrix_of(layout, models, device)
    shares = _on(device, shares)
    shares = shares / shares.sum()
    intercepts = _on(device, np.stack([one.intercept for one in members]))

    def score(X):
        Z = torch.nn.functional.pad(X, (0, 1), value=1.0)
        return torch.einsum("t,itc->ic", shares, hard_scores(layout, values, Z) + intercepts)

    return score, 4 * layout.n_columns


class _Directions(NamedTuple):
    """What a layout reads of a tree."""

    splits: object
    slopes: object
    weights: object
    node_gate: object
    projection: object = None

    @property
    def depth(self):
        return int(len(self.weights) + 1).bit_length() - 2


_MAKERS = {"LocallyLinear": _locally_linear, "TreePath": _tree_path, "Averaged": _averaged}


def is_known(predictor):
    """Whether tensors have scores of a predictor here; others are scored as arrays."""
    kind = type(predictor).__name__
    if kind == "LocallyLinear":
        return type(predictor.gate).__name__ == "SoftAssignment"
    if kind == "Averaged":
        parts = {(type(one).__name__, is_known(one)) for one in predictor.members}
        return not predictor.calibrations and parts == {("TreePath", True)}
    return kind == "TreePath" and predictor.node_gate.name == "tanh"
