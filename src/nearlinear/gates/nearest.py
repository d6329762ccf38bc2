"""The nearest anchors of each row, from one matrix product and a selection.

‖x − v_j‖² is compared through h_j = ½‖u_j‖² + ⟨v̄, u_j⟩ − ⟨x, u_j⟩ with u_j = v_j − v̄ and v̄ the
mean anchor: h_j differs from half the squared distance by a term that all anchors share, and
centering keeps float32 accurate on data that are far from the origin. A metric weighs the squared
difference of each feature; it goes into what rows are multiplied with, so it costs nothing.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .selection import smallest_in_columns, smallest_of_rows


@dataclass(frozen=True)
class AnchorGeometry:
    """Anchors with the numbers that every distance to them shares."""

    anchors: np.ndarray
    metric: np.ndarray | None = None

    @cached_property
    def mean(self):
        return self.anchors.mean(axis=0)

    @cached_property
    def centered(self):
        return np.ascontiguousarray(self.anchors - self.mean)

    @cached_property
    def directions(self):
        """What a row is multiplied with: u_j, each feature weighed by the metric."""
        return self.centered if self.metric is None else self.centered * self.metric

    @cached_property
    def offsets(self):
        centered, directions = self.centered.astype(np.float64), self.directions.astype(np.float64)
        half_squares = 0.5 * np.einsum("md,md->m", centered, directions)
        return (half_squares + directions @ self.mean).astype(self.anchors.dtype)

    def half_distances(self, X):
        """h_j(x), shape (n_anchors, n_rows)."""
        cross = self._products(X)
        return np.subtract(self.offsets[:, None], cross, out=cross)

    def _products(self, X):
        if issparse(X):
            return np.ascontiguousarray((X @ self.directions.T).T)
        return self.directions @ X.T

    def shift(self, X):
        """½‖x − v̄‖², what half distances leave out: ½‖x − v_j‖² = h_j(x) + shift(x).

        Of the plain metric only.
        """
        if issparse(X):
            mean = self.mean.astype(np.float64)
            X = X.astype(np.float64)
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
            return 0.5 * (squares + mean @ mean) - X @ mean
        moved = X - self.mean
        return 0.5 * np.einsum("id,id->i", moved, moved)

    def nearest(self, X, n_neighbors):
        """Indices of the nearest anchors and their h, nearest first, each (n_rows, n_neighbors)."""
        if issparse(X):
            return smallest_in_columns(self._products(X), self.offsets, n_neighbors)
        return smallest_of_rows(X, self.directions, self.offsets, n_neighbors)
