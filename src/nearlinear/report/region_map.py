"""A map of regions: two directions of the encoded rows that set regions apart."""

import numpy as np
from sklearn.decomposition import PCA

from .subject import spread_over

_MOST_POINTS, _MOST_COLUMNS, _FARTHEST = 400, 50, 2.8


def plane(subject, numbers, shown):
    """Points of rows in these regions, and what the two directions are made of; or None."""
    Z = subject.dense
    if Z is None or min(Z.shape) < 2:
        return None
    mine = np.isin(numbers, shown)
    Z, numbers = Z[mine], numbers[mine]
    if Z.shape[1] > _MOST_COLUMNS:  # as many directions as the rows can tell apart
        Z = PCA(min(_MOST_COLUMNS, *Z.shape), random_state=0).fit_transform(Z)
    points = _directions(Z, numbers)
    if points is None:
        return None
    points = (points - points.mean(axis=0)) / np.maximum(points.std(axis=0), 1e-12)
    points = np.clip(points, -_FARTHEST, _FARTHEST)  # one row far away would hide all others
    kept = spread_over(len(points), _MOST_POINTS)
    rows = np.flatnonzero(mine)
    right = subject.answers == subject.y if subject.classes is not None else None
    return [
        {
            "x": float(f"{points[k, 0]:.4g}"), "y": float(f"{points[k, 1]:.4g}"),
            "region": int(numbers[k]), "row": int(rows[k]),
            "right": None if right is None else bool(right[rows[k]]),
        }
        for k in kept
    ]  # fmt: skip


def _directions(Z, numbers):
    """Where the centers of regions, each as heavy as its rows, lie farthest apart."""
    known, place = np.unique(numbers, return_inverse=True)
    if len(known) < 2:
        return None
    centers = np.array([Z[place == k].mean(axis=0) for k in range(len(known))])
    found = PCA(min(2, len(known) - 1), random_state=0).fit(centers[place])
    first = found.transform(Z)
    if first.shape[1] == 2:
        return first
    # two regions: the second direction is where rows spread most beside the first
    rest = Z - Z.mean(axis=0)
    rest = rest - np.outer(rest @ found.components_[0], found.components_[0])
    return np.column_stack([first, PCA(1, random_state=0).fit_transform(rest)])
