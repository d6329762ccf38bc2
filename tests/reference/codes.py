"""Local coordinates of one row after another, from the definitions, in float64."""

import numpy as np


def nearest(x, anchors, n_neighbors):
    """Anchors in order of distance; of equal ones the first comes first."""
    distances = np.linalg.norm(anchors - x, axis=1)
    return np.argsort(distances, kind="stable")[:n_neighbors]


def soft(X, anchors, n_neighbors, sharpness):
    def one(x, near):
        powers = np.exp(-sharpness * np.linalg.norm(anchors[near] - x, axis=1) ** 2)
        return powers / powers.sum()

    return _dense(X, anchors, n_neighbors, one)


def inverse(X, anchors, n_neighbors):
    def one(x, near):
        powers = 1.0 / np.linalg.norm(anchors[near] - x, axis=1)
        return powers / powers.sum()

    return _dense(X, anchors, n_neighbors, one)


def reconstruction(X, anchors, n_neighbors, ridge=1e-4):
    def one(x, near):
        differences = anchors[near] - x
        gram = differences @ differences.T
        gram += ridge * np.trace(gram) * np.eye(len(near))
        powers = np.linalg.solve(gram, np.ones(len(near)))
        return powers / powers.sum()

    return _dense(X, anchors, n_neighbors, one)


def _dense(X, anchors, n_neighbors, one):
    X, anchors = np.asarray(X, dtype=np.float64), np.asarray(anchors, dtype=np.float64)
    codes = np.zeros((len(X), len(anchors)))
    for row, x in zip(codes, X):
        near = nearest(x, anchors, n_neighbors)
        row[near] = one(x, near)
    return codes
