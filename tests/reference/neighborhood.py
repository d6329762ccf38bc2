"""SVM-KNN from its definition: search, center, scale, solve, answer."""

import numpy as np

from .svm import solve_dual


def kernel(A, B, gamma):
    """Linear (gamma 0) or Gaussian kernel, plus one for the bias."""
    if gamma == 0.0:
        return A @ B.T + 1.0
    squares = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    return np.exp(-gamma * squares) + 1.0


def local_problem(x, points):
    """Query and points, moved to the points' mean and divided by their radius."""
    center = points.mean(axis=0)
    radius = np.sqrt(((points - center) ** 2).sum(axis=1).mean())
    scale = 1.0 / radius if radius > 0 else 1.0
    return (x - center) * scale, (points - center) * scale


def score(x, rows, signs, upper, n_neighbors, gamma):
    """f(x) of the machine around x for labels ``signs`` of ±1."""
    near = np.argsort(np.linalg.norm(rows - x, axis=1), kind="stable")[:n_neighbors]
    if len(set(signs[near])) == 1:
        return signs[near[0]]
    query, points = local_problem(x, rows[near])
    gram = kernel(points, points, gamma)
    alpha, _ = solve_dual(gram, signs[near], upper[near], np.zeros(len(near)))
    return float(kernel(query[None], points, gamma)[0] @ (alpha * signs[near]))
