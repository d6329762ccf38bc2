"""Children of a process whose threads fit: none hangs."""

import subprocess

from test_cold_start import FORK

from .apart import child, last_words
from .report import Count


def run(count):
    """``count`` children that fit and predict."""
    found = Count("children forked beside two threads that fit")
    try:
        ended = child(FORK, count, timeout=600).split("\n")[:-1]
    except (AssertionError, subprocess.TimeoutExpired) as error:
        found.add("ended", last_words(error))
        return [found]
    for _ in range(count - len(ended)):
        found.add("fitted to the same bits")
    for line in ended:
        found.add("hung or other", line)
    return [found]
