"""How much memory this process holds, and has held at most."""

import contextlib
import resource
import sys
from pathlib import Path


def peak_bytes():
    """The most memory this process has held so far, or since ``forget_peak``."""
    status = Path("/proc/self/status")
    if status.exists():
        # On Linux ru_maxrss is of no use here: a child's begins at the peak of its parent.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def forget_peak():
    """Begin anew, where the system lets us: what reading the data took is not a fit's use."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def present_bytes():
    """What it holds now, where the system tells; else the peak, which hides part of a fit's use."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak_bytes()
    return int(statm.read_text().split()[1]) * resource.getpagesize()
