"""CPU clocks that resolve microseconds."""

import time
from functools import cache

_LONGEST_STEP = 1e-3  # seconds; clocks of Linux and macOS advance at every call
_CALLS = 1000


def thread_time():
    """CPU seconds of this thread; wall-clock seconds where the system only counts ticks."""
    return _clock("thread_time")()


def process_time():
    """CPU seconds of all threads; wall-clock seconds where the system only counts ticks."""
    return _clock("process_time")()


@cache
def _clock(name):
    """The clock of ``time``, or ``perf_counter`` where that clock advances in long steps.

    Windows counts CPU time in ticks of 16 ms, although ``time.get_clock_info`` reports 100 ns.
    """
    clock = getattr(time, name)
    start = clock()
    if any(0.0 < clock() - start < _LONGEST_STEP for _ in range(_CALLS)):
        return clock
    return time.perf_counter
