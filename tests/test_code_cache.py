"""Compiled code on disk: races of processes, damaged entries, read-only folders."""

import os
import shutil
import subprocess
import sys
import time

import pytest

TIMEOUT = 300

MODULE = """
from nearlinear._compile import compiled
from other import OFFSET, scaled

@compiled
def weighted_sum(values, weight):
    total = 0.0
    for value in values:
        total += scaled(value) * weight
    return total + OFFSET
"""

OTHER_MODULE = """
from nearlinear._compile import compiled

OFFSET = 0.0

@compiled
def scaled(value):
    return value * 1
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
    """A folder with modules of compiled functions and an empty cache."""
    (tmp_path / "passes.py").write_text(MODULE)
    (tmp_path / "other.py").write_text(OTHER_MODULE)
    (tmp_path / "cache").mkdir()
    return tmp_path


def start(folder, source, *words, **environment):
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    places = {"PYTHONPATH": os.pathsep.join(paths), "NUMBA_CACHE_DIR": str(folder / "cache")}
    places["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.Popen(
        [sys.executable, "-c", source, *map(str, words)],
        env={**os.environ, **places, **environment},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def output(process):
    out, err = process.communicate(timeout=TIMEOUT)
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


def entries(folder):
    """Contents of all files of compiled code below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*.nlc")}


N_FUNCTIONS, N_CALLS, N_PROCESSES = 200, 24, 8
FUNCTIONS = "from nearlinear._compile import compiled\n" + "".join(
    f"""
@compiled
def function_{number}(value):
    return value * 2 + {number}
"""
    for number in range(N_FUNCTIONS)
)

# Calls functions by number, with arguments of three types, and shows results that are wrong.
CALL_MANY = """
import sys
import numpy as np
import many

types = [np.float32, np.float64, np.int64]
for call in sys.argv[1:]:
    number, kind = divmod(int(call), 3)
    result = getattr(many, f"function_{number}")(types[kind](3))
    if result != 6 + number or isinstance(result, int) != (kind == 2):
        print(call, result)
"""


def test_processes_that_fill_one_folder_lose_no_entry(folder):
    """Neighbors share half of their calls, and run them in opposite orders."""
    (folder / "many.py").write_text(FUNCTIONS)
    words = []
    for process in range(N_PROCESSES):
        first = process * N_CALLS // 2
        calls = [call % (3 * N_FUNCTIONS) for call in range(first, first + N_CALLS)]
        words.append(calls[:: 1 if process % 2 else -1])
    processes = [start(folder, CALL_MANY, *calls) for calls in words]
    assert [output(process)[0] for process in processes] == [""] * N_PROCESSES
    every_call = set().union(*words)
    stored = entries(folder)
    assert len(stored) == len(every_call)
    assert run(folder, CALL_MANY, *every_call) == ("", "")
    assert entries(folder) == stored


def test_an_entry_of_another_signature_is_not_used_and_repaired(folder):
    run(folder, CALL, "float32")
    (first,) = [path for path in entries(folder) if "weighted_sum" in path.name]
    run(folder, CALL, "float64")
    (second,) = [path for path in entries(folder) if "weighted_sum" in path.name and path != first]
    shutil.copy(first, second)
    out, err = run(folder, CALL, "float64")
    assert out.split() == ["float64", "-10.0"]
    assert err.count("is damaged") == 1
    assert second.read_bytes() != first.read_bytes()
    assert run(folder, CALL, "float32", "float64")[1] == ""


# Ends before the first file is put in place, as a process that is killed.
KILLED = (
    """
import os

os.replace = lambda *paths: os._exit(0)
"""
    + CALL
)


def test_a_process_that_is_killed_while_it_stores_leaves_nothing_that_is_used(folder):
    run(folder, KILLED, "float32")
    assert entries(folder) == {}
    assert run(folder, CALL, "float32") == ("float32 -10.0\n", "")
    files = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    assert files and set(files) == set(entries(folder))


# Every folder below the first argument is read-only, also for root.
READ_ONLY = (
    """
import errno, os, sys

folder = sys.argv.pop(1)
writes = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def forbid_writing(event, arguments):
    is_write = event in ("os.mkdir", "os.rename", "os.remove")
    is_write |= event == "open" and bool(arguments[2] & writes)
    if is_write and str(arguments[0]).startswith(folder):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), arguments[0])

sys.addaudithook(forbid_writing)
"""
    + CALL
)


def test_a_read_only_folder_is_used_and_what_it_lacks_is_stored_in_the_users_folder(
    folder, tmp_path_factory
):
    home = tmp_path_factory.mktemp("home")
    user = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(home))
    run(folder, CALL, "float32", **user)
    stored = entries(folder)
    out, err = run(folder, READ_ONLY, folder, "float32", **user)
    assert (out, err) == ("float32 -10.0\n", "")
    assert entries(home) == {}
    for _ in range(2):  # stored by the first process, read by the second one
        out, err = run(folder, READ_ONLY, folder, "float32", "float64", **user)
        assert (out, err) == ("float32 -10.0\nfloat64 -10.0\n", "")
        assert len([path for path in entries(home) if "weighted_sum" in path.name]) == 1
    assert entries(folder) == stored


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("passes.py", "total = 0.0", "total = 1.0", -9.0),
        ("other.py", "OFFSET = 0.0", "OFFSET = 2.0", -8.0),
        ("other.py", "value * 1", "value * 3", -30.0),
    ],
    ids=["function", "constant of another file", "function of another file"],
)
def test_a_change_of_the_source_is_noticed_and_replaces_the_entry(folder, file, old, new, expected):
    run(folder, CALL, "float64")
    before = entries(folder)
    path = folder / file
    path.write_text(path.read_text().replace(old, new))
    assert run(folder, CALL, "float64")[0] == f"float64 {expected}\n"
    after = entries(folder)
    assert len([path for path in after if "weighted_sum" in path.name]) == 1
    assert set(before) != set(after)


def test_files_of_another_time_and_comments_do_not_compile_again(folder):
    run(folder, CALL, "float64")
    before = entries(folder)
    path = folder / "passes.py"
    path.write_text("# a comment\n" + path.read_text())
    os.utime(path, (time.time() + 1e6,) * 2)
    run(folder, CALL, "float64")
    assert entries(folder) == before


# A version of numba without a name that the cache uses.
OTHER_NUMBA = (
    """
from numba.core.compiler import CompileResult

del CompileResult._reduce
"""
    + CALL
)


def test_an_unknown_version_of_numba_compiles_without_a_cache(folder):
    out, err = run(folder, OTHER_NUMBA, "float32", "float64")
    assert out == "float32 -10.0\nfloat64 -10.0\n"
    assert err.count("cannot be stored with this version of numba") == 1
    assert entries(folder) == {}


# On Windows a file cannot be replaced while a process reads it.
BUSY = (
    """
import os, shutil, sys

is_stored = sys.argv.pop(1) == "stored"

def replace(source, target):
    if is_stored:
        shutil.copy(source, target)  # as another process
    raise PermissionError(13, "Permission denied", str(target))

os.replace = replace
"""
    + CALL
)


@pytest.mark.parametrize(("state", "n_warnings"), [("stored", 0), ("missing", 1)])
def test_an_entry_that_another_process_stored_and_reads_is_left_in_place(folder, state, n_warnings):
    out, err = run(folder, BUSY, state, "float32")
    assert out == "float32 -10.0\n"
    assert err.count("cannot be stored") == n_warnings
    assert run(folder, CALL, "float32") == ("float32 -10.0\n", "")
