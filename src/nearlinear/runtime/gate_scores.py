"""Gates of checked parts in plain NumPy.

A sparse gate gives the numbers of the components that answer for each row, and their values; any
other gate the values of all components.
"""

import numpy as np

from .kernel_scores import squared_distances
from .parts import values_of


def normalized(values):
    """Rows divided by their sums."""
    return values / values.sum(axis=1, keepdims=True)


def nearest(gate, X):
    """Numbers of the nearest anchors and their squared distances, nearest first."""
    squares = squared_distances(X, gate.anchors, getattr(gate, "metric", None))
    order = np.argsort(squares, axis=1, kind="stable")[:, : gate.n_neighbors]
    return order, np.take_along_axis(squares, order, axis=1)


def _soft_assignment(gate, X):
    order, squares = nearest(gate, X)
    values = np.exp(-gate.sharpness * (squares - squares[:, :1]))
    return order, normalized(values)


def _inverse_distance(gate, X):
    order, squares = nearest(gate, X)
    mean = gate.anchors.mean(axis=0)
    away = gate.anchors - mean
    offsets = 0.5 * (away**2).sum(axis=1) + away @ mean
    floor = np.finfo(X.dtype).eps * max(1.0, float(np.abs(offsets).max()))
    values = 1.0 / np.sqrt(np.maximum(squares, floor))
    return order, normalized(values)


def _reconstruction(gate, X):
    order, _ = nearest(gate, X)
    away = gate.anchors[order].astype(np.float64) - X[:, None]
    gram = away @ away.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    ridge = np.maximum(gate.ridge * trace, np.finfo(np.float64).tiny * 1e10)
    gram += ridge[:, None, None] * np.eye(gate.n_neighbors)
    values = np.linalg.solve(gram, np.ones((len(X), gate.n_neighbors, 1)))[:, :, 0]
    return order, normalized(values)


def _softmax(scores):
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return normalized(scores)


def _linear_scores(part, X):
    return X @ part.directions.T + part.offsets


def _gaussian_gate(part, X):
    narrow = np.exp(-2.0 * np.clip(part.log_widths, -20.0, 20.0)) / part.scale
    return _softmax(-squared_distances(X, part.centers) * narrow)


def _rounded(part, X):
    values = values_of(part.gate, X)
    values = np.where(values < part.margin, 0.0, values)
    return np.where(values > 1.0 - part.margin, 1.0, values)


def _unit_length(part, X):
    values = values_of(part.gate, X)
    return values / np.linalg.norm(values, axis=1, keepdims=True)


def _top_and_bottom(part, scores):
    order = np.argsort(scores, axis=1, kind="stable")
    values = np.zeros(scores.shape)
    for chosen in (order[:, : part.count], order[:, scores.shape[1] - part.count :]):
        marks = np.zeros(scores.shape)
        np.put_along_axis(marks, chosen, 0.5, axis=1)
        values += marks
    return values


SPARSE_GATES = {
    "SoftAssignment": _soft_assignment,
    "InverseDistance": _inverse_distance,
    "ReconstructionCodes": _reconstruction,
}
GATES = {
    "Softmax": lambda part, X: _softmax(_linear_scores(part, X)),
    "Sigmoid": lambda part, X: 0.5 + 0.5 * np.tanh(0.5 * _linear_scores(part, X)),
    "GaussianGate": _gaussian_gate,
    "Viewing": lambda part, X: values_of(part.gate, X[:, list(part.view.columns)]),
    "Rounded": _rounded,
    "SoftmaxOf": lambda part, X: _softmax(part.sharpness * values_of(part.scores, X)),
    "Clipped": lambda part, X: np.clip(values_of(part.scores, X), part.floor, 1.0),
    "UnitLength": _unit_length,
    "Repeated": lambda part, X: np.repeat(values_of(part.gate, X), part.count, axis=1),
    "TopAndBottom": _top_and_bottom,
}
