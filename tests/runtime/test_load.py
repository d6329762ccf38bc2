"""``nearlinear.runtime.load`` needs NumPy alone; a stored file keeps its scores."""

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
FILE = FIXTURES / "model.nlm"
EXPECTED = json.loads((FIXTURES / "model.json").read_text("utf-8"))


def run_python(source):
    """Standard output of ``source`` in a process of its own."""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- what is loaded -----------------------------------------------------------------------------

HEAVY = ("sklearn", "scipy", "numba", "pandas", "threadpoolctl", "joblib")


def test_scoring_a_file_loads_neither_scikit_learn_nor_scipy_nor_numba():
    path = str(FILE)
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


# --- a stored file ------------------------------------------------------------------------------
# ``model.json`` has the scores of the model that was saved.


def test_a_stored_file_has_the_scores_of_its_model():
    model = load(FILE)
    assert model.method == EXPECTED["method"]
    assert model.feature_names == EXPECTED["feature_names"]
    assert model.classes == EXPECTED["classes"]
    assert_allclose(model.decision_function(EXPECTED["rows"]), EXPECTED["scores"], rtol=1e-10)
    assert model.predict(EXPECTED["rows"]).tolist() == EXPECTED["labels"]
    assert set(EXPECTED["labels"]) == set(EXPECTED["classes"])


def test_an_estimator_of_a_stored_file_has_the_scores_of_its_model():
    pandas = pytest.importorskip("pandas")
    model = nearlinear.load(FILE)
    rows = pandas.DataFrame(EXPECTED["rows"], columns=EXPECTED["feature_names"])
    assert type(model[-1]).__name__ == EXPECTED["method"]
    assert_allclose(model.decision_function(rows), EXPECTED["scores"], rtol=1e-10)
    assert model.predict(rows).tolist() == EXPECTED["labels"]


def test_a_reader_written_from_the_page_has_the_same_scores():
    model = plain_reader.read(FILE.read_bytes())
    found = np.array([plain_reader.scores(model, row) for row in EXPECTED["rows"]])
    assert_allclose(found, EXPECTED["scores"], rtol=1e-10)
    assert [plain_reader.label(model, row) for row in EXPECTED["rows"]] == EXPECTED["labels"]
