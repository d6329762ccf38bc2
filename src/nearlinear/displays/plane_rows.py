"""Rows of two features: the grid around them, and labels that go with them."""

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d


def grid_around(points, resolution, margin):
    """``numpy.meshgrid`` over the points and some room around them, a share of their range."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    return np.meshgrid(*np.linspace(low - room, high + room, resolution).T)


def checked_labels(y, points, classes=None):
    """One label for each point, of ``classes`` where these are given."""
    y = column_or_1d(y)
    check_consistent_length(points, y)
    if classes is not None and not np.isin(y, classes).all():
        unknown = np.setdiff1d(y, classes).tolist()[0]
        raise ValueError(f"y has the label {unknown!r}, which the model does not know.")
    return y


def checked_line(points, name):
    """Points of a line in the plane, shape (n_points, 2)."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"{name} must have the shape (n_points, 2), not {points.shape}.")
    return points
