"""A preparation as one compiled pass over a raw row."""

from dataclasses import replace

import numpy as np

from . import passes as row_passes


def preparing(preparation, dtype, keeps_missing=False):
    """A function (raw row, prepared row) that fills the second, and tells whether it could.

    A model may take missing values that nothing was put in place of.
    """
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
    categories = preparation.categories or (None,) * preparation.n_columns
    columns = (
        preparation.column("missing", np.nan),
        np.array([np.nan if c is None else c for c in categories]),
        shift,
        factor,
        preparation.column("low", -np.inf),
        preparation.column("high", np.inf),
    )
    if preparation.fold is not None:
        first, scale, lift, floor = preparation.fold.T
        columns += (first, 1.0 / scale, lift, floor)
    source, table = preparation.sources.astype(np.int64), np.column_stack(columns).astype(dtype)
    known, values = _known(preparation, dtype)
    n_features, prepare = preparation.n_features, row_passes.prepare.dispatcher()
    return lambda x, row: prepare(x, n_features, source, table, known, values, keeps_missing, row)


def _known(preparation, dtype):
    """A raw column, and where its categories begin and end, line by line; and the categories."""
    pairs = preparation.known or ()
    ends = np.cumsum([len(values) for _, values in pairs], dtype=np.int64)
    starts = np.concatenate([[0], ends]).astype(np.int64)[: len(ends)]
    lines = np.column_stack([np.array([s for s, _ in pairs], dtype=np.int64), starts, ends])
    return lines, np.array([value for _, found in pairs for value in found], dtype=dtype)
