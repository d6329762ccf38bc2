"""Anchors that matter least, by what their local models add to the scores."""

from dataclasses import replace

import numpy as np

from ...gates.anchors import default_sharpness
from ...gates.blend import local_scores

_JUDGES = 10_000  # rows that say which anchors matter


def most_effective(X, row_weight, predictor, count):
    """Numbers of the ``count`` anchors without which scores would change most, in their order.

    Of many rows, some speak for all: they stand in the order of their hashes.
    """
    some = slice(None, None, max(1, X.shape[0] // _JUDGES))
    X, row_weight = X[some], row_weight[some]
    weights, biases = predictor.weights, predictor.biases
    codes = predictor.gate.codes(X)
    effects = anchor_effects(X[:, : weights.shape[1]], *codes, weights, biases, row_weight)
    return np.sort(np.argsort(-effects, kind="stable")[:count])


def anchor_effects(X, indices, codes, weights, biases, row_weight):
    """Σ_i w_i |γ_j(x_i)| ‖s_j(x_i) − f(x_i)‖₁ for every anchor j.

    Without anchor j the others share its part, and f changes by γ_j (f − s_j) / (1 − γ_j): an
    anchor that answers for few rows, or as its neighbors do, can go.
    """
    local = local_scores(X, indices, weights, biases)
    scores = np.einsum("ik,ikc->ic", codes, local)
    apart = np.abs(local - scores[:, None]).sum(axis=2, dtype=np.float64)
    effects = np.zeros(len(biases))
    np.add.at(effects, indices, row_weight[:, None] * np.abs(codes) * apart)
    return effects


def keep_anchors(model, which, n_neighbors, X):
    """Local models on some of their anchors; fewer ones lie further apart, which is evened out."""
    anchors = model.anchors[which]
    wider = default_sharpness(anchors, min(n_neighbors, len(which)), X) / default_sharpness(
        model.anchors, min(n_neighbors, len(model.anchors)), X
    )
    return replace(
        model, anchors=anchors, sharpness=model.sharpness * wider, weights=model.weights[which],
        biases=model.biases[which],
    )  # fmt: skip
