"""Progress on standard error, with the time since the start.

On a terminal a line that is rewritten (a bar if rich is installed); elsewhere a plain line a step.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_PER_SECOND = 2


@contextmanager
def progress(total: int, *, refreshes: float = _PER_SECOND, plain=True) -> Iterator[Callable]:
    """Give a function ``begin(label)`` to be called at the start of each of ``total`` steps.

    ``refreshes`` a second move the clock: 0 where what runs is timed. ``plain``: there are lines
    where no one watches.
    """
    bar = _bar(refreshes)
    if bar is None:
        start, begun = time.perf_counter(), 0

        def begin(label):
            nonlocal begun
            begun += 1
            if plain or sys.stderr.isatty():
                past = f" ({clock(start)})" if begun > 1 and sys.stderr.isatty() else ""
                print(f"[{begun}/{total}] {label}{past}", file=sys.stderr, flush=True)

        yield begin
        return
    with bar:
        task = bar.add_task("", total=total)
        begun = 0

        def begin(label):
            nonlocal begun
            bar.update(task, completed=begun, description=label, refresh=True)
            begun += 1

        yield begin


@contextmanager
def counting(what: str, *, shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Give a function ``count(n)`` to be told how many there are by now. Silent off a terminal."""
    if not (shown and sys.stderr.isatty()):
        yield lambda n: None
        return
    start = time.perf_counter()

    def count(n):
        line = f"\r{n:,} {what} ({clock(start)})"
        print(line, end="", file=sys.stderr, flush=True)

    try:
        yield count
    finally:
        print(file=sys.stderr, flush=True)


@contextmanager
def search_bar() -> Iterator[Callable | None]:
    """Give ``show(done, total, label, seconds_left)`` of a bar of rich, or None if there is none.

    Without a known end, the time left is told from the pace.
    """
    bar = _bar(_PER_SECOND, width=10)
    if bar is None:
        yield None
        return
    with bar:
        task = bar.add_task("", total=None)
        start = time.perf_counter()

        def show(done, total, label, left):
            if left is None and done:
                left = (time.perf_counter() - start) / done * (total - done)
            told = "" if left is None else f"{left:.0f} s left; "
            bar.update(task, completed=done, total=total, description=told + label, refresh=True)

        yield show


def _bar(refreshes, width=30):
    """A bar of rich, if someone watches and it is installed."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )
    except ImportError:
        return None
    return Progress(
        BarColumn(bar_width=width),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=refreshes > 0,
        refresh_per_second=refreshes or _PER_SECOND,
    )


def clock(start):
    """Minutes and seconds since then."""
    minutes, seconds = divmod(int(time.perf_counter() - start), 60)
    return f"{minutes}:{seconds:02d}"
