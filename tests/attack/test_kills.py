"""SIGKILL at random moments while a file is written or a model is fitted to blocks.

A file is the old one or the new one, complete. A fit continues from its checkpoint and ends with
bit-identical scores.
"""

import multiprocessing
import os
import random
import time

import numpy as np
import pytest
from cli.fruit import NAMES, frame_of, rows

import nearlinear
from nearlinear.cli import main
from nearlinear.streams import from_arrays

pytestmark = [
    pytest.mark.only_all,
    pytest.mark.skipif(os.name != "posix", reason="needs fork and SIGKILL"),
]
N_KILLS = 20
N_KILLS_PER_FIT = 2


def in_child(work):
    """Start ``work`` in a fork of this process."""
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    return child


def duration(work):
    start = time.perf_counter()
    in_child(work).join()
    return time.perf_counter() - start


def kill_after(seconds, work):
    child = in_child(work)
    time.sleep(seconds)
    child.kill()
    child.join()


def check_kills(path, old, write):
    """Kill ``write`` again and again; ``path`` has the old or the new content each time."""
    chance = random.Random(0)
    seconds = duration(write)
    new = path.read_bytes()
    assert new != old
    for _ in range(N_KILLS):
        path.write_bytes(old)
        kill_after(chance.uniform(0.0, 1.2 * seconds), write)
        assert path.read_bytes() in (old, new)
    # The next writer removes the temporary files of killed writers.
    in_child(write).join()
    assert list(path.parent.glob("*.part")) == []


def test_save_replaces_a_file_completely_or_not_at_all(tmp_path):
    X = np.random.default_rng(0).standard_normal((400, 1500))  # files of several megabytes
    first, second = (nearlinear.UniformMKLClassifier(C=C).fit(X, X[:, 0] > 0) for C in (1.0, 2.0))
    path = tmp_path / "model.nlm"
    nearlinear.save(first, path)
    check_kills(path, path.read_bytes(), lambda: nearlinear.save(second, path))


def test_predict_replaces_its_output_completely_or_not_at_all(tmp_path):
    model, table, path = (tmp_path / name for name in ("model.nlm", "new.csv", "out.csv"))
    X, y = rows(n_rows=20_000)
    frame_of(X, y)[NAMES].to_csv(table, index=False)
    nearlinear.save(nearlinear.LLSVMClassifier(4, 2, random_state=0).fit(X[:100], y[:100]), model)
    words = ["predict", model, table, "--out", path, "--force", "--scores", "--rows", 500]
    check_kills(path, b"old labels\n" * 1000, lambda: main([*map(str, words)]))


MODELS = {
    "anchors": nearlinear.LLCSAPLClassifier(12, max_iter=6, random_state=0),
    "tree": nearlinear.LDKLClassifier(4, max_iter=8, random_state=0),
    "forest": nearlinear.LocalForestClassifier(5, max_leaves=8, pairs=0, random_state=0),
    "search": nearlinear.NearLinearClassifier(
        families=["piecewise linear", "boosted trees", "oblique trees", "decision tree"],
        max_times_linear=12,
        random_state=0,
    ),
}
MAX_MEMORY = 4e6  # less than all rows need, so that the search works on a sample


@pytest.mark.parametrize("kind", MODELS)
def test_a_killed_fit_continues_to_bit_identical_scores(kind, tmp_path):
    X = np.random.default_rng(0).standard_normal((20_000 if kind == "search" else 3000, 6))
    X = X.astype(np.float32)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)
    source = from_arrays(X, y, block_rows=300)
    path, scores = tmp_path / "fit.npz", tmp_path / "scores.npy"

    def fit():
        with nearlinear.config_context(max_memory=MAX_MEMORY if kind == "search" else None):
            MODELS[kind].fit(source, checkpoint=path, every=0.0)
        np.save(scores, MODELS[kind].decision_function(X))

    def delete_files():
        for file in tmp_path.iterdir():
            file.unlink()

    in_child(fit).join()  # fills the cache of compiled code
    delete_files()
    chance, seconds = random.Random(0), duration(fit)
    expected = np.load(scores)
    delete_files()
    for _ in range(N_KILLS_PER_FIT):
        kill_after(chance.uniform(0.0, 0.9 * seconds), fit)
    if not scores.exists():
        in_child(fit).join()
    np.testing.assert_array_equal(np.load(scores), expected)
