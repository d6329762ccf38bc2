"""Features of locally linear kernels by their formulas, from distances and in float64."""

import numpy as np


def fading(profile, gamma, distance):
    """h(r)."""
    if profile == "exponential":
        return np.exp(-gamma * distance)
    if profile == "gaussian":
        return np.exp(-gamma * distance * distance)
    power = {"linear": 1, "square": 2}[profile]
    return np.maximum(0.0, 1.0 - gamma * distance**power)


def features(X, anchor, gamma, profile, per_feature=False):
    """φ(x) = h (x − c), h of the distance or of every coordinate's."""
    away = np.asarray(X, dtype=np.float64) - np.asarray(anchor, dtype=np.float64)
    r = np.abs(away) if per_feature else np.linalg.norm(away, axis=1, keepdims=True)
    return fading(profile, gamma, r) * away


def bank_features(bank, X):
    """φ_m(x_i) of all kernels of a bank, shape (n_kernels, n_rows, n_features)."""
    found = [
        features(X, bank.anchors[place], gamma, bank.profile.name, bank.per_feature)
        for place, gamma in zip(bank.places, bank.gammas, strict=True)
    ]
    return np.array(found).reshape(len(bank), *X.shape)


def bank_gram(bank, X, weights):
    """Σ_m weights_m K_m / divisor_m."""
    parts = bank_features(bank, X)
    return np.einsum("m,mid,mjd->ij", weights / bank.divisors, parts, parts, optimize=True)
