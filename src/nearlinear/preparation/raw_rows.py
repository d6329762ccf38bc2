"""Raw rows of every kind that a preparation takes."""

import numpy as np


def raw_rows(preparation, prepared, seed=0):
    """Raw rows whose numbers, once prepared, are like those of ``prepared``.

    Categories are drawn from those that are known; some values are missing where that is allowed.
    Rows with text are of type object.
    """
    rng = np.random.default_rng(seed)
    n_rows, p = len(prepared), preparation
    if p.matrix is not None:
        prepared = (prepared - p.offset) @ np.linalg.pinv(p.matrix).T
    rows = np.zeros((n_rows, p.n_inputs))
    rows[:, p.sources] = prepared * p.column("scale", 1.0) + p.column("shift", 0.0)
    if p.before is not None:
        return raw_rows(p.before, rows, seed)
    if p.texts:
        rows = rows.astype(object)
    for source, values in _categories(p).items():
        rows[:, source] = [values[k] for k in rng.integers(len(values), size=n_rows)]
    if p.missing is not None:
        takes = np.ones(p.n_features, dtype=bool)
        takes[p.sources[np.isnan(p.missing)]] = False
        rows[(rng.random(rows.shape) < 0.1) & takes] = np.nan
    return rows


def _categories(preparation):
    """Raw columns of categories, and what they may hold."""
    found = {}
    for source, category in zip(preparation.sources, preparation.categories or ()):
        if category is not None:
            found.setdefault(int(source), []).append(category)
    for source, values in preparation.known or ():
        found[source] = list(values) or [0.0]
    return found
