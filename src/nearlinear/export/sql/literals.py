"""Numbers, texts and names as DuckDB reads them: nothing of a model gets out of its quotes."""

import math

import numpy as np


class SqlExportError(ValueError):
    """The model has no SQL text; the message says why."""


def number(value):
    """A DOUBLE with all its digits; without an exponent DuckDB would take it for a DECIMAL."""
    value = float(value)
    if not math.isfinite(value):
        return f"CAST('{value}' AS DOUBLE)"
    digits = repr(value)
    digits = digits if "e" in digits else f"{digits}e0"
    return f"({digits})" if digits.startswith("-") else digits


def number_list(values):
    """A list as one text that is read once: of a constant for each number, plans take gigabytes."""
    values = np.asarray(values)
    kind = "INTEGER" if values.dtype.kind in "iu" else "DOUBLE"
    return f"CAST('{_nested(values.tolist())}' AS {kind}{'[]' * values.ndim})"


def _nested(values):
    if not isinstance(values, list):
        return repr(values)
    return f"[{', '.join(map(_nested, values))}]"


def text(value):
    """Quotes are doubled; a zero, which ends a statement, is made by a function."""
    return " || chr(0) || ".join(_quoted(part, "'") for part in _known(value).split("\0"))


def identifier(name):
    if "\0" in name or not name:
        raise SqlExportError(f"The name {name[:40]!r} is none that a table of DuckDB may have.")
    return _quoted(_known(name), '"')


def is_utf8(value):
    """Whether a database may hold a text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _known(value):
    if not is_utf8(value):
        raise SqlExportError(f"{value[:40]!r} is no text of UTF-8, which DuckDB's are.")
    return value


def _quoted(value, quote):
    return quote + value.replace(quote, 2 * quote) + quote


def label(value):
    """A class as a value of DuckDB: BOOLEAN, BIGINT, DOUBLE or VARCHAR."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return f"CAST({value} AS BIGINT)" if isinstance(value, int) else number(value)
