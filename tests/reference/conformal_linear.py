"""Fading linear models around anchors, one number after the other, in float64."""

from math import exp, sqrt

import numpy as np

_PROFILES = {
    "exponential": lambda square, gamma: exp(-gamma * sqrt(square)),
    "gaussian": lambda square, gamma: exp(-gamma * square),
    "linear": lambda square, gamma: max(0.0, 1.0 - gamma * sqrt(square)),
    "square": lambda square, gamma: max(0.0, 1.0 - gamma * square),
}


def shares(x, anchor, gamma, profile, per_feature):
    """h(x)_d for every feature; all are equal unless ``per_feature``."""
    squares = [(float(a) - float(b)) ** 2 for a, b in zip(x, anchor)]
    if not per_feature:
        squares = [sum(squares)] * len(squares)
    return np.array([_PROFILES[profile](square, float(gamma)) for square in squares])


def products(X, model):
    """(x_d − c_d) w_d of every row, term and feature, before h."""
    X, anchors, weights = (np.asarray(a, float) for a in (X, model.anchors, model.weights))
    return np.array([(x - anchors[model.kernels]) * weights for x in X])


def parts(X, model):
    """h(x)_d (x_d − c_d) w_d of every row, term and feature."""
    parts = products(X, model)
    for part, x in zip(parts, X):
        for p, k in enumerate(model.kernels):
            at_anchor = model.anchors[k], model.gammas[k], model.profile, model.per_feature
            part[p] *= shares(x, *at_anchor)
    return parts


def add_up(parts, model, biases):
    """Sums of the terms of each output and its bias."""
    scores = np.tile(np.asarray(biases, float), (len(parts), 1))
    for p, o in enumerate(model.outputs):
        scores[:, o] += parts[:, p].sum(axis=1)
    return scores


def scores(X, model):
    return add_up(parts(X, model), model, model.biases)


def support(X, model):
    at_anchors = [
        [shares(x, c, gamma, model.profile, model.per_feature).mean() for x in X]
        for c, gamma in zip(model.anchors, model.gammas)
    ]
    return np.max(at_anchors, axis=0)
