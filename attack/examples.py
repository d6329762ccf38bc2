"""Rows that several parts learn."""

import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.preprocessing import StandardScaler


def two_classes(n_rows=200):
    """Two classes that no line separates."""
    X, y = make_moons(n_rows, noise=0.15, random_state=0)
    return StandardScaler().fit_transform(X), y


def three_classes(n_rows=180):
    """Three classes in six overlapping groups."""
    X, group = make_blobs(n_rows, centers=6, cluster_std=1.2, n_features=4, random_state=3)
    return StandardScaler().fit_transform(X), group % 3


def wave(n_rows=200):
    """A target that waves over a plane."""
    X = np.random.default_rng(7).uniform(-2.0, 2.0, (n_rows, 2))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
