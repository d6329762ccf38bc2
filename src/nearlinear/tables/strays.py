"""Columns of numbers in which a few cells are none: they pass for text, and their owner is told."""

from collections import Counter

import numpy as np

from .._warn import warn_user
from .cells import are_codes, is_number
from .plan import TEXT, Seen, kind_of
from .table import table_of

_FEWEST, _SHARE = 10, 0.9  # of the cells that are there, which have to be numbers
_LONGEST = 40  # letters of a cell that is shown
TOLD = r"Column .* cells are numbers, "  # how such warnings begin


def warn_of_strays(table, columns, *, has_rows):
    """A warning for each such column that was ``Seen``; ``has_rows``: all rows, in their order."""
    for place, seen in enumerate(columns):
        if place not in table.declared:
            told = _told(seen, 0 if has_rows else None)
            if told is not None:
                name = table.name(place)
                warn_user(f"{name[0].upper()}{name[1:]}: {told}.")


def strays_in(X, first):
    """``(column, words)`` for each such column of a table whose first row has this number."""
    table = table_of(X)
    for place, cells in enumerate(table.cells):
        if place not in table.declared and cells.dtype == object:
            told = _told(Seen.whole(cells, kind_of(cells), False), first)
            if told is not None:
                yield place, told


def _told(seen, first):
    """Words about a column of texts nearly all of which are numbers, or None."""
    if seen.kind != TEXT:
        return None
    counts = Counter(seen.values.tolist()) if seen.is_open else seen.counts
    strays = [text for text in counts if not is_number(text)]
    n_cells = sum(counts.values())
    n_numbers = n_cells - sum(counts[text] for text in strays)
    is_likely = n_numbers >= max(_FEWEST, _SHARE * n_cells)
    if not strays or not is_likely or are_codes(np.array(list(counts), dtype=object)):
        return None
    cell = strays[0]
    shown = repr(cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 3]}...")
    stray = f"{shown} is none" if first is None else (
        f"row {first + int(np.argmax(seen.cells == cell)):d} has {shown}"
    )  # fmt: skip
    return (
        f"{n_numbers:,} of {n_cells:,} cells are numbers, {stray}; it is treated as text: write "
        "a number there, or leave the cell empty, if that is a slip"
    )
