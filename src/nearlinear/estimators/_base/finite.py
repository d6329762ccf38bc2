"""Numbers that compiled passes can hold: rows before a fit, and the model after it."""

from dataclasses import fields, is_dataclass

import numpy as np
from scipy.sparse import issparse

_ROOM = 1e3  # for sums of squares over features, and differences of rows


def require_sound(X):
    """Refuse a CSR matrix that points outside itself."""
    if not issparse(X) or X.format != "csr":
        return
    starts, columns, size = X.indptr, X.indices, min(len(X.data), len(X.indices))
    good = len(starts) == X.shape[0] + 1 and starts[0] == 0 and starts[-1] <= size
    # neighbors are compared, since their differences may wrap
    good = good and bool(np.all(starts[1:] >= starts[:-1]))
    good = good and (size == 0 or (columns.min() >= 0 and columns.max() < X.shape[1]))
    if not good:
        raise ValueError(
            "X is a CSR matrix whose indptr or indices point outside of it: build the matrix anew."
        )


def require_moderate(X):
    """Refuse features whose squares overflow, and rows whose squares all vanish."""
    values = X.data if issparse(X) else X
    if values.size == 0:
        return
    largest = max(float(values.max()), -float(values.min()))
    limits = np.finfo(values.dtype)
    most = float(limits.max) ** 0.5 / (_ROOM * X.shape[1] ** 0.5)
    least = float(limits.tiny) ** 0.5 * _ROOM
    if largest > most:
        raise ValueError(
            f"X has numbers as large as {largest:.1g}, whose squares are too large for "
            f"{values.dtype}: scale the features, with StandardScaler for instance."
        )
    if 0.0 < largest < least:
        raise ValueError(
            f"X has no number larger than {largest:.1g}, and their squares are too small for "
            f"{values.dtype}: scale the features, with StandardScaler for instance."
        )


def require_finite_model(estimator):
    """Refuse a model that has diverged; the one before it stays."""
    if all(np.isfinite(array).all() for array in _arrays(estimator.predictor_)):
        return
    steps = [name for name in ("learning_rate", "jitter", "C") if hasattr(estimator, name)]
    raise ValueError(
        f"The fit of {type(estimator).__name__} has diverged: lower {' or '.join(steps)}, or scale "
        "the features."
    )


def _arrays(part):
    """Every array of floats in a predictor. Sparse rows stay sparse: dense, they may be huge."""
    if issparse(part):
        yield part.data
    elif isinstance(part, np.ndarray) and part.dtype.kind == "f":
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _arrays(item)
    elif is_dataclass(part):
        for field in fields(part):
            if field.name != "upper":  # of a box, which has none under the squared hinge
                yield from _arrays(getattr(part, field.name))
