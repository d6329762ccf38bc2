"""Damaged files of compiled code: every start succeeds."""

import random
import subprocess
import tempfile
from pathlib import Path

from test_cold_start import DAMAGES, finish, prepare, start

from .report import Count


def run(count):
    """``count`` damages, each to some of the files, each followed by a start."""
    found, chance = Count("starts with damaged files of compiled code"), random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        task, cache = prepare(folder), folder / "cache"
        finish(start(task, "whole", NUMBA_CACHE_DIR=cache), task, "whole")
        for number in range(count):
            kind = list(DAMAGES)[number % len(DAMAGES)]
            files = sorted(cache.rglob("*.nlc"))
            for path in chance.sample(files, chance.randint(1, 4)):
                path.write_bytes(DAMAGES[kind](path.read_bytes()))
            try:
                finish(start(task, kind, NUMBA_CACHE_DIR=cache), task, kind)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                found.add("failed", f"damage {number}, {kind}: {str(error).strip()[-300:]}")
            else:
                found.add(kind)
    return [found]
