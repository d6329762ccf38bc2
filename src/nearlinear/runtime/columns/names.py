"""Columns of tables by name: in any order; extra ones are ignored, missing ones are errors."""

import numpy as np

from ..._warn import warn_user

_MAX_LISTED = 5


def column_names(X):
    """Names of the columns of a table; None unless all of them are strings."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    names = None if names is None else list(names)
    return names if names and all(isinstance(name, str) for name in names) else None


def column_positions(expected, given, optional=()):
    """For each expected name its position among the given ones; None for an absent optional one.

    Any other absent name is an error.
    """
    positions, known = {}, set(expected)
    for position, name in enumerate(given):
        if name in positions and name in known:
            raise ValueError(f"Two columns of X are called {name!r}: rename one of them.")
        positions[name] = position
    missing = [name for name in expected if name not in positions and name not in optional]
    if missing:
        extra = [name for name in given if name not in known]
        unseen = f" Feature names unseen at fit time: {_listed(extra)}." if extra else ""
        raise ValueError(
            "The feature names should match those that were passed during fit. Feature names seen "
            f"at fit time, yet now missing: {_listed(missing)}.{unseen}"
        )
    return [positions.get(name) for name in expected]


def warn_of_extra_columns(expected, given):
    """Warn of given names that are not among the expected ones."""
    known = set(expected)
    extra = [name for name in given if name not in known]
    if extra:
        warn_user(f"Columns of X that were not seen at fit time are ignored: {_listed(extra)}.")


def select_columns(X, expected, optional=()):
    """A table as an array with the expected columns; NaN in those that are optional and absent."""
    given = column_names(X)
    if given == expected:
        return np.asarray(X)
    positions = column_positions(expected, given, optional)
    present = [name for name, position in zip(expected, positions) if position is not None]
    cells = np.asarray(X.select(present) if hasattr(X, "select") else X[present])
    if len(present) == len(expected):
        return cells
    dtype = {"f": cells.dtype, "i": np.float64, "u": np.float64}.get(cells.dtype.kind, object)
    rows = np.full((len(cells), len(expected)), np.nan, dtype=dtype)
    rows[:, [position is not None for position in positions]] = cells
    return rows


def _listed(names):
    shown = ", ".join(map(repr, names[:_MAX_LISTED]))
    more = len(names) - _MAX_LISTED
    return f"{shown} and {more} more" if more > 0 else shown
