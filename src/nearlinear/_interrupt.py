"""Ctrl-C comes between steps, never within one."""

import signal
import threading
from contextlib import contextmanager


@contextmanager
def uninterrupted():
    """Let Ctrl-C wait until a step is done that must not be left half done.

    Python gives Ctrl-C to the main thread alone, so on others there is nothing to hold back.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed = []
    try:
        handler = signal.signal(signal.SIGINT, lambda *event: pressed.append(event))
    except ValueError:  # an interpreter within another has no signals
        yield
        return
    try:
        yield
    finally:
        # a handler that was not set from Python cannot be put back from here
        signal.signal(signal.SIGINT, signal.SIG_DFL if handler is None else handler)
        if pressed and callable(handler):
            handler(*pressed[-1])
