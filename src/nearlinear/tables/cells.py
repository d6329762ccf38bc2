"""Cells of all kinds as numbers, texts or dates."""

import re
from datetime import date
from decimal import Decimal
from numbers import Real

import numpy as np

from ..runtime.columns.readings import is_missing, is_spelled, moment_of, number_of

DATE = "datetime64[us]"
_CODE = re.compile(r"\s*[+-]?0\d")  # as in postal codes
_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?\s*")


def column_of(cells, name):
    """An array of numbers, texts or dates: what all cells are, or their texts if they differ."""
    found = [cell for cell in cells if not is_missing(cell)]
    if all(isinstance(cell, Real | Decimal | np.bool_) for cell in found):
        return np.array(
            [np.nan if is_missing(c) else number_of(c) for c in cells], dtype=np.float64
        )
    if all(isinstance(cell, date | np.datetime64) for cell in found):
        return np.array([moment_of(row, cell) for row, cell in enumerate(cells)], dtype=DATE)
    return texts_of(cells, name)


def texts_of(cells, name):
    """An array of texts; whole numbers among them are written without a fraction."""
    column = np.empty(len(cells), dtype=object)
    column[:] = [np.nan if is_missing(cell) else _text(cell, name) for cell in cells]
    return column


def _text(cell, name):
    if type(cell) is str:
        return cell
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, str | bool | np.bool_ | Real | Decimal | date | np.datetime64):
        return str(cell)
    # as scikit-learn words it
    raise TypeError(
        f"In {name}, a cell is a {type(cell).__name__}: the argument must be a string or a number."
    )


def present(column):
    """Which cells are there."""
    if column.dtype.kind == "M":
        return ~np.isnat(column)
    return column == column  # NaN alone differs from itself


def read_numbers(texts):
    """Numbers of texts that are all numbers, or None."""
    return _read(texts, is_spelled, float, np.float64)


def are_codes(texts):
    """Whether any text begins with 0 as codes do, and no number."""
    return any(cell == cell and _CODE.match(cell) for cell in texts.tolist())


def read_dates(texts):
    """Dates of texts that are all dates such as 2024-02-29 or 2024-02-29T12:30, or None."""
    try:
        return _read(texts, _DATE.fullmatch, lambda text: moment_of(0, text), DATE)
    except ValueError:  # such as the 30th of February
        return None


def _read(texts, fits, read, dtype):
    cells = texts.tolist()
    if not all(cell != cell or fits(cell) for cell in cells):
        return None
    none = np.datetime64("NaT", "us") if dtype == DATE else np.nan
    return np.array([none if cell != cell else read(cell) for cell in cells], dtype=dtype)
