"""What solvers start from and return: frozen records of plain arrays."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..gates.anchors import SoftAssignment


class Solution(Protocol):
    """What every solver returns, whatever else; the optimum is at most ``gap`` below."""

    objective: float
    gap: float
    n_iter: int


@dataclass(frozen=True)
class LocalModels:
    """Local linear models under a soft assignment to anchors.

    ``weights`` has shape (n_anchors, n_features, n_outputs), or (n_anchors, 0, n_outputs) where
    each local model is a constant; ``biases`` has shape (n_anchors, n_outputs). ``root``, if there
    is one, is the linear model (W, b) that the penalty pulls the local ones toward.
    """

    anchors: np.ndarray
    sharpness: float
    weights: np.ndarray
    biases: np.ndarray
    metric: np.ndarray | None = None
    root: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def squared_norm(self):
        """Σ_j ‖W_j − W‖² + ‖b_j − b‖², with the root or zero for (W, b)."""
        weights, biases = self.weights, self.biases
        if self.root is not None:
            weights, biases = weights - self.root[0], biases - self.root[1]
        return float(np.sum(weights**2, dtype=np.float64) + np.sum(biases**2, dtype=np.float64))

    def gate(self, n_neighbors):
        return SoftAssignment(self.anchors, n_neighbors, self.sharpness, self.metric)

    def moved(self, by):
        """The same models of rows that lie farther: of x what these say of x − ``by``.

        In double precision: biases of rows far from the origin cancel large products.
        """
        dtype, read = self.anchors.dtype, by[: self.weights.shape[1]]

        def biases_of(weights, biases):
            products = np.einsum("...dc,d->...c", weights.astype(np.float64), read)
            return (biases - products).astype(dtype)

        return replace(
            self, anchors=(self.anchors + by).astype(dtype),
            biases=biases_of(self.weights, self.biases),
            root=None if self.root is None else (self.root[0], biases_of(*self.root)),
        )  # fmt: skip

    def local_features(self, X):
        """The columns of ``X`` that the local models read: all of them, or none."""
        return X if X.shape[1] == self.weights.shape[1] else X[:, : self.weights.shape[1]]


@dataclass(frozen=True)
class GatedSolution:
    """Local models found for a fixed gate, with the certificate that the solver stopped on."""

    weights: np.ndarray
    biases: np.ndarray
    objective: float
    gap: float
    n_iter: int
    dual: np.ndarray | None = None
