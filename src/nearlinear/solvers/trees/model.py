"""A tree in training: all its parameters, in the coordinates of scaled rows."""

from dataclasses import dataclass

import numpy as np

from ...gates.trees.balanced import depth_of
from ...gates.trees.node_gates import CompositionalNode, IndicatorNode, TanhNode

_BLOCK_ROWS = 4096
_SATURATED = 20.0  # tanh is 1 there to the last bit, its slope 0


@dataclass(frozen=True)
class TreeModel:
    """Splits θ, slopes θ' and weights W of f(z) = Σ_k I_k(z) c_k(z) W_k z.

    ``splits`` (n_splits or, for the compositional gate, n_nodes rows) and ``slopes`` (n_nodes
    rows, or none) have n_features + 1 columns, the last for the constant; ``weights`` has shape
    (n_nodes, n_outputs, n_features + 1). With a ``projection`` (n_components, n_features) the tree
    stands on projected rows, and the others have n_components + 1 columns.
    """

    splits: np.ndarray
    slopes: np.ndarray
    weights: np.ndarray
    node_gate: TanhNode | CompositionalNode | IndicatorNode
    projection: np.ndarray | None = None

    def rows(self, Z):
        """Scaled rows as the tree sees them."""
        return Z if self.projection is None else project_rows(Z, self.projection)

    @property
    def depth(self):
        return depth_of(len(self.weights))

    @property
    def has_linear_root(self):
        """Whether the root's gate is the same for all rows: its slope has a constant alone."""
        return len(self.slopes) > 0 and not self.slopes[0, :-1].any()

    @property
    def center(self):
        """Slopes and weights that the penalties pull toward: a linear root stays, others go to 0.

        (None, None) where all go to 0.
        """
        if not self.has_linear_root:
            return None, None
        slopes, weights = np.zeros_like(self.slopes), np.zeros_like(self.weights)
        slopes[0], weights[0] = self.slopes[0], self.weights[0]
        return slopes, weights

    @property
    def weight_rows(self):
        """W as a matrix with one row for each node and output."""
        n_nodes, n_outputs, width = self.weights.shape
        return self.weights.reshape(n_nodes * n_outputs, width)


def without_constant(Z):
    """Scaled rows without their last column, for solvers that fit an intercept."""
    X = Z[:, :-1]
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr()


def with_linear_root(model, weights):
    """The same tree with a plain linear model at its root, given as weights of rows.

    f(z) = W_0 z + Σ_{k>0} I_k c_k W_k z: the root's slope is a constant whose tanh is 1.
    """
    model.slopes[0] = 0.0
    model.slopes[0, -1] = _SATURATED / model.node_gate.sigma
    model.weights[0] = weights
    return model


def project_rows(Z, projection):
    """[P z, 1] for rows that end in a constant, which is not projected."""
    out = np.empty((Z.shape[0], len(projection) + 1), dtype=projection.dtype)
    out[:, :-1] = Z[:, :-1] @ projection.T
    out[:, -1] = 1.0
    return out


@dataclass(frozen=True)
class RowScaling:
    """z = [(x − center) / scale, 1]: one scale for all features, so their proportions stay.

    Sparse rows are not centered. Columns of several kinds have a scale each. Directions may see
    the last columns of rows only.
    """

    center: np.ndarray
    scale: float | np.ndarray

    @classmethod
    def of(cls, X, weight):
        total = weight.sum()
        if not isinstance(X, np.ndarray):
            center = np.zeros(X.shape[1])
            squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
            variance = weight @ squares / total / X.shape[1]
            return cls(center, float(np.sqrt(variance)) if variance > 0 else 1.0)
        center = weight @ X.astype(np.float64, copy=False) / total
        # the sum of squares less the square of the sum would lose all digits far from the origin
        moment = 0.0
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            moment += weight[rows] @ ((X[rows] - center) ** 2).sum(axis=1)
        variance = moment / total / X.shape[1]
        rounding = (np.finfo(X.dtype).eps * np.max(np.abs(center), initial=0.0)) ** 2
        return cls(center, float(np.sqrt(variance)) if variance > rounding else 1.0)

    @classmethod
    def of_more_columns(cls, X, weight, n_own):
        """Each column to mean 0 and deviation 1, but for the last ``n_own``, which are so."""
        more = X[:, : X.shape[1] - n_own].astype(np.float64)
        total = weight.sum()
        center = weight @ more / total
        spread = np.sqrt(weight @ (more - center) ** 2 / total)
        rounding = np.finfo(X.dtype).eps * np.abs(center)
        spread = np.where(spread > rounding, spread, 1.0)
        return cls(np.append(center, np.zeros(n_own)), np.append(spread, np.ones(n_own)))

    def __call__(self, X):
        """Scaled rows with their constant column; a copy."""
        if not isinstance(X, np.ndarray):
            from scipy.sparse import csr_matrix, hstack

            ones = csr_matrix(np.ones((X.shape[0], 1), dtype=X.dtype))
            return hstack([X * X.dtype.type(1.0 / self.scale), ones], format="csr", dtype=X.dtype)
        Z = np.empty((X.shape[0], X.shape[1] + 1), dtype=X.dtype)
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            Z[rows, :-1] = X[rows] - self.center
        Z[:, :-1] *= np.asarray(1.0 / self.scale, dtype=X.dtype)
        Z[:, -1] = 1.0
        return Z

    def unscaled_projection(self, projection):
        """Projection of scaled rows as one of [x, 1]."""
        offsets = np.zeros((len(projection), 1), dtype=projection.dtype)
        return self.unscaled(np.concatenate([projection, offsets], axis=1))

    def unscaled(self, directions):
        """The same linear functions as functions of [x, 1]."""
        center, scale = self._of(directions)
        out = directions.astype(np.float64)
        out[..., :-1] /= scale
        out[..., -1] -= out[..., :-1] @ center
        return out.astype(directions.dtype)

    def scaled(self, directions):
        """The inverse of ``unscaled``."""
        center, scale = self._of(directions)
        out = directions.astype(np.float64)
        out[..., -1] += out[..., :-1] @ center
        out[..., :-1] *= scale
        return out.astype(directions.dtype)

    def _of(self, directions):
        """Center and scale of the columns that directions see."""
        skipped = len(self.center) + 1 - directions.shape[-1]
        scale = self.scale if np.ndim(self.scale) == 0 else self.scale[skipped:]
        return self.center[skipped:], scale
