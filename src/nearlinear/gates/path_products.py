"""What a block of rows collects on its way down a tree."""

import numpy as np


class PathProducts:
    """Products of rows with the directions of the nodes on their paths.

    Directions come packed: ``inner`` (n_splits, n_directions, width) begins with the split of each
    node, ``leaves`` (n_leaves, n_leaf_directions, width) has none. Here, ``inner`` has shape
    (depth, n_directions, n_rows) and ``leaf`` (n_leaf_directions, n_rows); ``features`` is room for
    one number of each node and row.
    """

    def __init__(self, inner, leaves, n_rows):
        depth, dtype = len(leaves).bit_length() - 1, leaves.dtype
        self.inner = np.zeros((depth, inner.shape[1], n_rows), dtype=dtype)
        self.leaf = np.zeros((leaves.shape[1], n_rows), dtype=dtype)
        self.features = np.zeros((depth + 1, n_rows), dtype=dtype)


def pad(directions, vector_bytes):
    """Directions (..., n_features + 1) with zeros up to whole vectors."""
    lanes = vector_bytes // directions.itemsize
    width = -(-directions.shape[-1] // lanes) * lanes
    out = np.zeros((*directions.shape[:-1], width), dtype=directions.dtype)
    out[..., : directions.shape[-1]] = directions
    return out
