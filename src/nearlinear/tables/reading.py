"""Rows as the fit has read them: the same columns in the same order, each of its own kind."""

from dataclasses import replace

import numpy as np

from .._warn import warn_user
from ..runtime.columns.names import column_positions, warn_of_extra_columns
from ..runtime.columns.readings import spelled_number
from .cells import DATE, present, read_dates, read_numbers, texts_of
from .plan import DATE_KIND, NUMBER

_LARGEST = 1e300  # so that differences are finite


def aligned(table, names, n_columns, unused):
    """The columns of the fit in their order, by name if both have names.

    ``unused`` are columns that may be missing.
    """
    if table.names is None or names is None:
        if table.shape[1] != n_columns:
            raise ValueError(
                f"X has {table.shape[1]} features, but TableEncoder is expecting {n_columns} "
                "features as input."
            )
        if (table.names is None) != (names is None):
            has, had = ("has", "without") if names is None else ("does not have valid", "with")
            warn_user(
                f"X {has} feature names, but TableEncoder was fitted {had} feature names: columns "
                "are taken in their order."
            )
        return replace(table, names=names)
    empty = np.full(len(table), np.nan)
    positions = column_positions(names, table.names, unused)
    warn_of_extra_columns(names, table.names)
    cells = tuple(empty if position is None else table.cells[position] for position in positions)
    return replace(table, cells=cells, names=names)


def read_as(table, kinds, unused=(), loose=()):
    """Each column as its kind; a cell that is none is refused by column and row.

    Columns that are not used hold whatever they hold. In ``loose`` ones, a text that is no number
    is missing.
    """
    cells = [
        np.full(len(column), np.nan) if k in unused else
        _read(_loosely(column) if k in loose else column, kind, table.name(k))
        for k, (column, kind) in enumerate(zip(table.cells, kinds, strict=True))
    ]  # fmt: skip
    return replace(table, cells=tuple(cells))


def _loosely(column):
    if column.dtype != object:
        return column
    return np.array([spelled_number(cell) for cell in column.tolist()], dtype=np.float64)


def _read(column, kind, name):
    if kind == NUMBER:
        return _finite(_as_numbers(column, name), name)
    if kind == DATE_KIND:
        return _as_dates(column, name)
    return column if column.dtype == object else _as_levels(column, name)


def _as_numbers(column, name):
    if column.dtype.kind == "f":
        return column
    numbers = read_numbers(column) if column.dtype == object else None
    if numbers is not None:
        return numbers
    raise _refusal(column, read_numbers, name, "numbers", "a number")


def _refusal(column, read, name, held, wanted):
    """Of the first cell that cannot be read."""
    rows = np.flatnonzero(present(column)).tolist()
    if column.dtype == object:
        rows = (row for row in rows if read(column[row : row + 1]) is None)
    row = next(iter(rows))
    cell = repr(column[row : row + 1].tolist()[0])
    shown = cell if len(cell) <= 40 else f"{cell[:37]}..."
    return ValueError(
        f"Row {row} has {shown} in {name}, which held {held} in the fit: write {wanted}, or leave "
        "the cell empty."
    )


def _finite(numbers, name):
    is_large = np.abs(numbers) > _LARGEST
    if is_large.any():
        row = int(np.argmax(is_large))
        what = "an infinite number (inf)" if np.isinf(numbers[row]) else f"{numbers[row]:g}"
        raise ValueError(
            f"Row {row} has {what} in {name}: write a number within ±{_LARGEST:g}, or leave the "
            "cell empty."
        )
    return numbers


def _as_dates(column, name):
    if column.dtype.kind == "M":
        return column
    if not present(column).any():
        return np.full(len(column), np.datetime64("NaT", "us"), dtype=DATE)
    dates = read_dates(column) if column.dtype == object else None
    if dates is not None:
        return dates
    raise _refusal(column, read_dates, name, "dates", "a date such as 2024-02-29")


def _as_levels(column, name):
    cells = column.astype("datetime64[s]").astype(object) if column.dtype.kind == "M" else column
    return texts_of(cells.tolist(), name)
