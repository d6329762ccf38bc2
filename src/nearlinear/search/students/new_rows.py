"""New rows for a teacher to label: each lies between a row and one of its neighbors.

Columns of many numbers are interpolated (whole numbers stay whole); any other cell is that of one
of the two rows, so that no category, date or missing cell is made up.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

_NEIGHBORS = 5
_MOST_SEARCHED = 5_000  # rows among which neighbors are looked for
_FEW_VALUES = 10  # a column of no more numbers takes one of them


def can_be_mixed(X):
    """Arrays of numbers and pandas tables."""
    return hasattr(X, "iloc") or (isinstance(X, np.ndarray) and X.dtype.kind in "fiu")


def between(X, Z, parts, count, rng):
    """``count`` rows like those of X, and their parts. Z are the same rows as numbers.

    Both parents are of the same part.
    """
    first = rng.randint(Z.shape[0], size=count)
    second = np.empty(count, dtype=np.intp)
    for part in np.unique(parts[first]):
        own, asked = np.flatnonzero(parts == part), np.flatnonzero(parts[first] == part)
        if len(own) > _MOST_SEARCHED:
            own = rng.choice(own, _MOST_SEARCHED, replace=False)
        k = min(_NEIGHBORS + 1, len(own))
        near = NearestNeighbors(n_neighbors=k).fit(Z[own])
        near = own[near.kneighbors(Z[first[asked]], return_distance=False)]
        second[asked] = near[np.arange(len(asked)), rng.randint(k, size=len(asked))]
    share = rng.uniform(size=count)
    return _mixed(X, first, second, share, rng), parts[first]


def _mixed(X, first, second, share, rng):
    if not hasattr(X, "iloc"):
        columns = [_column(X[:, d], first, second, share, rng) for d in range(X.shape[1])]
        return np.column_stack(columns).astype(X.dtype)
    found = X.iloc[first].reset_index(drop=True)
    for d in range(X.shape[1]):
        column = X.iloc[:, d]
        numbers = _numbers(column)
        if numbers is None:
            places = np.where(rng.uniform(size=len(first)) < share, second, first)
            mixed = column.iloc[places].reset_index(drop=True)
        else:
            mixed = _column(numbers, first, second, share, rng)
            mixed = mixed.astype(column.dtype)
        found.isetitem(d, mixed)
    return found


def _numbers(column):
    """The numbers of a pandas column without missing cells, else None."""
    kind = getattr(column.dtype, "kind", "O")
    if kind not in "fiu" or column.isna().any():
        return None
    return column.to_numpy()


def _column(values, first, second, share, rng):
    a, b = values[first], values[second]
    if len(np.unique(values)) <= _FEW_VALUES or not np.isfinite(values).all():
        return np.where(rng.uniform(size=len(a)) < share, b, a)
    mixed = (1.0 - share) * a + share * b
    return np.round(mixed) if np.all(values == np.round(values)) else mixed
