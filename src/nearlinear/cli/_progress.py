"""Progress on standard error: a bar if rich is installed and someone watches, else plain lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """Give a function ``begin(label)`` to be called at the start of each of ``total`` steps."""
    if not sys.stderr.isatty():
        yield _plain_lines(total)
        return
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
        yield _plain_lines(total)
        return
    columns = (
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    # No refresh thread: it would take time from the models that are being timed.
    with Progress(
        *columns, console=Console(stderr=True), transient=True, auto_refresh=False
    ) as bar:
        task = bar.add_task("", total=total)
        begun = 0

        def begin(label):
            nonlocal begun
            bar.update(task, completed=begun, description=label, refresh=True)
            begun += 1

        yield begin


def _plain_lines(total):
    begun = 0

    def begin(label):
        nonlocal begun
        begun += 1
        print(f"[{begun}/{total}] {label}", file=sys.stderr, flush=True)

    return begin
