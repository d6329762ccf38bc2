"""What remains of a model after training."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class Cost:
    """What one prediction costs.

    Attributes
    ----------
    multiply_adds : int
        Multiplications (each with its addition) to score one dense row.
    times_linear : float
        The same as a multiple of a linear model on these features and classes.
    n_bytes : int
        Size of the numbers that prediction reads.
    """

    multiply_adds: int
    times_linear: float
    n_bytes: int


class Predictor(Protocol):
    """Scores of rows, from plain arrays."""

    n_features: int
    n_outputs: int
    dtype: np.dtype
    cost: Cost

    def __call__(self, X: np.ndarray, n_jobs=None) -> np.ndarray: ...


def check_width(X, n_features):
    """Compiled passes trust the number of columns, so it is checked wherever rows come in."""
    if X.shape[1] != n_features:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {n_features} features.")
