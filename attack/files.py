"""Changed model files with right checksums: refused, or scored with finite numbers."""

import tempfile
from pathlib import Path

from js.changed import try_changed
from js.node import NODE
from runtime import fuzz

from .apart import numbered
from .report import Count

_AT_ONCE = 1000  # files of one Node process


def run(count):
    """``count`` files, a tenth as many where compiled code checks its bounds, all in Node again."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for number, data in enumerate(fuzz.fitted()):
            (folder / f"{number}.nlm").write_bytes(data)
        (work := folder / "work").mkdir()
        few, settings = max(1, count // 10), fuzz.checked(folder / "cache")
        return [
            _tried("model files changed", 0, count, work, folder),
            _tried("model files changed, bounds checked", 10**6, few, work, folder, **settings),
            *_in_node(count, folder, work / "case.nlm"),
        ]


def _tried(what, first, count, work, folder, **environment):
    found = numbered(fuzz.CHILD, what, first, count, work, folder, timeout=900, **environment)
    found.what = f"{what} (two readers each)"
    return found


def _in_node(count, folder, path):
    """The same files in nearlinear.js, held against the NumPy runtime; none without Node."""
    if NODE is None:
        return
    found, seeds = Count("model files changed, in nearlinear.js"), fuzz.originals(folder)
    for first in range(0, count, _AT_ONCE):
        counts, findings = try_changed(range(first, min(first + _AT_ONCE, count)), seeds, path)
        found.outcomes.update(counts)
        found.findings += findings
        found.tried += sum(counts.values())
    yield found
