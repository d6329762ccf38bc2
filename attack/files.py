"""Changed model files with right checksums: refused, or scored with finite numbers."""

import tempfile
from pathlib import Path

from runtime import fuzz

from .apart import numbered


def run(count):
    """``count`` files, and a tenth as many where compiled code checks its bounds."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for number, data in enumerate(fuzz.fitted()):
            (folder / f"{number}.nlm").write_bytes(data)
        (work := folder / "work").mkdir()
        few, settings = max(1, count // 10), fuzz.checked(folder / "cache")
        return [
            _tried("model files changed", 0, count, work, folder),
            _tried("model files changed, bounds checked", 10**6, few, work, folder, **settings),
        ]


def _tried(what, first, count, work, folder, **environment):
    found = numbered(fuzz.CHILD, what, first, count, work, folder, timeout=900, **environment)
    found.what = f"{what} (two readers each)"
    return found
