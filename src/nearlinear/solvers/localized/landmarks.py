"""Success regressed on few rows: least squares in the span of a kernel at landmarks.

Minimizes ½ cᵀ K_ZZ c + ½ C Σ_i w_i (t_i − g(x_i))² over g(x) = Σ_j c_j k(z_j, x) + b, where the
z_j are q of the n rows. Blocks of rows are added up into a matrix of q × q numbers, so that memory
beyond a few vectors is O(q²), and time O(n q²). With all rows as landmarks this is kernel ridge
regression.
"""

from dataclasses import dataclass

import numpy as np

BLOCK = 1024  # rows whose kernel values are held at once
# Directions shorter than this share of the longest would need coefficients that float32 rounds off.
_SHORTEST = 1e-5


@dataclass(frozen=True)
class LandmarkRegression:
    """g as a machine of all rows: ``dual_coef`` is zero but at the landmarks; slack is t − Kc."""

    dual_coef: np.ndarray
    bias: float
    slack: np.ndarray


def landmark_rows(n_rows, count):
    """About ``count`` rows, evenly spaced: rows stand in the order of their hashes."""
    return np.arange(n_rows)[:: -(-n_rows // min(count, n_rows))]


def regress_on_landmarks(kernel, X, values, weight, *, C, count):
    """Exact up to rounding; ``count`` is the number of landmarks, at most."""
    landmarks = landmark_rows(X.shape[0], count)
    Z = X[landmarks]
    lengths, directions = np.linalg.eigh(kernel(Z, Z).astype(np.float64))
    kept = lengths > _SHORTEST * lengths[-1]
    whitening = directions[:, kept] / np.sqrt(lengths[kept])
    bends, pulls = np.zeros((kept.sum() + 1,) * 2), np.zeros(kept.sum() + 1)
    for part, gram in _blocks(kernel, X, Z):
        features = np.column_stack([gram @ whitening, np.ones(len(gram))])
        weighted = features * weight[part, None]
        bends += features.T @ weighted
        pulls += values[part] @ weighted
    penalty = np.ones(len(pulls))
    penalty[-1] = 0.0  # the bias is free
    found = np.linalg.solve(C * bends + np.diag(penalty), C * pulls)
    coef = np.zeros(X.shape[0])
    coef[landmarks] = whitening @ found[:-1]
    slack = values.astype(np.float64)
    for part, gram in _blocks(kernel, X, Z):
        slack[part] -= gram @ coef[landmarks]
    return LandmarkRegression(coef, float(found[-1]), slack)


def _blocks(kernel, X, Z):
    """Slices of rows, and their kernel values at the landmarks in double precision."""
    for start in range(0, X.shape[0], BLOCK):
        part = slice(start, start + BLOCK)
        yield part, kernel(X[part], Z).astype(np.float64)
