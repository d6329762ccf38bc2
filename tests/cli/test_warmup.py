"""``nearlinear warmup``: what prediction needs is compiled before it is asked for."""

import os
import subprocess
import sys

import numpy as np
import pytest

import nearlinear
from nearlinear.cli import main, warmup


@pytest.fixture
def few(monkeypatch):
    """Kinds that only count how often they are warmed."""
    calls = []
    kinds = [(name, lambda name=name: calls.append(name)) for name in ("anchors", "trees")]
    monkeypatch.setattr(warmup, "_models", lambda: kinds)
    return calls


def test_every_kind_is_warmed_once_and_told(few, capsys):
    assert main(["warmup"]) == 0
    assert few == ["anchors", "trees"]
    captured = capsys.readouterr()
    assert captured.err.splitlines() == ["[1/2] compiling anchors", "[2/2] compiling trees"]
    assert captured.out.startswith("2 kinds of models are compiled")


def test_a_failure_to_store_code_is_reported(few, capsys, monkeypatch):
    monkeypatch.setattr(warmup, "storage_failure", lambda: "No folder is writable.")
    assert main(["warmup"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("not stored. No folder is writable.")


def test_a_failure_to_fill_the_requested_folder_is_an_error(few, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.environ.get("NUMBA_CACHE_DIR", ""))  # is restored
    monkeypatch.setattr(warmup, "storage_failure", lambda: "The disk is full.")
    assert main(["warmup", "--cache", str(tmp_path / "new" / "cache")]) == 2
    assert "The disk is full." in capsys.readouterr().err


def test_a_requested_folder_that_is_a_file_is_an_error(few, capsys, tmp_path):
    path = tmp_path / "file"
    path.touch()
    assert main(["warmup", "--cache", str(path)]) == 2
    assert f"--cache {path}: the folder is not writable" in capsys.readouterr().err
    assert few == []


def test_quiet_is_quiet(few, capsys):
    assert main(["warmup", "--quiet"]) == 0
    assert few == ["anchors", "trees"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [name for name, _ in warmup._models()])
def test_every_kind_can_be_warmed(kind):
    dict(warmup._models())[kind]()


def test_problems_have_two_and_three_classes_in_both_precisions():
    seen = []

    class Recorder:
        def fit(self, X, y):
            seen.append((X.dtype, len(np.unique(y))))
            return self

        def predict(self, X):
            assert X.dtype == seen[-1][0]

        def compile(self, scaler=None):
            return lambda x: None

    warmup._warming(Recorder)()
    float32, float64 = np.dtype(np.float32), np.dtype(np.float64)
    assert set(seen) == {(float32, 2), (float32, 3), (float64, 2), (float64, 3)}


# Warms as the command does, with models that were fitted before: training compiles, too.
WARM = """
import sys
import numpy as np
import nearlinear
from nearlinear.cli import main, warmup

class Fitted:
    def fit(self, X, y):
        return nearlinear.load(f"{sys.argv[1]}/{X.dtype}-{len(np.unique(y))}.nlm")

warmup._models = lambda: [("trees", warmup._warming(Fitted))]
sys.exit(main(["warmup", "--cache", f"{sys.argv[1]}/cache", "--quiet"]))
"""

# Shows which files predictions in a new process add to the cache.
FIRST_PREDICTIONS = """
import os, sys
from pathlib import Path
import numpy as np
import nearlinear

folder = Path(os.environ["NUMBA_CACHE_DIR"])
before = set(folder.rglob("*.nlc"))
for path in Path(sys.argv[1]).glob("*.nlm"):
    model = nearlinear.load(path)
    model.predict(np.zeros((3, 3)))
    scorer = model.compile()
    scorer(np.zeros(3, dtype=scorer.dtype))
print(len(before), sorted(path.name for path in set(folder.rglob("*.nlc")) - before))
"""


def test_a_prediction_after_it_compiles_nothing(tmp_path, rng):
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((60, 3)).astype(dtype)
        for n_classes in (2, 3):
            model = nearlinear.LDKLClassifier(2, max_iter=2, random_state=0)
            model.fit(X, np.digitize(X[:, 0], np.linspace(-0.5, 0.5, n_classes - 1)))
            nearlinear.save(model, tmp_path / f"{X.dtype}-{n_classes}.nlm")
    for program, folder in ((WARM, "unused"), (FIRST_PREDICTIONS, "cache")):
        shown = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / folder)},
            capture_output=True, text=True, check=True, timeout=120,
        )  # fmt: skip
    assert not (tmp_path / "unused").exists()
    n_files, added = shown.stdout.split(maxsplit=1)
    assert int(n_files) > 0
    assert added.strip() == "[]"
