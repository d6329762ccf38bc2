"""Warnings that point at the user's line, however deep they arise."""

import sys
import warnings

_INSIDE = ("nearlinear", "sklearn")


def warn_user(message, category=UserWarning):
    """Warn at the nearest caller outside this package and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_inside(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(frame):
    return frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE
