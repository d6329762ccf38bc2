"""What a gate is: how much each component answers for a row."""

from typing import Any, Protocol

import numpy as np


class Gate(Protocol):
    """γ(x), one number for each component."""

    def __call__(self, X: Any) -> np.ndarray:
        """γ(X), shape (n_rows, n_components)."""


class SparseGate(Gate, Protocol):
    """A gate of anchors: few components answer for a row."""

    n_neighbors: int

    def codes(self, X: Any, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Numbers and values of the components that answer, shape (n_rows, n_neighbors)."""


class LearnedGate(Gate, Protocol):
    """A gate with parameters that a solver learns. Whatever has these can be given as ``gate=``."""

    parameters: np.ndarray  # all that is learned, as one vector

    def start(self, Z: Any, n_components: int, rng: np.random.RandomState) -> "LearnedGate":
        """A gate for rows like ``Z``, from which learning begins."""

    def with_parameters(self, parameters: np.ndarray) -> "LearnedGate":
        """The same gate with other parameters."""

    def gradient(self, Z: Any, slopes: np.ndarray) -> np.ndarray:
        """∂L/∂parameters for slopes ∂L/∂γ of shape (n_rows, n_components)."""
