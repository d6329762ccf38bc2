"""Cells that are no numbers by themselves, read as numbers: categories, dates, numbers with slips.

A category becomes its place among those that are known, a date the part of it that is asked for.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np

from ..._cached import cached_property

NOT_KNOWN = -1.0  # the place of a category that the fit has not seen
UNKNOWN = ("other", "refused", "missing")  # what such a category is
UNITS = ("days", "year", "month", "day", "weekday", "hour")
NUMBER = "number"  # what cells spell; those that spell none are missing
_SPELLED = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
_DOUBLE = np.dtype(np.float64)
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Reading:
    """How the cells of a raw column are read.

    ``of`` has the categories of the column, all of them texts or all numbers, or names one of the
    ``UNITS`` of dates, or is ``NUMBER``. Without categories, texts are known to be there, and no
    more. ``unknown`` says what any other category is: another one (its place is −1), refused, or
    missing.
    """

    column: int
    of: tuple | str
    unknown: str = "other"

    @property
    def is_of_dates(self):
        return self.of in UNITS

    @property
    def is_of_numbers(self):
        return self.of == NUMBER

    @property
    def is_of_categories(self):
        return not isinstance(self.of, str)

    @property
    def is_of_text(self):
        return self.is_of_categories and (not self.of or isinstance(self.of[0], str))

    def __call__(self, cells, dtype=_DOUBLE):
        """A number for each cell, NaN where it is missing."""
        if self.is_of_dates:
            return _dates(cells, self.of).astype(dtype)
        if self.is_of_numbers and cells.dtype.kind in "fiub":
            return cells.astype(dtype)
        if self.is_of_numbers or self.is_of_text or cells.dtype.kind not in "fiub":
            return np.array([self.place(cell, dtype) for cell in cells.tolist()], dtype=dtype)
        keys, places = self.ascending
        keys, cells = keys.astype(dtype), cells.astype(dtype)
        near = np.minimum(np.searchsorted(keys, cells), len(keys) - 1)
        found = np.where(keys[near] == cells, places[near], self._not_known)
        return np.where(np.isnan(cells), np.nan, found).astype(dtype)

    def place(self, cell, dtype=_DOUBLE):
        """The number of one cell."""
        if self.is_of_dates:
            return float(_dates(np.array([cell], dtype=object), self.of)[0])
        if self.is_of_numbers:
            return spelled_number(cell)
        places = self._places if dtype == np.float64 else self._single_places
        if isinstance(cell, bool | np.bool_) and self.is_of_text:
            cell = str(cell)
        if isinstance(cell, str) and not self.is_of_text:
            cell = number_of(cell)
        if is_missing(cell) and cell not in places:
            return np.nan
        return places.get(cell, self._not_known)

    @property
    def _not_known(self):
        return np.nan if self.unknown == "missing" else NOT_KNOWN

    @cached_property
    def _places(self):
        return {category: float(place) for place, category in enumerate(self.of)}

    @cached_property
    def _single_places(self):
        """The same, for numbers in single precision."""
        if self.is_of_text:
            return self._places
        return {float(np.float32(c)): place for c, place in reversed(self._places.items())}

    @cached_property
    def ascending(self):
        """Categories that are numbers, in order, and their places."""
        keys = np.array(self.of, dtype=np.float64)
        order = np.argsort(keys, kind="stable")
        return keys[order], order.astype(np.float64)


def is_category(value):
    """Whether a category has a place here: a text, or a finite number."""
    is_number = isinstance(value, int | float) and -1e300 <= value <= 1e300
    return isinstance(value, str) or is_number


def is_missing(cell):
    """None, NaN and their kin of dates and of pandas, and the empty text."""
    if cell is None or (isinstance(cell, str) and not cell):
        return True
    if isinstance(cell, str):
        return False
    return type(cell).__name__ == "NAType" or bool(cell != cell)


def plain_numbers(cells, dtype):
    """Cells as numbers, NaN where they are missing; an error has the place of one that is none."""
    try:
        return cells.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        found = np.empty(cells.shape, dtype=dtype)
    for place, cell in np.ndenumerate(cells):
        found[place] = np.nan if is_missing(cell) else number_of(cell)
        if np.isnan(found[place]) and not is_missing(cell) and str(cell).lower() != "nan":
            raise Unreadable(place[0], cell, "a number", place[1])
    return found


class Unreadable(ValueError):
    """A cell that is not what it should be: its row, what it holds, what is wanted, its place."""


def number_of(cell):
    """The number that a cell spells, or NaN."""
    if isinstance(cell, str) and cell in ("True", "False"):
        return float(cell == "True")
    try:
        return float(cell)
    except OverflowError:  # a whole number beyond all others
        return np.inf if cell > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan


def is_spelled(text):
    """Whether a text is a number, and no word of Python for one."""
    return _SPELLED.fullmatch(text) is not None


def spelled_number(cell):
    """The number that a cell is or spells; NaN where it is missing, or a text that spells none."""
    if is_missing(cell) or (isinstance(cell, str) and not is_spelled(cell)):
        return np.nan
    return number_of(cell)


def require_values(y):
    """Refuse texts that are no numbers, dates and durations where values are learned."""
    if getattr(getattr(y, "dtype", None), "kind", "O") in "fiub":
        return
    cells = np.asarray(y)
    if cells.dtype.kind in "mM":  # whose own unit may have no words in Python
        cells = cells.astype(f"{cells.dtype.kind}8[us]")
    for row, cell in enumerate(cells.astype(object).ravel().tolist()):
        if is_missing(cell):
            continue
        if isinstance(cell, str) and np.isnan(number_of(cell)):
            raise ValueError(
                f"y has {cell[:40]!r} in row {row}, and a regressor learns numbers: take the "
                "classifier of the same name for labels, or write numbers."
            )
        if isinstance(cell, date | timedelta):
            word = "date" if isinstance(cell, date) else "duration"
            raise ValueError(
                f"y has the {word} {cell} in row {row}, and a regressor learns numbers: give "
                "numbers of a unit that you choose, such as days."
            )


# --- dates --------------------------------------------------------------------------------------


def _dates(cells, unit):
    """A part of dates; NaN where one is missing."""
    if cells.dtype.kind != "M":
        found = [moment_of(row, cell) for row, cell in enumerate(cells.tolist())]
        cells = np.array(found, dtype="datetime64[us]")
    moments = cells.astype("datetime64[us]")
    gone = np.isnat(moments)
    moments = np.where(gone, np.datetime64(0, "us"), moments)
    return np.where(gone, np.nan, _PARTS[unit](moments))


def _count(moments, unit):
    return moments.astype(f"datetime64[{unit}]").astype(np.int64)


_PARTS = {
    "days": lambda moments: _count(moments, "us") / _DAY,
    "year": lambda moments: 1970 + _count(moments, "Y"),
    "month": lambda moments: 1 + _count(moments, "M") % 12,
    "day": lambda moments: (
        1 + _count(moments, "D") - _count(moments.astype("datetime64[M]"), "D")
    ),
    "weekday": lambda moments: (_count(moments, "D") + 3) % 7,  # 1970 began on a Thursday
    "hour": lambda moments: _count(moments, "h") % 24,
}  # fmt: skip


def moment_of(row, cell):
    """A date as NumPy has it, in UTC where it has a time zone."""
    if is_missing(cell):
        return np.datetime64("NaT", "us")
    try:
        if isinstance(cell, str):
            cell = datetime.fromisoformat(cell.strip())
        if isinstance(cell, datetime) and cell.tzinfo is not None:
            cell = cell.astimezone(UTC).replace(tzinfo=None)
        if isinstance(cell, date | np.datetime64):
            return np.datetime64(cell, "us")
    except (ValueError, OverflowError):
        pass
    raise Unreadable(row, cell, "a date, such as 2024-05-31 or 2024-05-31T16:00")
