"""The one cell that answers for a row: that of the nearest center, found in one step or in two."""

import itertools
from dataclasses import dataclass, fields

import numpy as np

from .._cached import cached_property
from .._compile import compiled
from .nearest import AnchorGeometry

_BLOCK = 4096  # rows that are put in the order of their groups: they stay in a core's cache
_ROWS = 64  # rows of one product; always as many, so that BLAS treats a row alike in any company


@dataclass(frozen=True)
class Cells:
    """Centers of cells, shape (n_cells, n_features).

    With ``groups`` (n_groups, n_features) a row looks for its nearest group first, and then among
    the cells of that group alone: those from ``firsts[g]`` to ``firsts[g + 1]``.
    """

    centers: np.ndarray
    groups: np.ndarray | None = None
    firsts: np.ndarray | None = None

    def __len__(self):
        return len(self.centers)

    @cached_property
    def _geometry(self):
        """Of the cells; in groups, those of a group have a mean of their own."""
        return _Places.of(self.centers, self.firsts)

    @cached_property
    def _group_geometry(self):
        return _Places.of(self.groups, None)

    def __call__(self, X):
        """The number of the cell of each row; of equally near ones the first."""
        cell = np.zeros(len(X), dtype=np.int32)
        if len(self.centers) == 1:
            return cell
        if self.groups is None:
            self._geometry.find(X, cell, cell)
            return cell
        for start in range(0, len(X), _BLOCK):
            rows, found = X[start : start + _BLOCK], cell[start : start + _BLOCK]
            group = found.copy()
            self._group_geometry.find(rows, found, group)
            self._geometry.find(rows, group, found)
        return cell

    def nearest(self, X, count):
        """Numbers of the ``count`` nearest cells of each row; there are no groups."""
        return AnchorGeometry(self.centers).nearest(X, min(count, len(self.centers)))[0]

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be worked out again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def multiply_adds(self):
        """A row's way to its cell, in the group with the most cells; none where there is one."""
        if len(self.centers) == 1:
            return 0
        if self.groups is None:
            return self.centers.size
        return (len(self.groups) + int(np.diff(self.firsts).max())) * self.centers.shape[1]

    @property
    def n_bytes(self):
        arrays = (self.centers, self.groups, self.firsts)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True)
class _Places:
    """Places as ``AnchorGeometry`` has them, group by group."""

    directions: np.ndarray
    offsets: np.ndarray
    firsts: np.ndarray

    @classmethod
    def of(cls, places, firsts):
        firsts = np.array([0, len(places)]) if firsts is None else firsts
        parts = [AnchorGeometry(places[a:b]) for a, b in itertools.pairwise(firsts)]
        return cls(
            np.concatenate([part.centered for part in parts]),
            np.concatenate([part.offsets for part in parts]),
            firsts.astype(np.int64),
        )

    def find(self, X, group, nearest):
        """Write the number of the place of its group that is nearest to each row."""
        _find(X, group, self.directions, self.offsets, self.firsts, nearest)


@compiled
def by_group(group, n_groups):
    """Rows in the order of their groups, and where each group's begin."""
    ends = np.zeros(n_groups + 1, dtype=np.int64)
    for i in range(len(group)):
        ends[group[i] + 1] += 1
    for g in range(n_groups):
        ends[g + 1] += ends[g]
    order, place = np.empty(len(group), dtype=np.int64), ends.copy()
    for i in range(len(group)):
        order[place[group[i]]] = i
        place[group[i]] += 1
    return order, ends


@compiled
def _find(X, group, directions, offsets, firsts, nearest):
    n_features, n_groups, most = X.shape[1], len(firsts) - 1, 0
    for g in range(n_groups):
        most = max(most, firsts[g + 1] - firsts[g])
    rows = np.empty((_ROWS, n_features), dtype=X.dtype)
    room = np.empty(most * _ROWS, dtype=X.dtype)
    least, place = np.empty(_ROWS, dtype=X.dtype), np.empty(_ROWS, dtype=np.int32)
    order, ends = by_group(group, n_groups)
    for g in range(n_groups):
        first, last = firsts[g], firsts[g + 1]
        products = room[: (last - first) * _ROWS].reshape((last - first, _ROWS))
        for start in range(ends[g], ends[g + 1], _ROWS):
            which = order[start : min(start + _ROWS, ends[g + 1])]
            if n_groups == 1 and len(which) == _ROWS:
                np.dot(directions, X[start : start + _ROWS].T, products)
            else:
                for i in range(len(which)):
                    rows[i] = X[which[i]]
                rows[len(which) :] = 0
                np.dot(directions[first:last], rows.T, products)
            for i in range(_ROWS):
                least[i] = offsets[first] - products[0, i]
                place[i] = first
            for j in range(1, last - first):
                offset, line = offsets[first + j], products[j]
                for i in range(_ROWS):
                    value = offset - line[i]
                    is_nearer = value < least[i]
                    least[i] = value if is_nearer else least[i]
                    place[i] = first + j if is_nearer else place[i]
            for i in range(len(which)):
                nearest[which[i]] = place[i]
