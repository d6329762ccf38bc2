"""Whether rows look as they were before a preparation, or as they are after it."""

import numpy as np

_MARGIN = 3.0  # nats: rows that could be either are nobody's business


def evidence_of_raw_rows(preparation, X):
    """How much likelier rows are raw than prepared, in nats; 0 where that cannot be told.

    Raw columns lie around ``shift`` with a spread of ``scale``, prepared ones around 0 with one of
    1. Tails are those of Cauchy's law, so that a few outliers decide nothing.
    """
    X = None if hasattr(X, "toarray") else np.asarray(X)
    if preparation is None or not preparation.only_scales or X is None or X.dtype.kind not in "fiu":
        return 0.0
    if X.ndim != 2 or X.shape[1] != preparation.width or not np.all(np.isfinite(X)):
        return 0.0
    shift, scale = preparation.column("shift", 0.0), preparation.column("scale", 1.0)
    X = X.astype(np.float64)
    raw = np.log1p(((X - shift) / scale) ** 2) + np.log(scale)
    return float((np.log1p(X**2) - raw).mean(axis=0).sum())


def look_raw(preparation, X):
    return evidence_of_raw_rows(preparation, X) > _MARGIN


def look_prepared(preparation, X):
    return evidence_of_raw_rows(preparation, X) < -_MARGIN
