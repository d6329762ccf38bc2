"""``nearlinear.runtime.load``: NumPy is all it needs, and files of version 1 are read for good."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from runtime import crafted, plain_reader
from runtime.crafted import file_of

import nearlinear
from nearlinear import runtime
from nearlinear.runtime import FileModel, ModelFileError, load

FIXTURES = Path(__file__).parents[1] / "fixtures"
FILES = sorted(path.stem for path in FIXTURES.glob("*.nlm"))


def run_python(source):
    """Standard output of ``source`` in a process of its own."""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def expected_of(name):
    return json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))


# --- what is loaded -----------------------------------------------------------------------------

HEAVY = ("sklearn", "scipy", "numba", "pandas", "threadpoolctl", "joblib")


def test_scoring_a_file_loads_neither_scikit_learn_nor_scipy_nor_numba():
    path = str(FIXTURES / "model_v1.nlm")
    source = (
        "import sys\n"
        "from nearlinear.runtime import load\n"
        f"model = load({path!r})\n"
        "model.predict([[0.0, 100.0, -3.0]])\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert run_python(source) == "[]"


def test_files_are_scored_where_numpy_alone_is_installed(tmp_path):
    for k, name in enumerate(crafted.MODELS):
        (tmp_path / f"{k}.nlm").write_bytes(file_of(name))
    source = (
        "import sys\n"
        f"for name in {HEAVY!r}:\n"
        "    sys.modules[name] = None  # an import of it fails\n"
        "from nearlinear.runtime import load\n"
        f"for k in range({len(crafted.MODELS)}):\n"
        f"    model = load(r'{tmp_path}/%d.nlm' % k)\n"
        "    assert len(model.predict([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]])) == 2\n"
        "print('scored')"
    )
    assert run_python(source) == "scored"


@pytest.mark.parametrize("name", ["load", "LDKLClassifier", "kernels"])
def test_a_missing_dependency_is_named_with_the_loader_that_needs_numpy_only(name):
    source = (
        "import sys\n"
        f"for name in {HEAVY!r}:\n"
        "    sys.modules[name] = None  # an import of it fails\n"
        "try:\n"
        f"    from nearlinear import {name}\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error.name in str(error), 'nearlinear.runtime.load' in str(error))"
    )
    assert run_python(source) == "True True"


def test_the_public_names_are_three():
    assert runtime.__all__ == ["FileModel", "ModelFileError", "load"]


# --- what is given back -------------------------------------------------------------------------


def test_a_model_says_what_it_is(tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(file_of("two kernels"))
    for given in (path, str(path)):
        model = load(given)
        assert isinstance(model, FileModel)
        assert (model.method, model.n_features) == ("UniformMKLClassifier", 3)
        assert model.classes == ["no", "yes", "so"]
        assert model.predictor.kind == "KernelExpansion"


def test_a_model_cannot_be_changed(tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(file_of("two kernels"))
    with pytest.raises(AttributeError):
        load(path).classes = ["a", "b", "c"]


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "model.nlm"
    path.write_bytes(file_of("two kernels")[:-1])
    with pytest.raises(ModelFileError, match=r"model\.nlm is cut short"):
        load(path)


# --- files of earlier releases ------------------------------------------------------------------
# Written once for each version of the format, with the scores of the model that was saved.


def test_there_is_a_file_of_every_version():
    assert FILES == ["model_v1"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_earlier_release_is_scored_as_then(name):
    model, expected = load(FIXTURES / f"{name}.nlm"), expected_of(name)
    assert model.method == expected["method"]
    assert model.feature_names == expected["feature_names"]
    assert model.classes == expected["classes"]
    assert_allclose(model.decision_function(expected["rows"]), expected["scores"], rtol=1e-10)
    assert model.predict(expected["rows"]).tolist() == expected["labels"]
    assert set(expected["labels"]) == set(expected["classes"])


@pytest.mark.parametrize("name", FILES)
def test_an_estimator_of_an_earlier_release_predicts_as_then(name):
    pandas = pytest.importorskip("pandas")
    model, expected = nearlinear.load(FIXTURES / f"{name}.nlm"), expected_of(name)
    rows = pandas.DataFrame(expected["rows"], columns=expected["feature_names"])
    assert type(model[-1]).__name__ == expected["method"]
    assert_allclose(model.decision_function(rows), expected["scores"], rtol=1e-10)
    assert model.predict(rows).tolist() == expected["labels"]


@pytest.mark.parametrize("name", FILES)
def test_a_reader_written_from_the_page_scores_it_alike(name, tmp_path):
    nearlinear.save(nearlinear.load(FIXTURES / f"{name}.nlm"), tmp_path / "model.nlm")
    model = plain_reader.read((tmp_path / "model.nlm").read_bytes())
    expected = expected_of(name)
    found = np.array([plain_reader.scores(model, row) for row in expected["rows"]])
    assert_allclose(found, expected["scores"], rtol=1e-10)
    assert [plain_reader.label(model, row) for row in expected["rows"]] == expected["labels"]
