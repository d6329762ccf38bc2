"""Codes of rows on a device: the three codings of ``gates/anchors.py``, and their usual sharpness.

Arrays in, arrays out, in the rows' precision, a block of rows at a time.
"""

import numpy as np
import torch

from ...gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
from ...gates.nearest import AnchorGeometry
from ..device import full_precision

_BLOCK_BYTES = 1 << 28  # of rows and of their distances to all anchors


def codes_of(gate, X, n_jobs=None, *, device):
    """Indices and values of the non-zero codes, as ``gate.codes`` gives them."""
    encode = _RULES[type(gate)]
    indices = np.empty((X.shape[0], gate.n_neighbors), dtype=np.int32)
    values = np.empty((X.shape[0], gate.n_neighbors), dtype=X.dtype)
    for part, rows, half, near in _nearest(gate.geometry, gate.n_neighbors, X, device):
        found = encode(gate, rows, half, near)
        values[part] = (found / found.sum(1, keepdim=True)).to(half.dtype).cpu().numpy()
        indices[part] = near.cpu().numpy()
    return indices, values


def default_sharpness(anchors, n_neighbors, X, *, device):
    """1 / mean over rows of (mean − smallest squared distance to the nearest anchors)."""
    total = 0.0
    for _, _, half, _ in _nearest(AnchorGeometry(anchors), n_neighbors, X, device):
        half = half.double()
        total += 2.0 * (half.mean(1) - half[:, 0]).sum().item()
    spread = total / X.shape[0]
    return 1.0 / spread if spread > np.finfo(X.dtype).tiny else 1.0


def _nearest(geometry, n_neighbors, X, device):
    """Blocks: where they are, rows, and h and numbers of the nearest anchors, nearest first."""

    def put(values):
        return torch.as_tensor(np.ascontiguousarray(values, dtype=X.dtype), device=device)

    directions, offsets = put(geometry.directions.T), put(geometry.offsets)
    wide = X.shape[1] + 2 * len(geometry.anchors) + 4 * n_neighbors**2
    step = max(256, _BLOCK_BYTES // (8 * wide))
    for first in range(0, X.shape[0], step):
        part = slice(first, first + step)
        rows = X[part]
        rows = put(rows.toarray() if hasattr(rows, "toarray") else rows)
        with full_precision():
            half = torch.addmm(offsets, rows, directions, alpha=-1.0)
        yield part, rows, *half.topk(n_neighbors, largest=False)


def _shift(gate, rows):
    """½‖x − v̄‖², what h leaves out."""
    mean = torch.as_tensor(gate.geometry.mean, device=rows.device, dtype=rows.dtype)
    return 0.5 * (rows - mean).square().sum(1, keepdim=True)


def _soft(gate, rows, half, near):
    return torch.exp(-2.0 * gate.sharpness * (half - half[:, :1]))


def _inverse(gate, rows, half, near):
    offsets = np.abs(gate.geometry.offsets).max()
    floor = torch.finfo(rows.dtype).eps * max(1.0, float(offsets))
    return (2.0 * (half + _shift(gate, rows))).clamp_min(floor).rsqrt()


def _reconstruction(gate, rows, half, near):
    centered = gate.geometry.centered.astype(np.float64)
    products = torch.as_tensor(centered @ centered.T, device=rows.device)
    # with everything measured from the mean anchor: ⟨x, u_j⟩ = ½‖u_j‖² − h_j
    cross = 0.5 * products.diagonal()[near] - half
    gram = products[near[:, :, None], near[:, None]] - cross[:, :, None] - cross[:, None]
    gram += 2.0 * _shift(gate, rows).double()[:, :, None]
    trace = gram.diagonal(dim1=1, dim2=2).sum(1)
    ridge = (gate.ridge * trace).clamp_min(np.finfo(np.float64).tiny * 1e10)
    gram.diagonal(dim1=1, dim2=2).add_(ridge[:, None])
    return torch.linalg.solve(gram, torch.ones_like(gram[:, :, :1]))[:, :, 0]


_RULES = {
    SoftAssignment: _soft, InverseDistance: _inverse, ReconstructionCodes: _reconstruction
}  # fmt: skip
