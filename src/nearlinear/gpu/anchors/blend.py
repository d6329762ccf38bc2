"""Local linear models under a sparse gate on a device, and their adjoint: ``gates/blend.py``.

All local models answer for every row of a block, and those of the gate are picked afterwards: one
matrix product costs a device less than finding out which to leave out.
"""

import numpy as np
import torch
from scipy.sparse import issparse

from ..device import full_precision

_BLOCK_BYTES = 1 << 30  # of rows in double precision and of what all local models say of them


class GatedRows:
    """Rows and their codes on a device.

    Models are tensors of shape (n_features + 1, n_outputs, n_anchors), biases last. Products are in
    ``dtype``, never in TF32, and what comes back is in float64.
    """

    def __init__(self, X, indices, codes, n_anchors, n_outputs, device):
        self.X = placed_rows(X, getattr(torch, X.dtype.name), device)
        self.indices = torch.as_tensor(indices, device=device)
        self.codes = torch.as_tensor(codes, device=device)
        self.shape = X.shape[1] + 1, n_outputs, n_anchors
        self.dtype = torch.float32
        self._step = block_rows(X.shape[1], n_anchors, n_outputs)

    def __len__(self):
        return len(self.codes)

    def scores(self, model, rows=None):
        """f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j) of all rows, or of some; shape (n_rows, n_outputs)."""
        model = model.to(self.dtype)
        weights, biases = model[:-1].flatten(1), model[-1]
        n_rows = len(self) if rows is None else len(rows)
        found = torch.empty(n_rows, self.shape[1], dtype=torch.float64, device=self.X.device)
        with full_precision():
            for part in _parts(n_rows, self._step):
                X, gamma, near, codes = self._block(part, rows)
                local = (X @ weights).view(len(X), *self.shape[1:])
                near = near[:, None].expand(-1, self.shape[1], -1)
                blended = (local.gather(2, near) * codes[:, None]).sum(2)
                found[part] = blended + gamma @ biases.T
        return found

    def adjoint(self, slopes, rows=None):
        """Σ_i γ(x_i) ⊗ [x_i; 1] ⊗ slopes_i, in the shape of a model."""
        total = torch.zeros(self.shape, dtype=torch.float64, device=self.X.device)
        slopes = slopes.to(self.dtype)
        with full_precision():
            for part in _parts(len(slopes), self._step):
                X, gamma, *_ = self._block(part, rows)
                shares = (gamma[:, None] * slopes[part, :, None]).flatten(1)
                total[:-1] += (X.T @ shares).view(-1, *self.shape[1:])
                total[-1] += slopes[part].T @ gamma
        return total

    def gram(self, rows):
        """⟨γ(x), γ(x')⟩ (⟨x, x'⟩ + 1) among some rows."""
        X, gamma, *_ = self._block(slice(None), rows)
        with full_precision():
            return ((X @ X.T).add_(1.0) * (gamma @ gamma.T)).double()

    def _block(self, part, rows):
        """Rows of a block, their codes as a matrix, and as they are stored."""
        if rows is not None:
            part = rows[part]
        near, codes = self.indices[part].long(), self.codes[part].to(self.dtype)
        gamma = torch.zeros(len(codes), self.shape[2], dtype=self.dtype, device=self.X.device)
        return self.X[part].to(self.dtype), gamma.scatter_(1, near, codes), near, codes


def placed_rows(X, dtype, device, origin=0.0):
    """Rows less ``origin`` on a device, dense; one block of them at a time is dense on the host."""
    there = torch.empty(X.shape, dtype=dtype, device=device)
    for part in _parts(X.shape[0], block_rows(X.shape[1], 0, 0)):
        block = X[part].toarray() if issparse(X) else X[part]
        there[part] = torch.as_tensor(np.ascontiguousarray(block - origin), device=device)
    return there


def block_rows(n_features, n_anchors, n_outputs):
    """Rows of a block."""
    return max(256, _BLOCK_BYTES // (16 * (n_features + n_anchors * (n_outputs + 1) + 1)))


def _parts(n_rows, step):
    return [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]
