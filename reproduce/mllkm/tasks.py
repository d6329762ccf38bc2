"""Drawn tasks in the plane and beyond it: the paper's, and harder ones whose answer is known."""

import numpy as np

from reproduce.split import scaled

N_TEST = 5000
# The line between the classes of the paper's task, from left to right.
CORNERS = np.array([(-1.0, -0.2), (-0.5, 0.6), (0.05, -0.6), (0.45, 0.35), (1.0, -0.1)])


def bent_line(n_rows=400, seed=0):
    """Points of a square, uniform on both sides of a piecewise linear boundary."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, 2))
    return X, np.where(X[:, 1] > np.interp(X[:, 0], *CORNERS.T), 1, -1)


def checkerboard(n_rows, seed, cells=6):
    """Points of a square in ``cells`` × ``cells`` fields of two colors."""
    X = np.random.default_rng(seed).uniform(0, cells, (n_rows, 2))
    return X, np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)


def spirals(n_rows, seed, turns=2.5, noise=0.02):
    """Two spirals, one within the other."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.5, 1, -1)
    radius = np.sqrt(rng.uniform(0.02, 1, n_rows))
    angle = 2 * np.pi * turns * radius + np.pi * (y > 0)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y


def parity(n_rows, seed, n_bits=3, n_features=6):
    """The sign of a product of a few features; the others say nothing."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, n_features))
    return X, np.where(X[:, :n_bits].prod(axis=1) > 0, 1, -1)


def task(name, draw, n_usual):
    """A function of rows and seed that makes a split; test rows have a seed of their own."""

    def make(n_rows=n_usual, seed=0, **parameters):
        X_train, y_train = draw(n_rows, seed, **parameters)
        X_test, y_test = draw(N_TEST, 1000 + seed, **parameters)
        return scaled(name, X_train, X_test, y_train, y_test, "standard")

    return make


TASKS = {
    draw.__name__: task(draw.__name__, draw, n_usual)
    for draw, n_usual in ((bent_line, 400), (checkerboard, 1000), (spirals, 600), (parity, 1000))
}
