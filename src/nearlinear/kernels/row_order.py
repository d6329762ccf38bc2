"""Some rows that stand for all: chosen by what they are, so that no rounding changes the choice."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .pairs import as_floats, squared_norms

_BLOCK = 4096  # rows measured at once
# Shells around the middle, in parts of the median distance from it. Not a round number: rows on a
# grid shall not lie on a border.
_SHELL = np.pi / 48
# Rows nearer to each other than this share of their mean distance are equal but for rounding.
_SAME = 1e-7


@dataclass(frozen=True)
class RowOrder:
    """Rows from their middle outwards in thin shells, inside a shell along a fixed direction.

    A change of the last digits moves few rows, and those not far. ``rows`` are their numbers in
    this order, ``squares`` the squared distances from the middle, and ``is_new`` is False for a row
    that equals the one before it.
    """

    rows: np.ndarray
    squares: np.ndarray
    is_new: np.ndarray

    @classmethod
    def of(cls, X):
        squares, places = _measure(X)
        unit = float(np.median(np.abs(places))) or float(np.abs(places).mean()) or 1.0
        keys = 0.5 + 0.5 * places / (np.abs(places) + unit)
        if X.shape[1] > 1:
            far = np.sqrt(squares)
            unit = float(np.median(far)) or float(far.mean()) or 1.0
            keys += np.floor(far / (_SHELL * unit))
        rows = np.argsort(keys)
        is_new = np.ones(len(rows), dtype=bool)
        close = 1 + np.flatnonzero(np.diff(keys[rows]) <= _SAME)
        for start in range(0, len(close), _BLOCK):
            part = close[start : start + _BLOCK]
            apart = as_floats(X[rows[part]]) - as_floats(X[rows[part - 1]])
            is_new[part] = squared_norms(apart) > _SAME**2 * squares.mean()
        return cls(rows, squares[rows], is_new)

    def choose(self, count, weight):
        """About ``count`` row numbers, and the weight of all rows that each stands for.

        Rows of ``weight`` (one per row number) are parted in the order above, so that no part has
        much of the weight nor of the squared distances; the middle row speaks for its part. So
        rows far out, of which there are few, speak for themselves.
        """
        if len(self.rows) <= count:
            return np.arange(len(weight)), weight.astype(np.float64)
        weight = weight[self.rows].astype(np.float64)
        parts = np.floor(0.5 * count * (_passed(weight) + _passed(weight * self.squares)))
        first = np.flatnonzero(np.r_[True, np.diff(parts) > 0])
        middle = (first + np.r_[first[1:], len(parts)]) // 2
        return self.rows[middle], np.add.reduceat(weight, first)


def _passed(masses):
    """Share of the masses that lies before the middle of each: a large one has its own part."""
    passed = np.cumsum(masses)
    return (passed - 0.5 * masses) / max(passed[-1], 1e-300)


def _measure(X):
    """Squared distances of the rows from their middle, and their places along a direction."""
    direction = np.random.RandomState(0).standard_normal(X.shape[1])
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    far = np.sqrt(_squares_from(mean, X))
    unit = float(np.median(far)) or float(far.mean()) or 1.0
    # a step from the mean, which rows far out pull away, toward the geometric median
    weight = 1.0 / (far + 0.1 * unit)
    middle = np.zeros(X.shape[1])
    for part in _blocks(X):
        middle += weight[part] @ X[part]
    middle /= weight.sum()
    places = np.concatenate([X[part] @ direction for part in _blocks(X)])
    return _squares_from(middle, X), places - middle @ direction


def _squares_from(center, X):
    found = np.empty(X.shape[0])
    for part in _blocks(X):
        if issparse(X):
            rows = X[part].astype(np.float64)
            found[part] = squared_norms(rows) - 2.0 * (rows @ center) + center @ center
        else:
            found[part] = squared_norms(X[part] - center)
    return np.maximum(found, 0.0)


def _blocks(X):
    return [slice(start, start + _BLOCK) for start in range(0, X.shape[0], _BLOCK)]
