"""What a prediction costs here, beside a linear model and others that were measured."""

import time

import numpy as np

from .._cpu_time import thread_time
from .subject import CLASSES

_ROWS, _SECONDS, _SINGLE = 2000, 0.05, 50


def cost(subject, peers=None):
    """Counts of the model, times on this machine, and a line for each alternative."""
    own = subject.model.cost_
    n_columns, n_outputs = subject.encoded.shape[1], subject.model.predictor_.n_outputs
    return {
        "multiply_adds": int(own.multiply_adds),
        "times_linear": float(own.times_linear),
        "bytes": int(own.n_bytes),
        "us": _us(subject),
        "encoder_us": _encoder_us(subject),
        "single_us": _single_us(subject),
        "linear": {
            "multiply_adds": n_columns * n_outputs,
            "bytes": (n_columns + 1) * n_outputs * subject.model.predictor_.dtype.itemsize,
        },
        "peers": [_peer(one) for one in peers or () if not one.get("ours")],
    }


def _best(work):
    """CPU seconds of the quickest of some runs."""
    work()
    best, end = np.inf, time.perf_counter() + _SECONDS
    while True:
        began = thread_time()
        work()
        best = min(best, thread_time() - began)
        if time.perf_counter() > end:
            return best


def _us(subject):
    """Of the predictor behind all steps, in a batch, one thread."""
    rows = subject.encoded[np.arange(_ROWS) % subject.encoded.shape[0]]
    return 1e6 * _best(lambda: subject.model.predictor_(rows, n_jobs=1)) / _ROWS


def _encoder_us(subject):
    if subject.whole.is_bare:
        return None
    rows = subject.rows.take(np.arange(_ROWS) % subject.rows.shape[0])
    return 1e6 * _best(lambda: subject.whole.encoded(rows)) / _ROWS


def _single_us(subject):
    """Of one raw row through ``compile()``; None where there is no such scorer."""
    if subject.rows.is_sparse:
        return None
    try:
        scorer = subject.model.compile(subject.whole.preparation)
        row = subject.rows.take(np.array([subject.typical]))
        row = (row.to_numpy() if hasattr(row, "to_numpy") else row)[0]
        row = row if row.dtype == object else row.astype(np.float64)
        answer = scorer.predict if subject.task == CLASSES else scorer
        return 1e6 * _best(lambda: [answer(row) for _ in range(_SINGLE)]) / _SINGLE
    except (TypeError, ValueError):
        return None


def _peer(one):
    numbers = ("score", "loss", "us_per_row", "single_row_us", "bytes", "fit_seconds")
    return {"name": str(one["name"]), **{key: one.get(key) for key in numbers}}
