"""What training minimizes, evaluated on all rows."""

import numpy as np

from ...gates.blend import gated_scores


def training_objective(X, targets, sample_weight, model, n_neighbors, loss, C):
    """λ/2 (‖W‖² + ‖b‖²), from the root if there is one, + mean loss, with λ = 1 / (C Σ weights)."""
    codes = model.gate(n_neighbors).codes(X)
    scores = gated_scores(model.local_features(X), *codes, model.weights, model.biases)
    mean_loss = np.average(loss.value(scores, targets), weights=sample_weight)
    return float(mean_loss + 0.5 * model.squared_norm / (C * sample_weight.sum()))
