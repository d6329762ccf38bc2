"""A tree of linear splits by its definition: one row, one node, one ancestor after the other.

Node k has the children 2k + 1 (side +1) and 2k + 2 (side −1); rows end in a constant.
"""

import numpy as np


def ancestors(node):
    """[(ancestor, side on which the node lies)], parent first."""
    found = []
    while node > 0:
        found.append(((node - 1) // 2, 1.0 if node % 2 == 1 else -1.0))
        node = (node - 1) // 2
    return found


def soft(sharpness):
    return lambda score: np.tanh(sharpness * score)


def hard(score):
    return 1.0 if score > 0 else -1.0


def membership(z, node, splits, turn):
    """I_k: the product of (1 + side · turn)/2 over the ancestors."""
    share = 1.0
    for ancestor, side in ancestors(node):
        share *= (1.0 + side * turn(splits[ancestor] @ z)) / 2.0
    return share


def feature(z, node, kind, splits, slopes, sigma=1.0):
    """c_k of the three kinds."""
    if kind == "tanh":
        return np.tanh(sigma * (slopes[node] @ z))
    if kind == "compositional":
        above = 1.0 if node == 0 else feature(z, (node - 1) // 2, kind, splits, slopes)
        return np.tanh(above * (splits[node] @ z))
    return 1.0


def scores(Z, splits, slopes, weights, kind, sigma=1.0, turn=hard):
    """f(z) = Σ_k I_k c_k W_k z, shape (n_rows, n_outputs)."""
    out = np.zeros((len(Z), weights.shape[1]))
    for i, z in enumerate(np.asarray(Z, dtype=float)):
        for node in range(len(weights)):
            share = membership(z, node, splits, turn)
            if share:
                answer = weights[node].astype(float) @ z
                out[i] += share * feature(z, node, kind, splits, slopes, sigma) * answer
    return out


def path(z, splits, depth):
    """The nodes that a row passes, root first."""
    nodes = [0]
    for _ in range(depth):
        nodes.append(2 * nodes[-1] + (1 if splits[nodes[-1]] @ z > 0 else 2))
    return nodes
