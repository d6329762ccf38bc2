"""A preparation in C: from a raw row to the row that the model takes."""

from dataclasses import replace

import numpy as np

from ...runtime.columns.readings import Reading
from .curves import define_curves, define_places
from .literals import CSourceError, filled

_COMPARES, _FILLS = 1, 2  # bits of a column's kind
_LARGEST = float(np.finfo(np.float32).max)

_TEXT = """
/* The row that the model takes, of a raw one. Kinds: 1 compares with a number, 2 fills a gap. */
static void $(const float *x, float *row)
{
<READ>    for (size_t j = 0; j < <WIDTH>; j++) {
        const float raw = <RAW>;
        float value = raw;
        if (!(raw < 0.0f) && !(raw >= 0.0f)) {
            row[j] = <KINDS>[j] & 2 ? <MISSING>[j] : raw;
            continue;
        }
        if (<KINDS>[j] & 1)
            value = raw < <EQUALS>[j] || raw > <EQUALS>[j] ? 0.0f : 1.0f;
<BEND><FOLD>        value = (value - <SHIFT>[j]) * <FACTOR>[j];
        value = value < <LOW>[j] ? <LOW>[j] : value;
        row[j] = value > <HIGH>[j] ? <HIGH>[j] : value;
<LESSER>    }
}
"""
_FOLD = """        const float *fold = <FOLDS> + 4 * j;
        const float other = (value - fold[0]) * fold[1] + fold[2];
        const float most = other < fold[3] ? fold[3] : other;
"""
_LESSER = "        row[j] = row[j] > most ? most : row[j];\n"
_READ = """    float places[<COUNT>];
    <PLACES>(x, places);
"""


_MIX = """
/* Columns of a prepared row, mixed. */
static void $(const float *x, float *row)
{
    float found[<COLUMNS>];
    <PREPARE>(x, found);
    for (size_t j = 0; j < <WIDTH>; j++) {
        float sum = <OFFSET>[j];
        for (size_t d = 0; d < <COLUMNS>; d++)
            sum += <MATRIX>[j * <COLUMNS> + d] * found[d];
        row[j] = sum;
    }
}
"""


_CHAIN = """
/* One preparation after another. */
static void $(const float *x, float *row)
{
    float found[<INPUTS>];
    <FIRST>(x, found);
    <SECOND>(found, row);
}
"""


def define_preparation(program, preparation):
    """The symbol of a function (raw row, row) that prepares; ``program`` gets its tables."""
    if preparation.before is not None:
        inputs = preparation.n_inputs
        first = define_preparation(program, preparation.before)
        second = define_preparation(program, replace(preparation, n_features=inputs, before=None))
        return program.define("chain", filled(_CHAIN, inputs=inputs, first=first, second=second))
    missing, equals = preparation.column("missing", np.nan), preparation.column("equals", np.nan)
    kinds = _COMPARES * ~np.isnan(equals) + _FILLS * ~np.isnan(missing)
    source = "j"
    if preparation.source is not None:
        source = f"{program.indices('source', preparation.source)}[j]"
    raw, read, n_raw = f"x[{source}]", "", preparation.n_features
    if preparation.readings:
        count, places = len(preparation.readings), define_places(program, preparation.readings)
        read = filled(_READ, count=count, places=places)
        raw = f"{source} < {n_raw} ? x[{source}] : places[{source} - {n_raw}]"
    bend = ""
    if preparation.curves is not None:
        bend = f"        value = {define_curves(program, preparation.curves)}(j, value);\n"
    low, high = (
        np.clip(preparation.column(name, end), -_LARGEST, _LARGEST)
        for name, end in (("low", -np.inf), ("high", np.inf))
    )
    folded = {"fold": "", "lesser": ""}
    if preparation.fold is not None:
        shift, scale, lift, floor = preparation.fold.T
        lines = np.column_stack([shift, 1.0 / scale, lift, np.clip(floor, -_LARGEST, _LARGEST)])
        folds = program.vector("folds", lines.ravel())
        folded = {"fold": filled(_FOLD, folds=folds), "lesser": _LESSER}
    text = filled(
        _TEXT,
        **folded,
        read=read,
        raw=raw,
        bend=bend,
        kinds=program.indices("kinds", kinds),
        missing=program.vector("missing", np.nan_to_num(missing, nan=0.0)),
        equals=program.vector("equals", np.nan_to_num(equals, nan=0.0)),
        shift=program.vector("raw_shift", preparation.column("shift", 0.0)),
        factor=program.vector("raw_factor", 1.0 / preparation.column("scale", 1.0)),
        low=program.vector("low", low),
        high=program.vector("high", high),
        width=preparation.n_columns,
    )
    function = program.define("prepare", text)
    if preparation.matrix is None:
        return function
    text = filled(
        _MIX,
        prepare=function,
        matrix=program.vector("mixing", preparation.matrix.ravel()),
        offset=program.vector("mixed_offset", preparation.offset),
        columns=preparation.n_columns,
        width=preparation.width,
    )
    return program.define("mix", text)


def in_single(preparation):
    """The same with categories and knots as float32 has them."""
    if preparation is None:
        return None
    curves, readings = preparation.curves, preparation.readings
    return replace(
        preparation,
        before=in_single(preparation.before),
        curves=None if curves is None else tuple(map(_rounded_curve, curves)),
        readings=None if readings is None else tuple(map(_rounded, readings)),
    )


def _rounded_curve(curve):
    if not isinstance(curve, tuple) or curve[0] is None:
        return curve
    return curve[0].astype(np.float32).astype(np.float64), curve[1]


def _rounded(reading):
    rounded = tuple(float(np.float32(value)) for value in reading.of)
    if len(set(rounded)) < len(rounded):
        raise CSourceError(
            "Two categories are one number in float32, which C rows are made of: give the "
            "categories smaller numbers before fitting."
        )
    return Reading(reading.column, rounded, reading.unknown)
