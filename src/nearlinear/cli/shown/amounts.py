"""Amounts as people write them: 64kB, 10m."""

import argparse
import re

_BYTES = {"": 1, "b": 1, "k": 1e3, "kb": 1e3, "kib": 1 << 10, "m": 1e6, "mb": 1e6, "mib": 1 << 20,
          "g": 1e9, "gb": 1e9, "gib": 1 << 30}  # fmt: skip
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


def positive(text):
    """A number above 0."""
    return _counted(text, {"": 1}, "a number above 0")


def n_bytes(text):
    """Bytes: 65536, 64kB, 1MB, 64KiB."""
    return _counted(text, _BYTES, "bytes, such as 65536, 64kB or 1MB")


def seconds(text):
    """Seconds: 90, 90s, 10m, 1h."""
    return _counted(text, _SECONDS, "a time, such as 90s, 10m or 1h")


def _counted(text, units, wanted):
    found = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([a-z]*)\s*", text.lower())
    if found is None or found[2] not in units or not 0 < float(found[1]) < 1e15:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return float(found[1]) * units[found[2]]


def shown_bytes(count):
    """Such as 84 B, 2.5 kB or 1.2 MB."""
    if count < 1e3:
        return f"{count:.0f} B"
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def shown_us(value):
    """Three figures."""
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
