"""Columns of numbers in which a few cells are none: these are missing, and their owner is told."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .._warn import warn_user
from ..runtime.columns.readings import is_spelled
from .cells import are_codes, present
from .plan import TEXT, kind_of
from .table import table_of

_FEWEST, _SHARE = 10, 0.9  # of the cells that are there, which have to be numbers
_LONGEST = 40  # letters of a cell that is shown
TOLD = r"Column .* cells are numbers, "  # how such warnings begin


@dataclass(frozen=True)
class Strays:
    """Cells of a column of numbers that are none: how many, of how many, and the first of them."""

    n_strays: int
    n_cells: int
    cell: str

    def words(self, row=None):
        """What its owner is told; ``row`` has the first one, if that is known."""
        shown = repr(self.cell if len(self.cell) <= _LONGEST else f"{self.cell[: _LONGEST - 3]}...")
        place = f"{shown} is none" if row is None else f"row {row:d} has {shown}"
        return (
            f"{self.n_cells - self.n_strays:,} of {self.n_cells:,} cells are numbers, {place}; "
            "cells that are none count as missing: write numbers there, or declare the column a "
            "category if texts are meant"
        )


def strays_of(counts):
    """``Strays`` of texts with their numbers of rows, nearly all of which are numbers, or None."""
    strays = [text for text in counts if not is_spelled(text)]
    n_cells, n_strays = sum(counts.values()), sum(counts[text] for text in strays)
    is_likely = n_cells - n_strays >= max(_FEWEST, _SHARE * n_cells)
    if not strays or not is_likely or are_codes(np.array(list(counts), dtype=object)):
        return None
    return Strays(n_strays, n_cells, strays[0])


def strays_in(table, kinds):
    """``Strays`` of a whole table, by place, and the row of the first one of each."""
    for place, (cells, kind) in enumerate(zip(table.cells, kinds, strict=True)):
        if kind == TEXT and place not in table.declared and cells.dtype == object:
            found = strays_of(Counter(cells[present(cells)].tolist()))
            if found is not None:
                yield place, found, int(np.argmax(cells == found.cell))


def told_of_strays(X, first):
    """``(column, words)`` for each such column of a table whose first row has this number."""
    table = table_of(X)
    for place, found, row in strays_in(table, map(kind_of, table.cells)):
        yield place, found.words(first + row)


def warn_of_strays(name, strays, row=None):
    warn_user(f"{name[0].upper()}{name[1:]}: {strays.words(row)}.")
