"""Layers of units that bend: what they must be, and their scores in plain NumPy."""

import numpy as np

from .fields import floats, one_type, require

HINGES = ("weights", "biases")


def check_hinges(part, n_features):
    weights, biases = part.weights, part.biases
    good = isinstance(weights, tuple) and isinstance(biases, tuple)
    good = good and len(weights) == len(biases) >= 2
    require(good, "Hinges", "its layers are not whole, or less than two")
    width = n_features
    for table, offsets in zip(weights, biases):
        _, width = floats(table, width, None, name="weights")
        require(width >= 1, "Hinges", "a layer has no units")
        floats(offsets, width, name="biases")
    one_type(*weights, *biases, name="Hinges")
    return width


def hinges(part, X):
    for weights, biases in zip(part.weights[:-1], part.biases[:-1]):
        X = np.maximum(X @ weights + biases, 0)
    return X @ part.weights[-1] + part.biases[-1]
