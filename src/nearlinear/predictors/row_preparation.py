"""A preparation as one compiled pass over a raw row."""

import numpy as np

from . import row_passes


def preparing(preparation, dtype):
    """A function (raw row, prepared row) that fills the second, and tells whether it could."""
    shift = preparation.column("shift", 0.0).astype(dtype)
    factor = (1.0 / preparation.column("scale", 1.0)).astype(dtype)
    if preparation.only_scales:
        scale = row_passes.scale
        return lambda x, row: scale(x, shift, factor, row)
    columns = (
        np.ascontiguousarray(preparation.sources, dtype=np.int64),
        preparation.column("missing", np.nan).astype(dtype),
        _categories(preparation).astype(dtype),
        shift,
        factor,
        preparation.column("low", -np.inf).astype(dtype),
        preparation.column("high", np.inf).astype(dtype),
    )
    known, n_features = _known(preparation, dtype), preparation.n_features
    prepare = row_passes.prepare.dispatcher()
    return lambda x, row: prepare(x, n_features, columns, known, row)


def _categories(preparation):
    """One number for each column, NaN for columns of numbers."""
    found = preparation.categories or (None,) * preparation.width
    return np.array([np.nan if c is None else c for c in found])


def _known(preparation, dtype):
    """Raw columns, where their categories begin, and these."""
    pairs = preparation.known or ()
    starts = np.cumsum([0, *(len(values) for _, values in pairs)])
    values = [value for _, found in pairs for value in found]
    return np.array([s for s, _ in pairs], dtype=np.int64), starts, np.array(values, dtype=dtype)
