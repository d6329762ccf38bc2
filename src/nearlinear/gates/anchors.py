"""Sparse gates: each row is answered for by its few nearest anchors.

A gate's ``codes(X)`` are the indices and values of its non-zero entries, ``gate(X)`` the same as
a dense matrix. Values of a row sum to one in all three codings.
"""

from dataclasses import dataclass

import numpy as np

from .._cached import cached_property
from .._compile import run_blocks
from .nearest import AnchorGeometry

BLOCK = 2048  # rows encoded at once


@dataclass(frozen=True)
class SoftAssignment:
    """γ_j(x) ∝ exp(−sharpness ‖x − v_j‖²) on the nearest anchors (localized soft assignment).

    ``metric`` holds a weight for the squared difference of each feature; None stands for ones.
    """

    anchors: np.ndarray
    n_neighbors: int
    sharpness: float
    metric: np.ndarray | None = None

    @cached_property
    def geometry(self):
        return AnchorGeometry(self.anchors, self.metric)

    def encode(self, X):
        """Codes of a block of rows, and h: half squared distances up to a constant of the row."""
        indices, half_distances = self.geometry.nearest(X, self.n_neighbors)
        # nearest first, so subtracting the first column keeps every exponent at most 0
        values = half_distances - half_distances[:, :1]
        values *= half_distances.dtype.type(-2.0 * self.sharpness)
        np.exp(values, out=values)
        return indices, _normalized(values), half_distances

    def codes(self, X, n_jobs=None):
        return _encode_blocks(lambda rows: self.encode(rows)[:2], X, self.n_neighbors, n_jobs)

    def __call__(self, X):
        return densify(*self.codes(X), len(self.anchors))


@dataclass(frozen=True)
class InverseDistance:
    """γ_j(x) ∝ 1 / ‖x − v_j‖ on the nearest anchors."""

    anchors: np.ndarray
    n_neighbors: int

    @cached_property
    def geometry(self):
        return AnchorGeometry(self.anchors)

    def codes(self, X, n_jobs=None):
        return _encode_blocks(self._encode, X, self.n_neighbors, n_jobs)

    def _encode(self, X):
        indices, half_distances = self.geometry.nearest(X, self.n_neighbors)
        squares = 2.0 * (half_distances + self.geometry.shift(X)[:, None])
        # A floor far below any real distance: a row that is an anchor gets the code (1, 0, ..., 0).
        floor = np.finfo(X.dtype).eps * max(1.0, float(np.abs(self.geometry.offsets).max()))
        values = 1.0 / np.sqrt(np.maximum(squares, floor))
        return indices, _normalized(values).astype(X.dtype, copy=False)

    def __call__(self, X):
        return densify(*self.codes(X), len(self.anchors))


@dataclass(frozen=True)
class ReconstructionCodes:
    """The γ with Σγ = 1 that best rebuild x from its nearest anchors: min ‖x − Σ γ_j v_j‖²."""

    anchors: np.ndarray
    n_neighbors: int
    ridge: float = 1e-4

    @cached_property
    def geometry(self):
        return AnchorGeometry(self.anchors)

    @cached_property
    def _inner_products(self):
        centered = self.geometry.centered.astype(np.float64)
        return centered @ centered.T

    def codes(self, X, n_jobs=None):
        return _encode_blocks(self._encode, X, self.n_neighbors, n_jobs)

    def _encode(self, X):
        indices, half_distances = self.geometry.nearest(X, self.n_neighbors)
        squares = np.diagonal(self._inner_products)[indices]
        half_norm = self.geometry.shift(X).astype(np.float64)[:, None]
        # with everything measured from the mean anchor: ⟨x, u_j⟩ = ½‖u_j‖² − h_j
        cross = 0.5 * squares - half_distances
        gram = self._inner_products[indices[:, :, None], indices[:, None, :]]
        gram = gram - cross[:, :, None] - cross[:, None, :] + 2.0 * half_norm[:, :, None]
        trace = np.trace(gram, axis1=1, axis2=2)
        ridge = np.maximum(self.ridge * trace, np.finfo(np.float64).tiny * 1e10)
        gram += ridge[:, None, None] * np.eye(self.n_neighbors)
        values = np.linalg.solve(gram, np.ones((len(gram), self.n_neighbors, 1)))[:, :, 0]
        return indices, _normalized(values).astype(X.dtype, copy=False)

    def __call__(self, X):
        return densify(*self.codes(X), len(self.anchors))


def default_sharpness(anchors, n_neighbors, X):
    """1 / mean over rows of (mean − smallest squared distance to the nearest anchors).

    Soft assignment does not change when all distances grow by the same amount, so the spread of
    the distances is the natural scale. 1.0 where there is no spread (one neighbor).
    """
    geometry = AnchorGeometry(anchors)
    spreads = np.empty(X.shape[0])

    def work(start, stop):
        _, half_distances = geometry.nearest(X[start:stop], n_neighbors)
        spreads[start:stop] = 2.0 * (half_distances.mean(axis=1) - half_distances[:, 0])

    run_blocks(work, X.shape[0], BLOCK)
    spread = float(spreads.mean())
    return 1.0 / spread if spread > np.finfo(X.dtype).tiny else 1.0


def _normalized(values):
    """Rows divided by their sums; a product with ones sums short rows ten times faster."""
    values /= (values @ np.ones(values.shape[1], dtype=values.dtype))[:, None]
    return values


def densify(indices, values, n_anchors):
    """Codes as a dense matrix, shape (n_rows, n_anchors)."""
    dense = np.zeros((len(indices), n_anchors), dtype=values.dtype)
    np.put_along_axis(dense, indices, values, axis=1)
    return dense


def _encode_blocks(encode, X, n_neighbors, n_jobs):
    n_rows = X.shape[0]
    indices = np.empty((n_rows, n_neighbors), dtype=np.int32)
    values = np.empty((n_rows, n_neighbors), dtype=X.dtype)

    def work(start, stop):
        indices[start:stop], values[start:stop] = encode(X[start:stop])

    run_blocks(work, n_rows, BLOCK, n_jobs)
    return indices, values
