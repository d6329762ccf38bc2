"""Stored compiled code, in processes of their own: races, damage, folders that cannot be written."""

import os
import subprocess
import sys

import numpy as np
import pytest

MODULE = """
from nearlinear._compile import compiled

@compiled
def weighted_sum(values, weight):
    total = 0.0
    for value in values:
        total += value * weight
    return total
"""

CALL = """
import sys
import numpy as np
from passes import weighted_sum

for dtype in sys.argv[1:]:
    values = np.arange(-3, 2).astype(dtype)
    print(dtype, weighted_sum(values, values.dtype.type(2)))
"""

# Waits at the first file that is put in place until the other process has got that far, too. The
# process called "outer" puts its first file in place first, and its last file last.
ORDERED = """
import os, sys, time
from pathlib import Path

role, events = sys.argv.pop(1), Path(sys.argv.pop(1))
replace, n_replaced = os.replace, 0

def wait_for(event):
    end = time.monotonic() + 30
    while not (events / event).exists() and time.monotonic() < end:
        time.sleep(0.01)

def ordered_replace(*paths):
    global n_replaced
    n_replaced += 1
    if role == "outer":
        wait_for("inner waits" if n_replaced == 1 else "inner is done")
        replace(*paths)
        (events / "outer has begun").touch()
    else:
        (events / "inner waits").touch()
        wait_for("outer has begun")
        replace(*paths)

os.replace = ordered_replace
""" + CALL + """
(events / f"{role} is done").touch()
"""  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with a module of compiled functions and an empty cache."""
    (tmp_path / "passes.py").write_text(MODULE)
    (tmp_path / "cache").mkdir()
    return tmp_path


def start(folder, source, *words, **environment):
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    places = {"PYTHONPATH": os.pathsep.join(paths), "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.Popen(
        [sys.executable, "-c", source, *map(str, words)],
        env={**os.environ, **places, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def output(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out, err


def run(folder, source, *words, **environment):
    return output(start(folder, source, *words, **environment))


@pytest.mark.parametrize("outer", ["float32", "float64"])
def test_two_processes_that_store_signatures_of_one_function_at_the_same_time(folder, outer):
    inner = {"float32": "float64", "float64": "float32"}[outer]
    processes = [
        start(folder, ORDERED, "outer", folder, outer),
        start(folder, ORDERED, "inner", folder, inner),
    ]
    for process in processes:
        output(process)
    out, _ = run(folder, CALL, "float32", "float64")
    assert out.split() == ["float32", "-10.0", "float64", "-10.0"]
