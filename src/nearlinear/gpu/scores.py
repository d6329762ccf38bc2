"""Scores of predictors for rows that are tensors, on the tensors' device, in float32."""

from typing import NamedTuple

import numpy as np
import torch

from .anchors.forms import can_compile
from .anchors.step import Layout, nearest
from .device import full_precision, on
from .localized.step import gate_and_columns, gate_values, narrowness, squared_distances

_BLOCK_BYTES = 1 << 30  # of what a block of rows is turned into


def scores_of(predictor, X):
    """Scores (n_rows, n_outputs) as a tensor on the device of ``X``; of what ``is_known``."""
    if X.ndim != 2 or X.shape[1] != predictor.n_features:
        raise ValueError(
            f"X has the shape {tuple(X.shape)}, but the model has {predictor.n_features} features."
        )
    with on(X.device), full_precision():
        score, n_wide = _maker(predictor)(predictor, X)
        block = max(256, _BLOCK_BYTES // (4 * (n_wide + X.shape[1])))
        out = torch.empty(len(X), predictor.n_outputs, device=X.device)
        for start in range(0, len(X), block):
            out[start : start + block] = score(X[start : start + block])
    return out


def _on(device, array):
    return torch.as_tensor(array, device=device, dtype=torch.float32)


def _locally_linear(predictor, X):
    """By the models of near anchors alone where Triton is there, else by all of them."""
    n_anchors, width, n_outputs = predictor.weights.shape
    k = min(predictor.gate.n_neighbors, n_anchors)
    if can_compile(X.device) and width == X.shape[1]:
        from .anchors import triton_groups

        if triton_groups.fits(n_anchors, n_outputs, k):
            return _by_groups(predictor, X, k)
    return _by_all_models(predictor, X, k)


def _by_groups(predictor, X, k):
    from .anchors import triton_groups

    geometry, device = predictor.gate.geometry, X.device
    n_outputs = predictor.n_outputs
    is_bytes = X.dtype == torch.uint8
    intercept = 0.0 if predictor.intercept is None else predictor.intercept
    groups = triton_groups.groups_of(
        _on(device, geometry.directions), _on(device, geometry.offsets),
        _on(device, predictor.weights), _on(device, predictor.biases),
        _on(device, intercept).expand(n_outputs).contiguous(), predictor.gate.sharpness, k, X.dtype,
    )  # fmt: skip

    def score(X):
        rows = X if is_bytes else X.float()
        return triton_groups.scores(rows.contiguous(), groups)

    return score, k * (groups.models.shape[2] + 8)


def _by_all_models(predictor, X, k):
    """Distances and the answers of all local models in one product, as in training."""
    gate, geometry, device = predictor.gate, predictor.gate.geometry, X.device
    n_anchors, width, n_outputs = predictor.weights.shape
    layout = Layout(predictor.n_features, n_anchors, n_outputs, width)
    values = torch.zeros(predictor.n_features, layout.n_columns, device=device)
    values[:, :n_anchors] = _on(device, geometry.directions).T
    models = _on(device, predictor.weights).permute(1, 2, 0).flatten(1)
    values[:width, layout.first : layout.first + layout.n_models] = models
    offsets, biases = _on(device, geometry.offsets), _on(device, predictor.biases)
    extra = 0.0 if predictor.intercept is None else _on(device, predictor.intercept)
    known = layout, biases.T.contiguous(), offsets, float(gate.sharpness)

    def score(X):
        return _combined(X.float() @ values, *known, k) + extra

    return score, layout.n_columns


def _combined(product, layout, biases, offsets, sharpness, k):
    half = offsets - product[:, : layout.n_anchors]
    is_near = nearest(half, k)
    half = torch.where(is_near, half, torch.inf)
    codes = torch.exp(-2.0 * sharpness * (half - half.amin(1, keepdim=True)))
    codes = codes / codes.sum(1, keepdim=True)
    local = product[:, layout.first : layout.first + layout.n_models]
    local = local.view(-1, layout.n_outputs, layout.n_anchors)
    return torch.einsum("im,icm->ic", codes, local) + codes @ biases.T


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


def _gated(predictor, X):
    """Linear models and a learned gate in one product; values near 0 and 1 are rounded."""
    device, n_models = X.device, len(predictor.weights)
    gate, columns = gate_and_columns(predictor.gate.gate, predictor.n_features)
    columns, margin, kind = list(columns), predictor.gate.margin, type(gate).__name__
    seen = gate.parameters[:-n_models].reshape(n_models, -1)
    middle = seen.mean(axis=0)  # distances of rows far from the origin keep their digits
    centers = _on(device, seen - middle).T
    values = torch.zeros(predictor.n_features, 2 * n_models, device=device)
    values[columns, :n_models] = _on(device, seen).T
    values[:, n_models:] = _on(device, predictor.weights[:, :, 0]).T
    ends, biases = (_on(device, one) for one in (gate.parameters[-n_models:], predictor.biases))
    intercept = float(predictor.intercept[0])

    def score(X):
        scores, local = (X.float() @ values).split(n_models, 1)
        if kind == "GaussianGate":
            rows = (X[:, columns] - torch.as_tensor(middle, device=device)).float()
            squares = squared_distances(rows @ centers, centers, rows.square().sum(1))
            scores = -narrowness(ends, gate.scale) * squares
        else:
            scores = scores + ends
        gates = gate_values(kind, scores)
        gates = torch.where(gates < margin, 0.0, torch.where(gates > 1.0 - margin, 1.0, gates))
        return (gates * (local + biases[:, 0])).sum(1, keepdim=True) + intercept

    return score, 8 * n_models


def _stacked(predictor, X):
    """One after the other: they share no columns."""
    makers = [_maker(one)(one, X) for one in predictor.outputs]

    def score(X):
        return torch.cat([one(X) for one, _ in makers], 1)

    return score, max(n_wide for _, n_wide in makers)


_MAKERS = {
    "SoftAssignment": _locally_linear, "Rounded": _gated, "Stacked": _stacked,
    "TreePath": _tree_path, "Averaged": _averaged,
}  # fmt: skip


def _maker(predictor):
    """By the kind of the predictor, or of its gate."""
    kind = type(predictor).__name__
    return _MAKERS.get(type(predictor.gate).__name__ if kind == "LocallyLinear" else kind)


def is_known(predictor):
    """Whether tensors have scores of a predictor here; others are scored as arrays."""
    maker = _maker(predictor)
    if maker is _gated:
        return None not in gate_and_columns(predictor.gate.gate, 1)
    if maker is _stacked:
        return all(_maker(one) is _gated and is_known(one) for one in predictor.outputs)
    if maker is _averaged:
        parts = {(type(one).__name__, is_known(one)) for one in predictor.members}
        return not predictor.calibrations and parts == {("TreePath", True)}
    return maker is _locally_linear or (maker is _tree_path and predictor.node_gate.name == "tanh")
