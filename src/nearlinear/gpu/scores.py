"""Scores of predictors for rows that are tensors, on the tensors' device, in float32."""

from typing import NamedTuple

import numpy as np
import torch

from .anchors.forms import has_triton
from .anchors.step import Layout, nearest

_BLOCK_BYTES = 1 << 30  # of what a block of rows is turned into


def scores_of(predictor, X):
    """Scores (n_rows, n_outputs) as a tensor on the device of ``X``; of what ``is_known``."""
    if X.ndim != 2 or X.shape[1] != predictor.n_features:
        raise ValueError(
            f"X has the shape {tuple(X.shape)}, but the model has {predictor.n_features} features."
        )
    score, n_wide = _MAKERS[type(predictor).__name__](predictor, X)
    block = max(256, _BLOCK_BYTES // (4 * (n_wide + X.shape[1])))
    out = torch.empty(len(X), predictor.n_outputs, device=X.device)
    for start in range(0, len(X), block):
        out[start : start + block] = score(X[start : start + block])
    return out


def _on(device, array):
    return torch.as_tensor(array, device=device, dtype=torch.float32)


def _locally_linear(predictor, X):
    """Distances and the answers of all local models in one product, as in training."""
    gate, geometry, device = predictor.gate, predictor.gate.geometry, X.device
    n_anchors, width, n_outputs = predictor.weights.shape
    layout = Layout(predictor.n_features, n_anchors, n_outputs, width)
    values = torch.zeros(predictor.n_features, layout.n_columns, device=device)
    values[:, :n_anchors] = _on(device, geometry.directions).T
    models = _on(device, predictor.weights).permute(1, 2, 0).flatten(1)
    values[:width, layout.first : layout.first + layout.n_models] = models
    product = _product_with(values, X)
    offsets, biases = _on(device, geometry.offsets), _on(device, predictor.biases)
    extra = 0.0 if predictor.intercept is None else _on(device, predictor.intercept)
    known = layout, biases.T.contiguous(), offsets, float(gate.sharpness)
    k, combine = min(gate.n_neighbors, n_anchors), _combination(layout, device)

    def score(X):
        return combine(product(X), *known, k) + extra

    return score, layout.n_columns


def _combination(layout, device):
    """How products become scores: one kernel where Triton is there."""
    if device.type == "cuda" and has_triton():
        from .anchors import triton_scores

        if triton_scores.fits(layout):
            return lambda product, layout, *more: triton_scores.scores(layout, product, *more)
    return _combined


def _combined(product, layout, biases, offsets, sharpness, k):
    half = offsets - product[:, : layout.n_anchors]
    is_near = nearest(half, k)
    half = half - half.amin(1, keepdim=True)
    codes = torch.where(is_near, torch.exp(-2.0 * sharpness * half), 0.0)
    codes = codes / codes.sum(1, keepdim=True)
    local = product[:, layout.first : layout.first + layout.n_models]
    local = local.view(-1, layout.n_outputs, layout.n_anchors)
    return torch.einsum("im,icm->ic", codes, local) + codes @ biases.T


def _product_with(values, X):
    """A function of rows like ``X``: rows @ ``values``, to the rounding of float32.

    Bytes are bfloat16 numbers without rounding, and a float32 number is the sum of three of them:
    three fast products on CUDA are as good as the slow one.
    """
    if X.dtype != torch.uint8 or X.device.type != "cuda":
        return lambda X: X.float() @ values
    parts, rest = [], values
    for _ in range(3):
        parts.append(rest.bfloat16())
        rest = rest - parts[-1].float()

    def product(X):
        rows = X.bfloat16()
        total = torch.mm(rows, parts[-1], out_dtype=torch.float32)
        for part in parts[-2::-1]:
            total = torch.addmm(total, rows, part, out_dtype=torch.float32)
        return total

    return product


def _tree_path(tree, X):
    return _trees((tree,), (1.0,), X.device)


def _averaged(predictor, X):
    return _trees(predictor.members, predictor.weights, X.device)


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
        Z = torch.nn.functional.pad(X.float(), (0, 1), value=1.0)
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
