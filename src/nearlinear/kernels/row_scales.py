"""Typical sizes of the training rows: what kernels take as their default scales."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .._cached import cached_property
from .pairs import Pairs, squared_norms
from .row_order import RowOrder

# Rows among which typical sizes are taken.
_SAMPLE = 500


@dataclass(frozen=True, eq=False)
class Absolute:
    """A number, or several, in the unit of the features, where plain ones are relative to the rows.

    ``MLLKMClassifier(bandwidths=Absolute([0.01, 0.1]))`` has these γ whatever the rows are.

    Parameters
    ----------
    value : float or sequence of float
        Above 0.
    """

    value: Any

    def __post_init__(self) -> None:
        numbers = np.asarray(self.value)
        good = numbers.dtype.kind in "fiu" and numbers.size > 0
        if not good or not np.all((numbers > 0) & np.isfinite(numbers)):
            raise ValueError(f"Absolute needs numbers above 0, not {self.value!r}.")

    @property
    def number(self) -> float:
        if np.ndim(self.value) > 0:
            raise ValueError(f"One number is needed here, and this is {self!r}.")
        return float(self.value)


def absolute(value, from_relative):
    """The number of an ``Absolute``, or what ``from_relative`` makes of a plain one."""
    return value.number if isinstance(value, Absolute) else from_relative(value)


class RowScales:
    """Typical sizes of the training rows, from which kernels take theirs; computed once.

    Equal rows count once, and neither the order of the rows nor rounding matters. Up to 500 rows
    all pairs take part; of more rows about 500 do, which ``RowOrder`` chooses, each with the
    weight of all rows that it stands for. ``X`` are the distinct rows.
    """

    def __init__(self, X):
        self._given = X
        self._on = {}

    @classmethod
    def of(cls, X):
        """``X`` as scales, if it is not such already."""
        return X if isinstance(X, cls) else cls(X)

    def on(self, columns):
        """The same rows, seen on some columns only: rows that look equal there all count."""
        if columns not in self._on:
            n_columns = self.X.shape[1]
            for column in columns:
                if not -n_columns <= column < n_columns:
                    raise ValueError(f"OnColumns: no column {column} in X of {n_columns} columns.")
            seen = RowScales(None)
            seen.X = self.X[:, list(columns)]
            self._on[columns] = seen
        return self._on[columns]

    @cached_property
    def X(self):
        X = self._given
        if X.ndim == 3:  # similarities to the other rows
            return X
        order = RowOrder.of(X)
        if order.is_new.all():
            self._order = order
            return X
        return X[np.sort(order.rows[order.is_new])]

    @cached_property
    def _order(self):
        return RowOrder.of(self.X)

    @cached_property
    def chosen(self):
        """Numbers of the rows of ``X`` that stand for all, and the weight of each."""
        n_rows = self.X.shape[0]
        if n_rows <= _SAMPLE:
            return np.arange(n_rows), np.ones(n_rows)
        return self._order.choose(_SAMPLE, np.ones(n_rows))

    @cached_property
    def mean_squared_norm(self):
        return float(squared_norms(self.X).mean(dtype=np.float64)) or 1.0

    @cached_property
    def squared_distance(self):
        """Median squared distance of the rows; their mean where most rows are equal."""
        rows, weight = self.chosen
        sample = self.X[rows].astype(np.float64)
        if not issparse(sample):
            sample = sample - sample.mean(axis=0)  # far from the origin all rows seem equal
        one, other = np.triu_indices(len(rows), 1)
        if len(one) == 0:
            return 1.0
        distances = Pairs(sample).squared_distances[one, other]
        # equal rows are as far apart as rounding has them
        distances[distances < 1e-13 * float(squared_norms(sample).max())] = 0.0
        weight = weight[one] * weight[other]
        middle = _weighted_median(distances, weight)
        return middle or float(np.average(distances, weights=weight)) or 1.0


def _weighted_median(values, weights):
    if weights.min() == weights.max():
        return float(np.median(values))  # ten times faster
    order = np.argsort(values)
    passed = np.cumsum(weights[order])
    half = 0.5 * passed[-1]
    place = int(np.searchsorted(passed, half))
    after = place + (passed[place] == half)  # as many below as above: between the two
    return 0.5 * float(values[order[place]] + values[order[after]])
