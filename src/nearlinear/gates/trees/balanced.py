"""A balanced binary tree of linear splits: soft memberships for training, hard paths to predict.

Nodes are numbered as in a heap: the root is 0, the children of k are 2k + 1 (taken where
⟨θ_k, z⟩ > 0) and 2k + 2. Rows ``z`` end in a constant 1, so a split has no separate bias. Arrays
of a batch are node-major, (n_nodes, n_rows): every pass then runs along rows.
"""

import numpy as np

from ..._compile import compiled, compiled_fast_sums


def count_nodes(depth):
    """Nodes of a tree with ``depth`` levels of splits, leaves included."""
    return 2 ** (depth + 1) - 1


def count_splits(depth):
    return 2**depth - 1


def depth_of(n_nodes):
    return int(n_nodes + 1).bit_length() - 2


def soft_memberships(turns, out):
    """I_0 = 1, I_left = I (1 + t)/2, I_right = I (1 − t)/2 with turns t in [−1, 1]."""
    _memberships(turns, out)
    return out


@compiled
def _memberships(turns, shares):
    n_rows = shares.shape[1]
    half = shares.dtype.type(0.5)
    shares[0] = 1.0
    for k in range(len(turns)):
        turn, above = turns[k], shares[k]
        left, right = shares[2 * k + 1], shares[2 * k + 2]
        for i in range(n_rows):
            left[i] = above[i] * (half + half * turn[i])
            right[i] = above[i] - left[i]


def columns_seen(Z, width):
    """The last ``width`` columns of rows: splits and slopes may see fewer than weights do."""
    return Z if Z.shape[1] == width else np.ascontiguousarray(Z[:, Z.shape[1] - width :])


def hard_paths(Z, splits, depth):
    """Nodes that each row passes, root first, shape (n_rows, depth + 1); dense rows or CSR."""
    Z = columns_seen(Z, splits.shape[1])
    paths = np.zeros((Z.shape[0], depth + 1), dtype=np.int32)
    if isinstance(Z, np.ndarray):
        _dense_paths(Z, splits, paths)
    else:
        _sparse_paths(Z.indptr, Z.indices, Z.data, splits, paths)
    return paths


@compiled
def _dense_paths(Z, splits, paths):
    for i in range(len(paths)):
        row = Z[i]
        node = 0
        for level in range(paths.shape[1] - 1):
            score = np.dot(splits[node], row)
            node = 2 * node + (1 if score > 0 else 2)
            paths[i, level + 1] = node


@compiled
def _sparse_paths(indptr, columns, data, splits, paths):
    for i in range(len(paths)):
        node = 0
        for level in range(paths.shape[1] - 1):
            score = 0.0
            for t in range(indptr[i], indptr[i + 1]):
                score += splits[node, columns[t]] * data[t]
            node = 2 * node + (1 if score > 0 else 2)
            paths[i, level + 1] = node


def local_scores_along_paths(directions, Z, paths):
    """⟨direction, z⟩ for all directions of each node on the path, (n_rows, length, n_directions).

    ``directions`` has shape (n_nodes, n_directions, width).
    """
    Z = columns_seen(Z, directions.shape[2])
    out = np.empty((*paths.shape, directions.shape[1]), dtype=directions.dtype)
    if isinstance(Z, np.ndarray):
        _dense_answers(directions, Z, paths, out)
    else:
        _sparse_answers(directions, Z.indptr, Z.indices, Z.data, paths, out)
    return out


@compiled_fast_sums
def _dense_answers(directions, Z, paths, out):
    width = Z.shape[1]
    for i in range(len(paths)):
        row = Z[i]
        for level in range(paths.shape[1]):
            node = paths[i, level]
            for c in range(directions.shape[1]):
                direction = directions[node, c]
                total = out.dtype.type(0.0)
                for d in range(width):
                    total += direction[d] * row[d]
                out[i, level, c] = total


@compiled_fast_sums
def _sparse_answers(directions, indptr, columns, data, paths, out):
    for i in range(len(paths)):
        for level in range(paths.shape[1]):
            node = paths[i, level]
            for c in range(directions.shape[1]):
                total = out.dtype.type(0.0)
                for t in range(indptr[i], indptr[i + 1]):
                    total += directions[node, c, columns[t]] * data[t]
                out[i, level, c] = total


def sums_along_paths(weights):
    """For each node the sum of its own weights and those of its ancestors."""
    sums = weights.copy()
    for node in range(1, len(sums)):
        sums[node] += sums[(node - 1) // 2]
    return sums


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
