"""What remains of a model after training."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

_ROWS_AT_ONCE = 16  # of a product


@dataclass(frozen=True)
class Cost:
    """What one prediction costs.

    Attributes
    ----------
    multiply_adds : int
        Multiplications (each with its addition) to score one dense row; the mean over rows if the
        number varies.
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


def products(rows, weights, out):
    """Of dense rows; BLAS treats the last few apart, so they are filled up.

    Each row has the same bits wherever it stands, where BLAS treats rows of a whole product alike.
    OpenBLAS does, but for float32 on processors without AVX-512: there last digits differ.
    """
    whole = len(rows) // _ROWS_AT_ONCE * _ROWS_AT_ONCE
    np.matmul(rows[:whole], weights, out=out[:whole])
    if whole < len(rows):
        last = np.zeros((_ROWS_AT_ONCE, rows.shape[1]), dtype=rows.dtype)
        last[: len(rows) - whole] = rows[whole:]
        out[whole:] = (last @ weights)[: len(rows) - whole]
