"""The first prediction in a new process: without a place for compiled code, and with many at once.

Processes of their own, since what is asked for is what happens before anything is compiled.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nearlinear

PREDICT = """
import sys
import numpy as np
import nearlinear

path, rows, out = sys.argv[1:]
X = np.load(rows)
model = nearlinear.load(path)
scores = np.column_stack([model.decision_function(X), [model.compile()(x) for x in X]])
np.save(out, scores)
print(nearlinear.__file__)
"""


def prepare(folder):
    """A model file, rows, and the scores that every process must find, twice side by side."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = nearlinear.LDKLClassifier(2, max_iter=3, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    nearlinear.save(model, folder / "model.nlm")
    np.save(folder / "rows.npy", X)
    return folder, model.decision_function(X)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return prepare(tmp_path_factory.mktemp("cold"))


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package that has no place for compiled code.

    Where a folder for it would be made there is a file, which stops root as well.
    """
    root = tmp_path_factory.mktemp("site")
    source = Path(nearlinear.__file__).parent
    shutil.copytree(source, root / "nearlinear", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [path for path in (root / "nearlinear").rglob("*") if path.is_dir()]:
        (folder / "__pycache__").touch()
    (root / "nearlinear" / "__pycache__").touch()
    return root


def start(task, name, source=PREDICT, **environment):
    """A new process that predicts; numbers go to a file of the name."""
    folder, _ = task
    words = folder / "model.nlm", folder / "rows.npy", folder / f"{name}.npy"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", source, *map(str, words)],
        env={**clean, **{key: str(value) for key, value in environment.items()}},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process, task, name):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    folder, expected = task
    scores = np.load(folder / f"{name}.npy")
    np.testing.assert_array_equal(scores[:, 0], expected)
    np.testing.assert_allclose(scores[:, 1], expected, atol=1e-12)
    return out.strip(), err


def test_a_read_only_package_without_any_cache_folder_predicts(task, copied, tmp_path):
    nowhere = tmp_path / "file"
    nowhere.touch()
    places = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "PYTHONPATH": copied}
    where, told = finish(start(task, "read only", **places), task, "read only")
    assert told.count("Set NUMBA_CACHE_DIR to a writable folder") == 1
    assert Path(where).parent == copied / "nearlinear"  # the copy, and not what is installed


def test_a_cache_folder_that_is_none_is_no_hindrance(task, copied, tmp_path):
    nowhere = tmp_path / "file"
    nowhere.touch()
    places = {"HOME": tmp_path, "XDG_CACHE_HOME": tmp_path, "PYTHONPATH": copied}
    places["NUMBA_CACHE_DIR"] = nowhere / "cache"
    finish(start(task, "no folder", **places), task, "no folder")
    assert any(tmp_path.rglob("*.nlc"))  # the user's own folder is taken instead


@pytest.fixture(scope="module")
def filled(task, tmp_path_factory):
    """A cache that processes which start at once have filled together."""
    cache = tmp_path_factory.mktemp("cache")
    names = ["one", "other"]
    started = [start(task, name, NUMBA_CACHE_DIR=cache) for name in names]
    for process, name in zip(started, names, strict=True):
        finish(process, task, name)
    return cache


def test_processes_that_start_at_once_share_a_cold_cache(task, filled):
    compiled = {path.name: path.read_bytes() for path in filled.rglob("*.nlc")}
    assert compiled
    # what they have left is good for the next one, which compiles nothing
    finish(start(task, "next", NUMBA_CACHE_DIR=filled), task, "next")
    assert {path.name: path.read_bytes() for path in filled.rglob("*.nlc")} == compiled


DAMAGES = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "other bytes": lambda data: bytes(255 - byte for byte in data),
}


def test_damaged_caches_are_noticed_and_made_anew(task, filled, tmp_path):
    cache = shutil.copytree(filled, tmp_path / "cache")
    paths = sorted(cache.rglob("*.nlc"))[1::2]
    for number, damage in enumerate(DAMAGES.values()):
        for path in paths[number :: len(DAMAGES)]:
            path.write_bytes(damage(path.read_bytes()))
    _, told = finish(start(task, "damaged", NUMBA_CACHE_DIR=cache), task, "damaged")
    assert told.count("is damaged") == 1
    _, told = finish(start(task, "again", NUMBA_CACHE_DIR=cache), task, "again")
    assert told == ""


def test_a_full_disk_costs_the_cache_only(task, tmp_path):
    source = PREDICT.replace("import sys\n", "import sys, resource\n")
    full = "resource.setrlimit(resource.RLIMIT_FSIZE, (0, -1))\n"
    free = "resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))\n"
    source = source.replace("X = np", full + "X = np").replace("np.save", free + "np.save")
    _, told = finish(start(task, "full", source, NUMBA_CACHE_DIR=tmp_path), task, "full")
    assert told.count("cannot be stored") == 1


FORK = """
import os, signal, sys, threading
import numpy as np
import nearlinear

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 3))
y = (X[:, 0] * X[:, 1] > 0).astype(int)
model = nearlinear.LLSVMClassifier(4, 2, random_state=0).fit(X, y)
expected, stop = model.decision_function(X), threading.Event()

def fit():
    while not stop.is_set():
        nearlinear.LLSVMClassifier(4, 2, random_state=0).fit(X, y).predict(X)

threads = [threading.Thread(target=fit) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        again = nearlinear.LLSVMClassifier(4, 2, random_state=0).fit(X, y)
        os._exit(0 if np.array_equal(again.decision_function(X), expected) else 1)
    status = os.waitpid(child, 0)[1]
    if status:
        print("child ended with", status, flush=True)
stop.set()
"""


def test_children_of_a_fork_beside_fits_are_free():
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK, "40"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (answer.returncode, answer.stdout) == (0, ""), answer.stderr
