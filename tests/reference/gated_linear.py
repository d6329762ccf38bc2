"""Linear models blended by a softmax gate that is rounded, one row after another, in float64."""

import numpy as np


def gates(x, directions, offsets, margin):
    """exp(⟨v_q, x⟩ + v_q0) divided by their sum; within ``margin`` of 0 and 1 they are 0 and 1."""
    powers = np.asarray(directions, float) @ np.asarray(x, float) + np.asarray(offsets, float)
    values = np.exp(powers - powers.max())
    values = values / values.sum()
    values[values < margin] = 0.0
    values[values > 1.0 - margin] = 1.0
    return values


def scores(X, directions, offsets, weights, biases, bias, margin):
    """Σ_q γ_q (⟨w_q, x⟩ + b_q) + bias for every row, ``weights`` (n_features, n_components)."""
    return np.array(
        [
            gates(x, directions, offsets, margin) @ (x @ np.asarray(weights, float) + biases) + bias
            for x in np.asarray(X, float)
        ]
    )
