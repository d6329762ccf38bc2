"""A preparation as one compiled pass over a raw row."""

from dataclasses import replace

import numpy as np

from ..runtime.columns.read_rows import RowReader, loose_numbers, of_read_rows, read_before
from ..runtime.columns.readings import UNKNOWN
from . import passes as row_passes
from . import raw_rows


def preparing(preparation, dtype, keeps_missing=False):
    """A function (raw row, prepared row) that fills the second, and tells whether it could.

    A model may take missing values that nothing was put in place of.
    """
    if read_before(preparation) or loose_numbers(preparation):
        return _read(preparation, dtype, keeps_missing)
    if preparation.before is not None:
        return _chained(preparation, dtype, keeps_missing)
    if preparation.matrix is None:
        return _columns(preparation, dtype, keeps_missing)
    first = _columns(replace(preparation, matrix=None, offset=None), dtype, False)
    mixing = np.column_stack([preparation.matrix, preparation.offset]).astype(dtype)
    n_columns, project = preparation.n_columns, row_passes.project.dispatcher()

    def mix(x, row):
        found = np.empty(n_columns, dtype)  # threads may prepare rows at the same time
        return first(x, found) and project(found, mixing, row)

    return mix


def _read(preparation, dtype, keeps_missing):
    reader = RowReader(preparation, dtype)
    prepare = preparing(of_read_rows(preparation), dtype, keeps_missing)

    def read(x, row):
        numbers = reader(x)
        return numbers is not None and prepare(numbers, row)

    return read


def _chained(preparation, dtype, keeps_missing):
    before, n_inputs = preparation.before, preparation.n_inputs
    first = preparing(before, dtype, True)
    second = preparing(replace(preparation, n_features=n_inputs, before=None), dtype, keeps_missing)

    def chain(x, row):
        found = np.empty(n_inputs, dtype)
        return first(x, found) and second(found, row)

    return chain


def _columns(preparation, dtype, keeps_missing):
    shift = preparation.column("shift", 0.0)
    factor = 1.0 / preparation.column("scale", 1.0)
    if preparation.only_scales and not keeps_missing:
        shift, factor, scale = shift.astype(dtype), factor.astype(dtype), row_passes.scale
        return lambda x, row: scale(x, shift, factor, row)
    columns = (
        preparation.column("missing", np.nan),
        preparation.column("equals", np.nan),
        shift,
        factor,
        preparation.column("low", -np.inf),
        preparation.column("high", np.inf),
    )
    if preparation.fold is not None:
        first, scale, lift, floor = preparation.fold.T
        columns += (first, 1.0 / scale, lift, floor)
    source, table = preparation.sources.astype(np.int64), np.column_stack(columns).astype(dtype)
    readings, keys = _readings(preparation.readings or (), dtype)
    curves, lines = _curves(preparation.curves or (), dtype)
    n_features, prepare = preparation.n_features, raw_rows.prepare.dispatcher()

    def prepared(x, row):
        return prepare(
            x, n_features, readings, keys, source, table, curves, lines, keeps_missing, row
        )

    return prepared


def _readings(readings, dtype):
    """Lines of a raw column, where its categories begin and end, and what an unknown one is."""
    found, keys = np.zeros((len(readings), 4), dtype=np.int64), [np.empty((0, 2))]
    n_keys = 0
    for line, reading in zip(found, readings):
        end = n_keys + len(reading.of)
        line[:] = reading.column, n_keys, end, UNKNOWN.index(reading.unknown)
        keys.append(np.column_stack(reading.ascending))
        n_keys = end
    return found, np.concatenate(keys).astype(dtype)


def _curves(curves, dtype):
    """Where the curve of each column begins and ends, and its kind; and knots and values of all."""
    found, lines = np.zeros((len(curves), 3), dtype=np.int64), [np.empty((0, 2))]
    n_lines = 0
    for line, curve in zip(found, curves):
        if isinstance(curve, str):
            line[2] = 3
        elif curve is not None:
            knots, values = curve
            line[:] = n_lines, n_lines + len(values), 2 if knots is None else 1
            lines.append(np.column_stack([values if knots is None else knots, values]))
            n_lines += len(values)
    return found, np.concatenate(lines).astype(dtype)
