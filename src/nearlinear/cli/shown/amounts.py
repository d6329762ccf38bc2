"""Amounts as people write them: 64kB, 10m."""

import argparse

from ..._config import BYTE_UNITS, parse_amount

_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def positive(text):
    """A number above 0."""
    return _counted(text, {"": 1}, "a number above 0")


def n_bytes(text):
    """Bytes: 65536, 64kB, 1MB, 64KiB."""
    return _counted(text, BYTE_UNITS, "bytes, such as 65536, 64kB or 1MB")


def seconds(text):
    """Seconds: 90, 90s, 10m, 1h."""
    return _counted(text, _SECONDS, "a time, such as 90s, 10m or 1h")


def _counted(text, units, wanted):
    amount = parse_amount(text, units)
    if amount is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return amount


def shown_bytes(count):
    """Such as 84 B, 2.5 kB or 1.2 MB."""
    if count < 1e3:
        return f"{count:.0f} B"
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def shown_us(value):
    """Three figures."""
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
