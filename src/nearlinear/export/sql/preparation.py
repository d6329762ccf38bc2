"""A preparation in SQL: from the columns of a table to those of a model, each computed once."""

import numpy as np

from .curves import on_curve
from .literals import is_utf8, number, text

_NAN = "CAST('nan' AS DOUBLE)"
_NUMBER = r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"


def prepared(query, preparation, names, takes_missing):
    """Names of the columns that a model takes, of a table whose columns have these names, quoted.

    Rows with what the model refuses fail some check of the query.
    """
    if preparation is None:
        found = tuple(raw_number(query, name) for name in names)
    else:
        found = _columns(query, preparation, names)
    for x in found if not takes_missing else ():
        query.require(f"{x} IS NOT NULL")
    return found


def raw_number(query, name):
    """A column as DOUBLE; NaN is missing, infinity refused."""
    x = query.raw(f"nullif(CAST({name} AS DOUBLE), {_NAN})")
    query.require(f"coalesce(isfinite({x}), TRUE)")
    return x


def _columns(query, p, names):
    if p.before is not None:
        inputs = _Given(_columns(query, p.before, names))
    else:
        inputs = _Raw(query, names, p.readings or ())
        for one in p.readings or ():
            if one.unknown == "refused":
                query.require(f"coalesce({inputs.reading(one)} <> -1, TRUE)")
    found = tuple(_column(query, p, j, inputs[int(s)]) for j, s in enumerate(p.sources))
    if p.matrix is None:
        return found
    for x in found:
        query.require(f"{x} IS NOT NULL")
    return tuple(query.let(one) for one in query.products(found, p.matrix, p.offset))


class _Given:
    """Columns of the table before."""

    def __init__(self, columns):
        self._columns = columns

    def __getitem__(self, place):
        return self._columns[place]


class _Raw:
    """Columns of raw rows, and after them what is read."""

    def __init__(self, query, names, readings):
        self._query, self._names, self._readings = query, names, readings

    def __getitem__(self, place):
        if place < len(self._names):
            return raw_number(self._query, self._names[place])
        return self.reading(self._readings[place - len(self._names)])

    def reading(self, one):
        """The place of a category; NULL where it is missing."""
        name = self._names[one.column]
        if one.is_of_numbers:
            return raw_number(self._query, _spelled(name))
        other = "NULL" if one.unknown == "missing" else "(-1e0)"
        if one.is_of_text:
            x = self._query.raw(_cell_text(name, one.of))
            places = {c: k for k, c in enumerate(one.of) if is_utf8(c)}
            literal = text
        else:
            x = raw_number(self._query, name)
            places, literal = {float(c): k for k, c in reversed([*enumerate(one.of)])}, number
        found = _place(x, sorted(places.items()), literal, other)
        return self._query.let(f"CASE WHEN {x} IS NOT NULL THEN {found} END")


def _spelled(name):
    """A column of numbers, NULL where it holds a text that is none."""
    is_number = rf"regexp_full_match(CAST({name} AS VARCHAR), '{_NUMBER}')"
    return f"CASE WHEN typeof({name}) <> 'VARCHAR' OR {is_number} THEN {name} END"


def _cell_text(name, categories):
    """Truth values are those of Python's texts; the empty text is missing, unless it is known."""
    found = f"CAST({name} AS VARCHAR)"
    if {"True", "False"} & set(categories):
        spelled = f"CASE WHEN lower({found}) = 'true' THEN 'True' ELSE 'False' END"
        found = f"CASE WHEN typeof({name}) = 'BOOLEAN' AND {name} IS NOT NULL THEN {spelled} "
        found += f"ELSE CAST({name} AS VARCHAR) END"
    return found if "" in categories else f"nullif({found}, '')"


def _place(x, places, literal, other):
    """Halves of halves of the ordered categories; DuckDB's order of texts is that of Python."""
    if len(places) <= 4:
        whens = [f"WHEN {x} = {literal(c)} THEN {number(k)}" for c, k in places]
        return f"CASE {' '.join(whens)} ELSE {other} END" if whens else other
    half = len(places) // 2
    low, high = (_place(x, some, literal, other) for some in (places[:half], places[half:]))
    return f"CASE WHEN {x} < {literal(places[half][0])} THEN {low} ELSE {high} END"


def _column(query, p, j, raw):
    """clip((v − shift) / scale, low, high), or a fold if that is less; what stands for NULL."""
    value = raw
    equals = p.column("equals", np.nan)[j]
    if not np.isnan(equals):
        value = f"CASE WHEN {raw} = {number(equals)} THEN 1e0 ELSE 0e0 END"
    curve = None if p.curves is None else p.curves[j]
    if curve is not None:
        value = on_curve(query, curve, raw)
    if p.fold is not None and p.fold[j][3] < np.inf:
        value = query.let(value)  # which two lines read
    found = _line(value, p.column("shift", 0.0)[j], p.column("scale", 1.0)[j])
    low, high = p.column("low", -np.inf)[j], p.column("high", np.inf)[j]
    if low == high:
        found = number(low)
    elif np.isfinite(low) or np.isfinite(high):
        found = f"greatest({found}, {number(low)})" if np.isfinite(low) else found
        found = f"least({found}, {number(high)})" if np.isfinite(high) else found
    if p.fold is not None and p.fold[j][3] < np.inf:
        shift, scale, lift, floor = p.fold[j]
        other = f"{_line(value, shift, scale)} + {number(lift)}"
        other = f"greatest({other}, {number(floor)})" if np.isfinite(floor) else other
        found = f"least({found}, {other})"
    if found == raw and np.isnan(p.column("missing", np.nan)[j]):
        return raw
    missing = p.column("missing", np.nan)[j]
    rest = "" if np.isnan(missing) else f" ELSE {number(missing)}"
    return query.let(f"CASE WHEN {raw} IS NOT NULL THEN {found}{rest} END")


def _line(value, shift, scale):
    found = value if shift == 0.0 else f"({value} - {number(shift)})"
    return found if scale == 1.0 else f"({found} / {number(scale)})"
