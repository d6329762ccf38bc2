"""One optimizer step after another on dense arrays: Adam, and Algorithm 1 row by row."""

import numpy as np


def adam(value, gradients, sizes, ridge):
    """Kingma & Ba (2015), Algorithm 1, in its efficient form; weight decay is in the gradient."""
    mean, square, visited = np.zeros_like(value), np.zeros_like(value), []
    for t, (gradient, size) in enumerate(zip(gradients, sizes), start=1):
        gradient = gradient + ridge * value
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        rate = size * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        value = value - rate * mean / (np.sqrt(square) + 1e-8)
        visited.append(value)
    return visited


def hinge_slopes(scores, targets):
    return -targets * (targets * scores < 1.0)


def squared_hinge_slopes(scores, targets):
    return -2.0 * targets * np.maximum(0.0, 1.0 - targets * scores)


def log_loss_slopes(scores, targets):
    if len(scores) == 1:
        return -targets / (1.0 + np.exp(targets * scores))
    odds = np.exp(scores - scores.max())
    return odds / odds.sum() - (targets > 0)


SLOPES = {
    "hinge": hinge_slopes,
    "squared_hinge": squared_hinge_slopes,
    "log_loss": log_loss_slopes,
}


def train_rows(
    X, targets, row_weight, model, *, loss, n_neighbors, steps, ridge, anchor_rate, codes=None,
    skip=None,
):  # fmt: skip
    """One pass over the rows in their order; ``model`` is (anchors, sharpness, weights, biases).

    ``codes`` gives fixed codes, one dense row each; otherwise they follow the moving anchors.
    ``skip`` is that of the printed algorithm, which bounds no move and leaves biases alone.
    """
    anchors, sharpness, weights, biases = model
    anchors, weights, biases = anchors.copy(), weights.copy(), biases.copy()
    for i, x in enumerate(X):
        squares = ((x - anchors) ** 2).sum(axis=1)
        if codes is None:
            near = np.argsort(squares, kind="stable")[:n_neighbors]
            share = np.exp(-sharpness * (squares[near] - squares[near].min()))
            share /= share.sum()
        else:
            near = np.flatnonzero(codes[i])
            share = codes[i][near]
        read = x[: weights.shape[1]]
        local = np.array([read @ weights[j] + biases[j] for j in near])
        scores = share @ local
        slopes = row_weight[i] * SLOPES[loss](scores, targets[i])
        step = steps[i]
        if loss == "squared_hinge":
            length = np.linalg.norm(np.kron(share, np.append(read, 1.0)))
            step = min(step, 1.0 / (2.0 * row_weight[i] * length**2))
        for p, j in enumerate(near):
            weights[j] -= step * share[p] * np.outer(read, slopes)
            biases[j] -= step * share[p] * slopes
            pull = slopes @ (local[p] - scores)
            move = -anchor_rate * step * 2.0 * sharpness * share[p] * pull
            most = 0.1 if skip is None else np.inf
            anchors[j] += np.clip(move, -most, most) * (x - anchors[j])
        if skip is not None:
            if (i + 1) % skip == 0:
                weights *= 1.0 - skip * steps[i] * ridge
                if weights.shape[1] == 0:  # biases are all of the model
                    biases *= 1.0 - skip * steps[i] * ridge
        elif i % 16 == 0:
            decay = 1.0 - min(0.5, 16 * steps[i] * ridge)
            weights *= decay
            biases *= decay
    return anchors, weights, biases
