"""Cells as numbers: the first that is none is named, and what to do about it."""

import re
import shlex
import warnings
from contextlib import suppress

import numpy as np

from ..._csv import name_of
from ..._warn import warn_user
from .._errors import CommandError

_DECIMAL = "if the comma is a decimal sign, give --decimal ','"


def numbers(frame, names, source, first, *, can_drop=False, takes_missing=False):
    """A frame's columns as one array of numbers, or an error that names the first bad cell.

    ``can_drop``: the command has the option that leaves columns out. ``takes_missing``: an empty
    cell is as good as any other.
    """
    if not hasattr(frame, "columns"):
        if isinstance(frame, np.ndarray) and not takes_missing:
            _check_finite(frame, source, first)
        return frame
    values, bad = np.empty(frame.shape), {}
    for k, name in enumerate(names):
        column = frame.iloc[:, k]
        try:
            if column.dtype.kind in "mM":  # numpy would make numbers of dates
                raise TypeError
            values[:, k] = column.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError):
            cell, row = _first_bad(column)
            values[:, k], bad[name] = 0.0, (row, f"{cell!r} is no number", _coding(cell))
            continue
        is_hole = np.isinf if takes_missing else lambda cells: ~np.isfinite(cells)
        holes = np.flatnonzero(is_hole(values[:, k]))
        if len(holes):
            reason = f"the value is {'' if takes_missing else 'missing or '}infinite"
            bad[name] = int(holes[0]), reason, "fill it in or remove the row"
    if bad:
        name = min(bad, key=lambda name: bad[name][0])
        row, reason, advice = bad[name]
        way_out = _leaving_out(bad) if can_drop and advice != _DECIMAL else ""
        raise CommandError(
            f"{name_of(source)}, row {first + row}, column {name!r}: {reason}; {advice}{way_out}"
        )
    return values


def raw_cells(frame, names, source, first, kept, **options):
    """The same, but that the columns ``kept`` (their places) stay what they are."""
    if not hasattr(frame, "columns") or not kept:
        return numbers(frame, names, source, first, **options)
    others = [k for k in range(frame.shape[1]) if k not in set(kept)]
    cells = np.empty(frame.shape, dtype=object)
    cells[:, others] = numbers(
        frame.iloc[:, others], [names[k] for k in others], source, first, **options
    )
    for k in kept:
        column = frame.iloc[:, k]
        cells[:, k] = column.astype(object).where(column.notna(), np.nan)
    return cells


def _check_finite(values, source, first):
    """Of an array without names."""
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise CommandError(
            f"{source}, row {first + row}, column {column}: the value is missing or infinite; "
            "fill it in or remove the row"
        )


def check_texts(frame, names, source, first):
    """Look at columns that would pass for text and are rather numbers.

    Those with decimal commas are refused; those with a few other cells are told of, by the rows of
    the file, which the library would not know in parts of it.
    """
    if names is None:
        return
    texts = [k for k, kind in enumerate(frame.dtypes) if kind.kind not in "fiubmM"]
    for k in texts:
        column = frame.iloc[:, k]
        cells = column.dropna().astype(str)
        if len(cells) and cells.map(_has_decimal_comma).all():
            row = first + int(np.argmax(column.notna().to_numpy()))
            raise CommandError(
                f"{name_of(source)}, row {row}, column {names[k]!r}: {cells.iloc[0]!r} is no "
                f"number; {_DECIMAL}"
            )
    if texts:
        _tell_strays(frame.iloc[:, texts], [names[k] for k in texts], source, first)


def _tell_strays(frame, names, source, first):
    from ...tables.strays import TOLD, told_of_strays

    with suppress(TypeError):  # of cells that are no texts either: the encoder will say so
        for k, words in told_of_strays(frame, first):
            warn_user(f"{name_of(source)}, column {names[k]!r}: {words}")
    warnings.filterwarnings("ignore", TOLD, UserWarning)


def refused(error, source, first=1, where=None):
    """An error of the library about rows, as a sentence about those of a file.

    ``where`` stands before what is about no single row.
    """
    text = str(error).splitlines()[0].removesuffix(".")
    if isinstance(error.__cause__, UnicodeError):
        text += "; give its encoding, such as --encoding latin-1"
    if text.startswith(str(name_of(source))):
        return CommandError(text)
    found = re.search(r"\brow (\d+) has ", text, re.I)  # it is counted from 0
    if found is None:
        return CommandError(f"{where or name_of(source)}: {text}")
    row = first + int(found[1])
    return CommandError(f"{name_of(source)}, row {row}: it has {text[found.end() :]}")


def _has_decimal_comma(cell):
    return re.fullmatch(r"[+-]?\d+,\d+", cell.strip()) is not None


def _coding(cell):
    if _has_decimal_comma(cell):
        return _DECIMAL
    return "code it as one"


def _leaving_out(columns):
    """The option that leaves all bad columns out at once."""
    shown = [name for name in columns if "," not in name]
    words = ["--drop", ",".join(shown)] if shown else []
    for name in columns:
        if "," in name:
            words += ["--drop", name]
    what = "the column" if len(columns) == 1 else f"all {len(columns)} such columns"
    return f", or leave {what} out with {shlex.join(words)}"


def _first_bad(column):
    for row, cell in enumerate(column):
        try:
            float(cell)
        except (TypeError, ValueError):
            return cell if isinstance(cell, str) else str(cell), row
    return str(column.iloc[0]), 0
