"""``nearlinear inspect``: what a model file holds, without loading what scores it."""

import json
import subprocess
import sys

import numpy as np
import pandas
import pytest
from forests import forest_and_rows, held
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear.cli import main

NAMES = ["width", "height", "weight"]
LABELS = {
    "text": ["apple", "pear", "plum"],
    "whole": [-1, 3, 10],
    "truth": [False, True],
}


def rows(labels):
    X = np.random.default_rng(0).normal(5.0, 3.0, (60, 3))
    if labels == "values":
        return X, X @ [1.0, -2.0, 0.5]
    groups = (X[:, 0] > 5.0).astype(int) + (X[:, 1] > X[:, 2])
    return X, np.array(LABELS[labels])[np.minimum(groups, len(LABELS[labels]) - 1)]


@pytest.fixture
def saved(tmp_path):
    """A model and its file."""

    def make(labels="text", named=True, scaled=True, model=None):
        X, y = rows(labels)
        model = model or nearlinear.LLSVMClassifier(6, n_neighbors=3, random_state=0)
        model = make_pipeline(StandardScaler(), model) if scaled else model
        model.fit(pandas.DataFrame(X, columns=NAMES) if named else X, y)
        nearlinear.save(model, tmp_path / "model.nlm")
        return model, tmp_path / "model.nlm"

    return make


def inspect_json(path, capsys):
    assert main(["inspect", str(path), "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out, parse_constant=pytest.fail)


@pytest.mark.parametrize("labels", LABELS)
def test_json_tells_method_classes_and_cost(saved, capsys, labels):
    model, path = saved(labels)
    found = inspect_json(path, capsys)
    assert (found["file"], found["bytes"]) == (str(path), path.stat().st_size)
    assert (found["method"], found["predictor"]) == ("LLSVMClassifier", "LocallyLinear")
    assert found["local_models"] == len(model[-1].anchors_)
    assert found["classes"] == LABELS[labels]
    assert (found["features"], found["feature_names"]) == (3, NAMES)
    assert found["scaled"] is True
    cost = model[-1].cost_
    assert found["cost"]["multiply_adds"] == cost.multiply_adds
    assert found["cost"]["times_linear"] == cost.times_linear
    assert found["training_rows"] == 60
    assert found["versions"]["nearlinear"] == nearlinear.__version__


def test_json_tells_the_parameters(saved, capsys):
    model, path = saved()
    parameters = inspect_json(path, capsys)["parameters"]
    assert parameters == model[-1].get_params()


def test_parameters_that_are_objects_are_told_in_words(saved, capsys):
    kernels = [nearlinear.kernels.Gaussian(0.5), nearlinear.kernels.Linear()]
    _, path = saved(model=nearlinear.UniformMKLClassifier(kernels))
    parameters = inspect_json(path, capsys)["parameters"]
    assert isinstance(parameters["kernels"], str)
    assert "Gaussian" in parameters["kernels"]
    assert "0x" not in parameters["kernels"]  # where an object lies in memory is nobody's business


def test_a_regressor_has_no_classes(saved, capsys):
    model = nearlinear.LDKLRegressor(1, max_iter=3, random_state=0)
    _, path = saved("values", named=False, scaled=False, model=model)
    found = inspect_json(path, capsys)
    assert (found["method"], found["predictor"]) == ("LDKLRegressor", "TreePath")
    assert found["classes"] is found["feature_names"] is None
    assert found["scaled"] is False


def test_people_are_told_in_lines(saved, capsys):
    _, path = saved()
    assert main(["inspect", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = {line[:18].strip(): line[18:].strip() for line in lines}
    assert told["method"] == "LLSVMClassifier"
    assert told["classes"] == "apple, pear, plum"
    assert told["feature names"] == "width, height, weight"
    assert "n_anchors 6" in told["parameters"]
    assert "multiply_adds" in told["cost"]
    assert len(told) == len(lines)


def test_a_long_list_is_cut_for_people_and_whole_for_programs(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((60, 40))
    names = [f"column{k}" for k in range(40)]
    model = nearlinear.LLSVMClassifier(4, n_neighbors=2, random_state=0)
    model.fit(pandas.DataFrame(X, columns=names), X[:, 0] > 0)
    nearlinear.save(model, tmp_path / "model.nlm")
    assert inspect_json(tmp_path / "model.nlm", capsys)["feature_names"] == names
    assert main(["inspect", str(tmp_path / "model.nlm")]) == 0
    shown = capsys.readouterr().out
    assert "column11, ... (40)" in shown
    assert "column12" not in shown


@pytest.mark.parametrize("place", [3, 14, 30, 200, -3])
def test_a_damaged_file_is_one_line(saved, capsys, place):
    _, path = saved()
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)
    assert main(["inspect", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("nearlinear inspect: ")
    assert str(path) in line


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89NLM\r\n\x1a\n"])
def test_what_is_no_model_is_one_line(tmp_path, capsys, content):
    path = tmp_path / "model.nlm"
    path.write_bytes(content)
    assert main(["inspect", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line


def test_a_model_cut_short_is_one_line(saved, capsys):
    _, path = saved()
    path.write_bytes(path.read_bytes()[:-50])
    assert main(["inspect", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(path) in line


@pytest.mark.parametrize(("name", "word"), [("folder", "folder"), ("missing.nlm", "no such file")])
def test_what_is_no_file_is_one_line(tmp_path, capsys, name, word):
    (tmp_path / "folder").mkdir()
    assert main(["inspect", str(tmp_path / name)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path / name) in line
    assert word in line


def test_nothing_heavy_is_imported_to_look_at_a_file(saved):
    _, path = saved()
    source = (
        "import sys\n"
        "from nearlinear.cli import main\n"
        f"assert main(['inspect', {str(path)!r}, '--json']) == 0\n"
        "heavy = {'numba', 'sklearn', 'scipy', 'pandas', 'pyarrow', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    shown = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert shown.stdout.splitlines()[-1] == "[]", shown.stderr


def test_the_size_of_a_forest_is_told_in_words(tmp_path, capsys):
    path = tmp_path / "forest.nlm"
    found = {}
    for name in ("sets", "slopes"):
        nearlinear.save(held(forest_and_rows(name)[0]), path)
        found[name] = inspect_json(path, capsys)["forest"]
    assert found == {
        "sets": "6 trees, 20 leaves each, 2 pair columns, 17 sets of categories",
        "slopes": "5 trees, 12 leaves each, 2 pair columns, 3 slopes a leaf, a linear root",
    }
