"""The features γ(x) ⊗ [x; 1] written out, and what follows from them by linear algebra."""

import numpy as np


def densify(indices, codes, n_anchors):
    gamma = np.zeros((len(indices), n_anchors))
    for i, (columns, values) in enumerate(zip(indices, codes)):
        for j, value in zip(columns, values):
            gamma[i, j] += value
    return gamma


def features(X, gamma):
    """Shape (n_rows, n_anchors × (n_features + 1))."""
    augmented = np.hstack([X, np.ones((len(X), 1))])
    return np.stack([np.kron(code, x) for code, x in zip(gamma, augmented)])


def flatten(weights, biases):
    """Local models as one matrix that multiplies the features, one column per output."""
    model = np.concatenate([weights, biases[:, None, :]], axis=1)
    return model.reshape(-1, biases.shape[1])


def unflatten(flat, n_anchors):
    """(weights, biases) from the matrix of all local models."""
    model = flat.reshape(n_anchors, -1, flat.shape[1])
    return model[:, :-1], model[:, -1]


def scores(X, gamma, weights, biases):
    return features(X, gamma) @ flatten(weights, biases)


def kernel(X, gamma, Z=None, gamma_z=None):
    """⟨γ(x), γ(z)⟩ (⟨x, z⟩ + 1)."""
    Z, gamma_z = (X, gamma) if Z is None else (Z, gamma_z)
    return (gamma @ gamma_z.T) * (X @ Z.T + 1.0)
