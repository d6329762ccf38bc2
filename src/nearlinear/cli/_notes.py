"""What a library warns of, as one line for a person: no file, no line of code."""

import sys
import warnings
from contextlib import contextmanager


@contextmanager
def notes(command):
    """Tell each warning once, when the command has ended: a progress bar may be on the screen."""
    found = {}

    def note(message, category, *where, **more):
        # others, such as overflows, speak to those who write programs
        if issubclass(category, UserWarning):
            found[" ".join(str(message).split())] = None

    with warnings.catch_warnings():
        warnings.showwarning = note
        try:
            yield
        finally:
            for text in found:
                print(f"nearlinear {command}: note: {text}", file=sys.stderr)
