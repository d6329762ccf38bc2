"""What a prediction may cost, and what it will cost on this machine."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from .._compile import compile_seconds, one_blas_thread
from .._cpu_time import thread_time
from ..single_row.scorer import RowScorer

_FEW_TIMED, MAX_TIMED_ROWS = 2048, 20_480


@dataclass(frozen=True)
class Price:
    """What one prediction takes; microseconds are forecast or measured.

    ``averaging_us`` comes on top where it is one of several.
    """

    times_linear: float
    us: float
    single_us: float
    n_bytes: int
    averaging_us: float = 0.0

    @classmethod
    def total(cls, prices):
        averaging = sum(one.averaging_us for one in prices) if len(prices) > 1 else 0.0
        return cls(
            sum(one.times_linear for one in prices),
            sum(one.us for one in prices) + averaging,
            sum(one.single_us for one in prices), sum(one.n_bytes for one in prices),
        )  # fmt: skip


@dataclass(frozen=True)
class Budget:
    """None stands for no limit."""

    times_linear: float | None = None
    us: float | None = None
    single_us: float | None = None
    n_bytes: float | None = None

    @property
    def is_open(self):
        return all(value is None for value in vars(self).values())

    def part(self, share):
        """The same with a share of everything that is limited."""
        return Budget(*(None if most is None else share * most for most in vars(self).values()))

    def holds(self, prices):
        total = Price.total(prices)
        return all(
            most is None or getattr(total, name) <= most for name, most in vars(self).items()
        )

    def __str__(self):
        words = {
            "times_linear": "{:g} × linear", "us": "{:g} µs a row", "single_us":
            "{:g} µs for one row", "n_bytes": "{:g} bytes",
        }  # fmt: skip
        said = [words[name].format(most) for name, most in vars(self).items() if most is not None]
        return ", ".join(said) or "no limit"


_GRACE = 0.1, 0.5  # a share of the limit, and seconds


class Clock:
    """Seconds since the start of a fit, without those spent on compiling."""

    def __init__(self, limit=None):
        self.limit, self._start = limit, self._now()

    @staticmethod
    def _now():
        return perf_counter() - compile_seconds()

    @property
    def left(self):
        return np.inf if self.limit is None else self.limit - (self._now() - self._start)

    @property
    def left_with_grace(self):
        """For work without which there would be no good model, even if the limit has passed."""
        share, seconds = _GRACE
        return np.inf if self.limit is None else max(0.0, self.left) + share * self.limit + seconds

    @property
    def is_spent(self):
        return self.left < 0.0


def measured_us(predict, X, seconds=0.02, clock=thread_time, min_rows=_FEW_TIMED):
    """CPU microseconds per row of ``predict(X)``: the fastest of several batches.

    Batches repeat the rows of ``X``. A call of ``predict`` validates its input, which takes about
    0.1 ms; fast models are timed on more rows, so that this is a small part of the time.
    """
    with one_blas_thread():  # as in predict
        rows = _repeat_rows(X, min_rows)
        predict(rows)
        began = clock()
        predict(rows)
        if clock() - began < seconds * min_rows / MAX_TIMED_ROWS:
            rows = _repeat_rows(X, MAX_TIMED_ROWS)
        best, end = np.inf, clock() + seconds
        while True:
            began = clock()
            predict(rows)
            best = min(best, clock() - began)
            if clock() > end:
                return 1e6 * best / rows.shape[0]


def _repeat_rows(X, n_rows):
    return X[np.arange(n_rows) % X.shape[0]]


def measured_single_us(predictor, row, n_calls=20, seconds=0.02):
    """Microseconds of one row through the pass that ``compile()`` takes: the best of a few."""
    score = RowScorer(predictor, len(row), predictor.dtype)
    row = np.ascontiguousarray(row)
    best, end = np.inf, thread_time() + seconds
    while True:
        began = thread_time()
        for _ in range(n_calls):
            score(row)
        best = min(best, thread_time() - began)
        if thread_time() > end:
            return 1e6 * best / n_calls
