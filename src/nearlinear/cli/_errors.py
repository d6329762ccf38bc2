"""How a command ends early: input at fault, or Ctrl-C."""

import signal
import threading
from contextlib import contextmanager


class CommandError(Exception):
    """A sentence for the user: what was wrong, where, and what to do. Exit code 2, no traceback."""


class Interrupted(BaseException):
    """Ctrl-C ends the command with exit code 130; the message replaces "interrupted".

    Not a KeyboardInterrupt, which a fit may catch to return its best model.
    """


@contextmanager
def stopping_at_once():
    """Ctrl-C raises Interrupted, unless the command was started to ignore it."""
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not ours:
        yield
        return
    signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def keeping_the_best():
    """Ctrl-C is a KeyboardInterrupt again, on which a fit keeps the best that it has."""
    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is _stop
    )
    if not ours:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _stop)


def _stop(number, frame):
    raise Interrupted
