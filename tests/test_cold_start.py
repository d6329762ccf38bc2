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

# One worker runs the file: its processes compile, and more at a time than cores take longer.
pytestmark = pytest.mark.xdist_group("cold start")

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


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    """A model file, rows, and the scores that every process must find, twice side by side."""
    folder = tmp_path_factory.mktemp("cold")
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = nearlinear.LDKLClassifier(2, max_iter=3, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    nearlinear.save(model, folder / "model.nlm")
    np.save(folder / "rows.npy", X)
    return folder, model.decision_function(X)


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


def start(task, name, **environment):
    """A new process that predicts; numbers go to a file of the name."""
    folder, _ = task
    words = folder / "model.nlm", folder / "rows.npy", folder / f"{name}.npy"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", PREDICT, *map(str, words)],
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
    where, _ = finish(start(task, "read only", **places), task, "read only")
    assert Path(where).parent == copied / "nearlinear"  # the copy, and not what is installed


def test_a_cache_folder_that_is_none_is_no_hindrance(task, copied, tmp_path):
    nowhere = tmp_path / "file"
    nowhere.touch()
    places = {"HOME": tmp_path, "XDG_CACHE_HOME": tmp_path, "PYTHONPATH": copied}
    places["NUMBA_CACHE_DIR"] = nowhere / "cache"
    finish(start(task, "no folder", **places), task, "no folder")
    assert any(tmp_path.rglob("*.nbc"))  # the user's own folder is taken instead


def test_processes_that_start_at_once_share_a_cold_cache(task, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    names = [f"process {number}" for number in range(4)]
    started = [start(task, name, NUMBA_CACHE_DIR=cache) for name in names]
    for process, name in zip(started, names, strict=True):
        finish(process, task, name)
    compiled = {path.name: path.read_bytes() for path in cache.rglob("*.nbc")}
    assert compiled
    # what they have left is good for the next one, which compiles nothing
    finish(start(task, "next", NUMBA_CACHE_DIR=cache), task, "next")
    assert {path.name: path.read_bytes() for path in cache.rglob("*.nbc")} == compiled
