"""A tree in training: all its parameters, in the coordinates of scaled rows."""

from dataclasses import dataclass

import numpy as np

from ..gates.node_features import CompositionalFeature, IndicatorFeature, TanhFeature
from ..gates.tree import depth_of


@dataclass(frozen=True)
class TreeModel:
    """Splits θ, slopes θ' and weights W of f(z) = Σ_k I_k(z) c_k(z) W_k z.

    ``splits`` (n_splits or, for the compositional feature, n_nodes rows) and ``slopes`` (n_nodes
    rows, or none) have n_features + 1 columns, the last for the constant; ``weights`` has shape
    (n_nodes, n_outputs, n_features + 1).
    """

    splits: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    feature: TanhFeature | CompositionalFeature | IndicatorFeature

    @property
    def depth(self):
        return depth_of(len(self.weights))

    @property
    def weight_rows(self):
        """W as a matrix with one row for each node and output."""
        n_nodes, n_outputs, width = self.weights.shape
        return self.weights.reshape(n_nodes * n_outputs, width)


@dataclass(frozen=True)
class RowScaling:
    """z = [(x − center) / scale, 1]: one scale for all features, so their proportions stay.

    Sparse rows are not centred.
    """

    center: np.ndarray
    scale: float

    @classmethod
    def of(cls, X, weight):
        total = weight.sum()
        if isinstance(X, np.ndarray):
            center = weight @ X / total
            moment = weight @ np.einsum("id,id->i", X, X, dtype=np.float64) / total
            variance = (moment - center @ center) / X.shape[1]
        else:
            center = np.zeros(X.shape[1])
            squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
            variance = weight @ squares / total / X.shape[1]
        # rounding leaves a trace of variance in constant features far from zero
        negligible = 1e-10 * (1.0 + np.max(np.abs(center), initial=0.0) ** 2)
        return cls(center, float(np.sqrt(variance)) if variance > negligible else 1.0)

    def __call__(self, X):
        """Scaled rows with their constant column; a copy."""
        if not isinstance(X, np.ndarray):
            from scipy.sparse import csr_matrix, hstack

            ones = csr_matrix(np.ones((X.shape[0], 1), dtype=X.dtype))
            return hstack([X * X.dtype.type(1.0 / self.scale), ones], format="csr", dtype=X.dtype)
        Z = np.empty((X.shape[0], X.shape[1] + 1), dtype=X.dtype)
        np.subtract(X, self.center.astype(X.dtype), out=Z[:, :-1])
        Z[:, :-1] *= X.dtype.type(1.0 / self.scale)
        Z[:, -1] = 1.0
        return Z

    def unscaled(self, directions):
        """The same linear functions as functions of [x, 1]."""
        out = directions.astype(np.float64)
        out[..., :-1] /= self.scale
        out[..., -1] -= out[..., :-1] @ self.center
        return out.astype(directions.dtype)

    def scaled(self, directions):
        """The inverse of ``unscaled``."""
        out = directions.astype(np.float64)
        out[..., -1] += out[..., :-1] @ self.center
        out[..., :-1] *= self.scale
        return out.astype(directions.dtype)
