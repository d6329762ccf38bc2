"""Scores of predictors for rows that are tensors, on the tensors' device, in float32."""

import torch

from .anchors.step import nearest

_BLOCK_BYTES = 1 << 30  # of what a block of rows is turned into


def scores_of(predictor, X):
    """Scores (n_rows, n_outputs) as a tensor on the device of ``X``."""
    name = type(predictor).__name__
    if name not in MAKERS:
        raise ValueError(
            f"A {name} has no scores of tensors yet: give X as an array (X.cpu().numpy())."
        )
    if X.ndim != 2 or X.shape[1] != predictor.n_features:
        raise ValueError(
            f"X has the shape {tuple(X.shape)}, but the model has {predictor.n_features} features."
        )
    score, n_wide = MAKERS[name](predictor, X.device)
    block = max(256, _BLOCK_BYTES // (4 * (n_wide + X.shape[1])))
    out = torch.empty(len(X), predictor.n_outputs, device=X.device)
    for start in range(0, len(X), block):
        out[start : start + block] = score(X[start : start + block].float())
    return out


def _on(device, array):
    return torch.as_tensor(array, device=device, dtype=torch.float32)


def _locally_linear(predictor, device):
    gate = predictor.gate
    if type(gate).__name__ != "SoftAssignment":
        raise ValueError(
            f"A gate {type(gate).__name__} has no scores of tensors yet: give X as an array."
        )
    geometry = gate.geometry
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


MAKERS = {"LocallyLinear": _locally_linear}
