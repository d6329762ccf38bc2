"""Constraints of parameters, checks of rows and limits on memory."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import metaestimators

from ..._config import allowed_memory, config_context, get_config
from ..._sklearn import Interval, StrOptions
from ..._warn import warn_user
from ...gpu.device import is_name
from ...kernels.row_scales import Absolute

# Limits of the total weight of all rows; the upper one also limits C. The square of their product
# is finite, and in float32 each of 10^8 equal weights is a normal number.
LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e70
MAX_COUNT = 2**31 - 1  # compiled code and scikit-learn have counts in 32-bit integers
_ROOM = 1e3  # for sums of squares over features, and differences of rows
# Rows that tell variances, and the share of one column that is worth a word.
_SOME_ROWS, _MOST_OF_VARIANCE = 4096, 0.99


Method = TypeVar("Method", bound=Callable[..., Any])


def available_if(check: Callable[..., Any]) -> Callable[[Method], Method]:
    """``sklearn.utils.metaestimators.available_if``, typed, so that signatures are preserved."""
    return metaestimators.available_if(check)


def positive():
    """A number above zero."""
    return Interval(Real, 0, None, closed="neither")


def at_least(lowest, kind=Integral):
    """A number not below ``lowest``; an integer is at most ``MAX_COUNT``."""
    if kind is Integral:
        return integer_between(lowest, MAX_COUNT)
    return Interval(kind, lowest, None, closed="left")


def integer_between(lowest, highest):
    """An integer in [lowest, highest]."""
    return Interval(Integral, lowest, highest, closed="both")


def cost():
    """A number above zero whose square is finite, also after sums over rows."""
    return Interval(Real, 0, MOST_WEIGHT, closed="right")


def fraction():
    """A number in [0, 1)."""
    return Interval(Real, 0, 1, closed="left")


def one_of(*names):
    return StrOptions(set(names))


class DeviceName(StrOptions):
    """A name that ``torch_for`` takes; it is checked also where a fit uses no device."""

    def __init__(self):
        super().__init__({"cpu", "cuda"})

    def is_satisfied_by(self, val):
        return isinstance(val, str) and is_name(val)

    def __str__(self):
        return "'cpu', 'cuda' or 'cuda:' and a number"


_SHARED = {
    "C": [cost()],
    "epsilon": [at_least(0.0, Real)],
    "tol": [positive()],
    "max_iter": [at_least(1)],
    "class_weight": [dict, one_of("balanced"), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "device": [DeviceName()],
    "loss": [one_of("hinge", "squared_hinge", "log_loss")],
    "n_anchors": [at_least(1), one_of("auto")],
    "n_neighbors": [at_least(1)],
    "sharpness": [positive(), Absolute],
    "kernels": "no_validation",  # anything that parse_kernels takes
    "normalization": [one_of("variance", "trace", "diagonal"), None],
    "bias": [one_of("free", "penalized", "none")],
    "solver": [one_of("smo", "mwu", "averaging")],
    "success": [one_of("training", "out_of_fold")],
    "n_folds": [at_least(2)],
}


def shared(*names):
    """Constraints of parameters that mean the same in several estimators."""
    return {name: _SHARED[name] for name in names}


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


def warn_of_one_column(model, rows):
    """Say that one column outweighs all others: distances and penalties see little else."""
    X = rows.X
    if issparse(X) or X.ndim != 2 or X.shape[0] < 2:
        return
    variance = X[:: -(-X.shape[0] // _SOME_ROWS)].astype(np.float64).var(axis=0)
    largest = int(np.argmax(variance))
    share = variance[largest] / max(float(variance.sum()), np.finfo(float).tiny)
    if np.count_nonzero(variance) < 2 or share <= _MOST_OF_VARIANCE:
        return
    names = rows.names.get("feature_names_in_")
    name = f"{largest}" if names is None or largest >= len(names) else f"{names[largest]!r}"
    warn_user(
        f"{type(model).__name__}: column {name} has {100.0 * share:.4g} % of the variance of all "
        f"{X.shape[1]} columns, so that the others hardly count. Scale the columns, for instance "
        f"by make_pipeline(StandardScaler(), {type(model).__name__}())."
    )


def require_finite_model(model, predictor):
    """Refuse a predictor that has diverged; the model keeps the one before it."""
    if all(np.isfinite(array).all() for array in _arrays(predictor)):
        return
    steps = [name for name in ("learning_rate", "jitter", "C") if hasattr(model, name)]
    raise ValueError(
        f"The fit of {type(model).__name__} has diverged: lower {' or '.join(steps)}, or scale "
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
            # The threshold of a split that separates missing values is infinite.
            if field.name != "thresholds":
                yield from _arrays(getattr(part, field.name))


def row_copies(X):
    """Bytes that any fit takes: rows ordered, merged, centered and in blocks, and small things."""
    stored = X.data.nbytes + X.indices.nbytes if issparse(X) else X.nbytes
    return 5 * stored + (1 << 17)


def require_memory(n_bytes, advice, limit=None):
    """Raise MemoryError if a fit needs more than ``limit`` bytes, by default the configured limit.

    ``advice`` says how the fit would need less.
    """
    limit = allowed_memory() if limit is None else limit
    n_bytes = float(min(n_bytes, 10**30))
    if n_bytes > limit:
        raise MemoryError(
            f"This fit needs about {_shown(n_bytes)} in addition to the data and may use "
            f"{_shown(limit)}: {advice}, or raise the limit with "
            "nearlinear.set_config(max_memory=...)."
        )


def memory_reserved(n_bytes):
    """Context in which fits may use the configured limit less ``n_bytes``."""
    limit = get_config()["max_memory"]
    return config_context(max_memory=None if limit is None else max(1.0, limit - n_bytes))


def _shown(n_bytes):
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.2f} MB"
