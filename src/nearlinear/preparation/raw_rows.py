"""Raw rows of every kind that a preparation takes."""

import numpy as np

from ..runtime.columns.read_rows import raw_columns


def raw_rows(preparation, prepared, seed=0):
    """Raw rows whose numbers, once prepared, are like those of ``prepared``.

    Categories are drawn from those that are known; some values are missing where that is allowed.
    Rows with text or dates are of type object.
    """
    rng = np.random.default_rng(seed)
    n_rows, p = len(prepared), preparation
    if p.matrix is not None:
        prepared = (prepared - p.offset) @ np.linalg.pinv(p.matrix).T
    rows = np.zeros((n_rows, p.n_inputs))
    rows[:, p.sources] = prepared * p.column("scale", 1.0) + p.column("shift", 0.0)
    for source, curve in zip(p.sources, p.curves or ()):
        if isinstance(curve, tuple) and curve[0] is not None:
            rows[:, source] = _around(curve[0], rng, n_rows)
    if p.before is not None:
        return raw_rows(p.before, rows, seed)
    read, rows = rows, rows[:, : p.n_features]
    if p.texts or p.dates:
        rows = rows.astype(object)
    for place, reading in enumerate(p.readings or (), p.n_features):
        is_number = reading.is_of_numbers
        rows[:, reading.column] = read[:, place] if is_number else _cells(reading, rng, n_rows)
    if p.missing is not None:
        takes = np.ones(p.n_features, dtype=bool)
        takes[raw_columns(p)[np.isnan(p.missing)]] = False
        rows[(rng.random(rows.shape) < 0.1) & takes] = np.nan
    return rows


def _around(knots, rng, n_rows):
    """Numbers between knots, at them, and a little beyond."""
    spread = 0.1 * (knots[-1] - knots[0])
    found = rng.uniform(knots[0] - spread, knots[-1] + spread, n_rows)
    return np.where(rng.random(n_rows) < 0.2, rng.choice(knots, n_rows), found)


def _cells(reading, rng, n_rows):
    if reading.is_of_dates:
        return np.datetime64("1970-01-01", "h") + rng.integers(1 << 19, size=n_rows).astype("m8[h]")
    values = list(reading.of) or ([""] if reading.is_of_text else [0.0])
    return [values[k] for k in rng.integers(len(values), size=n_rows)]
