"""``nearlinear fit``, as a user would type it."""

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear.cli import main
from nearlinear.estimators.learned_anchors import LLCSAPLClassifier

NAMES = ["width", "height", "weight"]
SMALL = {"n_anchors": 6, "n_neighbors": 3, "max_iter": 3}
LABELS = {
    "text": np.array(["apple", "pear, green", "plum"]),
    "whole": np.array([-1, 3, 10]),
    "truth": np.array([False, True]),
}


def rows(labels="text", n_rows=60):
    X = np.random.default_rng(0).normal(5.0, 3.0, (n_rows, 3)).round(9)
    groups = (X[:, 0] > 5.0).astype(int) + (X[:, 1] > X[:, 2])
    if labels == "values":
        return X, (X @ [1.0, -2.0, 0.5]).round(9)
    return X, LABELS[labels][np.minimum(groups, len(LABELS[labels]) - 1)]


def frame_of(X, y, names=NAMES):
    return pandas.DataFrame(X, columns=names).assign(kind=y)


def table(folder, ending=".csv", labels="text"):
    path, (X, y) = folder / f"train{ending}", rows(labels)
    if ending in (".csv", ".tsv"):
        frame_of(X, y).to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    elif ending == ".parquet":
        frame_of(X, y).to_parquet(path, row_group_size=7)
    elif ending == ".npz":
        np.savez(path, X=X, y=y)
    else:
        dump_svmlight_file(X, y, str(path), zero_based=False)
    return str(path)


def settings(**values):
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


@pytest.fixture
def fit(tmp_path):
    """Fits a small model of a table; gives what is loaded from its file."""

    def run(data, *arguments, **values):
        out = tmp_path / "model.nlm"
        words = ["fit", str(data), "--out", str(out), *settings(**(values or SMALL)), *arguments]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert main(words) == 0
        return nearlinear.load(out)

    return run


def expected_model(labels="text"):
    """What the library makes of the same rows."""
    X, y = rows(labels)
    model = LLCSAPLClassifier(random_state=0, **SMALL)
    return make_pipeline(StandardScaler(), model).fit(X, y)


def assert_same_model(found, expected, named=True):
    X, _ = rows()
    scores = found.decision_function(pandas.DataFrame(X, columns=NAMES) if named else X)
    np.testing.assert_array_equal(scores, expected.decision_function(X))
    assert found.classes_.tolist() == expected.classes_.tolist()


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_a_table_with_names_gives_the_model_of_the_library(tmp_path, fit, ending):
    model = fit(table(tmp_path, ending), "--target", "kind")
    assert_same_model(model, expected_model())
    assert model[0].feature_names_in_.tolist() == NAMES


def test_arrays_give_the_model_of_the_library(tmp_path, fit):
    model = fit(table(tmp_path, ".npz", "whole"))
    assert_same_model(model, expected_model("whole"), named=False)


def test_svmlight_rows_stay_sparse_and_are_scaled_uncentred(tmp_path, fit):
    model = fit(table(tmp_path, ".svmlight", "whole"))
    assert (model[0].with_mean, model[0].with_std) == (False, True)
    assert model.classes_.tolist() == [-1, 3, 10]
    X, y = rows("whole")
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("method", ["MLLKMClassifier", "LLSVMClassifier"])
def test_svmlight_rows_are_taken_by_methods_with_and_without_sparse_rows(tmp_path, fit, method):
    model = fit(table(tmp_path, ".svmlight", "truth"), "--method", method, C=1.0)
    X, y = rows("truth")
    assert model.score(X, y.astype(int)) > 0.8


@pytest.mark.parametrize("labels", LABELS)
def test_labels_are_kept_as_they_were_given(tmp_path, fit, labels):
    model = fit(table(tmp_path, labels=labels), "--target", "kind")
    assert model.classes_.tolist() == LABELS[labels].tolist()
    assert {type(label) for label in model.classes_.tolist()} == {type(LABELS[labels].tolist()[0])}


def test_values_are_learned_by_a_regressor(tmp_path, fit):
    data = table(tmp_path, labels="values")
    words = ["--target", "kind", "--method", "LDKLRegressor"]
    model = fit(data, *words, depth=1, max_iter=5)
    X, y = rows("values")
    estimator = nearlinear.LDKLRegressor(depth=1, max_iter=5, random_state=0)
    expected = make_pipeline(StandardScaler(), estimator).fit(X, y).predict(X)
    found = model.predict(pandas.DataFrame(X, columns=NAMES))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("column", [0, 1, 3])
def test_the_target_may_be_any_column(tmp_path, fit, column):
    X, y = rows()
    frame = pandas.DataFrame(X, columns=NAMES)
    frame.insert(column, "fruit", y)
    frame.to_csv(tmp_path / "train.csv", index=False)
    model = fit(tmp_path / "train.csv", "--target", "fruit")
    assert_same_model(model, expected_model())


def test_parameters_are_those_that_were_set(tmp_path, fit):
    model = fit(
        table(tmp_path), "--target", "kind",
        n_anchors=5, C=0.25, max_iter=2, loss="hinge", class_weight="{'apple': 2.0}",
        learn_metric=False, n_jobs=None,
    )  # fmt: skip
    found = model[-1].get_params()
    assert (found["n_anchors"], found["C"], found["max_iter"]) == (5, 0.25, 2)
    assert (found["loss"], found["learn_metric"]) == ("hinge", False)
    assert found["class_weight"] == {"apple": 2.0}


@pytest.mark.parametrize(("arguments", "seed"), [([], 0), (["--seed", "7"], 7)])
def test_the_seed_is_that_of_the_estimator(tmp_path, fit, arguments, seed):
    model = fit(table(tmp_path), "--target", "kind", *arguments)
    assert model[-1].random_state == seed


def test_a_random_state_that_is_set_goes_before_the_seed(tmp_path, fit):
    model = fit(table(tmp_path), "--target", "kind", "--seed", "7", **SMALL, random_state=3)
    assert model[-1].random_state == 3


def test_rows_that_are_scaled_already_stay_as_they_are(tmp_path, fit):
    model = fit(table(tmp_path, labels="whole"), "--target", "kind", "--no-scaling")
    X, y = rows("whole")
    expected = LLCSAPLClassifier(random_state=0, **SMALL).fit(X, y).decision_function(X)
    found = model.decision_function(pandas.DataFrame(X, columns=NAMES))
    np.testing.assert_array_equal(found, expected)


def fit_json(data, out, capsys, *arguments):
    words = ["fit", str(data), "--out", str(out), "--json", *settings(**SMALL), *arguments]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out)


def test_json_tells_what_was_made(tmp_path, capsys):
    out = tmp_path / "model.nlm"
    found = fit_json(table(tmp_path), out, capsys, "--target", "kind")
    model = expected_model()
    assert (found["model"], found["method"]) == (str(out), "LLCSAPLClassifier")
    assert (found["rows"], found["features"]) == (60, 3)
    assert found["bytes"] == out.stat().st_size
    assert found["multiply_adds"] == model[-1].cost_.multiply_adds
    assert found["times_linear"] == model[-1].cost_.times_linear
    assert found["seconds"] >= 0.0


def test_the_score_is_that_of_rows_that_were_held_out(tmp_path, capsys):
    found = fit_json(
        table(tmp_path), tmp_path / "m.nlm", capsys, "--target", "kind", "--hold-out", "0.3"
    )
    X, y = rows()
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    X_train, X_test, y_train, y_test = parts
    tried = make_pipeline(StandardScaler(), LLCSAPLClassifier(random_state=0, **SMALL))
    score = tried.fit(X_train, y_train).score(X_test, y_test)
    assert found["held_out_accuracy"] == pytest.approx(score)
    assert nearlinear.load(tmp_path / "m.nlm")[-1].validation_score_ == pytest.approx(score)


def test_without_held_out_rows_there_is_no_score(tmp_path, capsys):
    words = "--target", "kind", "--hold-out", "0"
    found = fit_json(table(tmp_path), tmp_path / "model.nlm", capsys, *words)
    assert found["held_out_accuracy"] is None


def test_people_are_told_in_words(tmp_path, capsys):
    out = tmp_path / "model.nlm"
    words = ["fit", table(tmp_path), "--target", "kind", "--out", str(out), *settings(**SMALL)]
    assert main(words) == 0
    captured = capsys.readouterr()
    assert "60 rows of 3 features, accuracy 0." in captured.out or "accuracy 1." in captured.out
    assert str(out) in captured.out
    assert captured.err.splitlines() == ["trying LLCSAPLClassifier on 12 held-out rows"]


def test_an_earlier_model_is_replaced(tmp_path, fit):
    (tmp_path / "model.nlm").write_text("old")
    fit(table(tmp_path), "--target", "kind")
    assert {path.name for path in tmp_path.iterdir()} == {"train.csv", "model.nlm"}


@pytest.fixture
def refused(capsys, tmp_path):
    """Runs a command that must fail with one line, and leaves no trace; gives that line."""

    def run(data, *arguments, out="model.nlm"):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
        words = ["fit", str(data), "--out", str(tmp_path / out), "--json", *map(str, arguments)]
        assert main(words) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        assert line.startswith("nearlinear fit: ")
        assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        return line

    return run


BAD_TABLES = {
    "text": ("a,b,kind\n1,2,x\n1,zwei,y\n", "row 2, column 'b': 'zwei' is no number"),
    "a gap": ("a,b,kind\n1,2,x\n,2,y\n", "row 2, column 'a'"),
    "a missing target": ("a,b,kind\n1,2,x\n1,2,\n", "row 2, column 'kind'"),
    "no target": ("a,b,c\n1,2,x\n", "'kind'"),
    "no header": ("1,2,3\n4,5,6\n", "names"),
    "more values than names": ("a,b,kind\n1,2,3,x\n", "row 1: it has 4 values"),
    "no rows": ("a,b,kind\n", "no rows"),
    "nothing": ("", "empty"),
    "no features": ("kind\nx\ny\nx\ny\n", "no column beside 'kind'"),
    "one class": ("a,kind\n1,x\n2,x\n3,x\n4,x\n5,x\n", "two classes"),
    "a class of one row": ("a,kind\n1,x\n2,x\n3,x\n4,x\n5,why\n", "why"),
    "real numbers": ("a,kind\n1,0.5\n2,0.25\n3,1.5\n4,7.5\n5,9.5\n", "regressor"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_a_bad_table_is_one_line_that_says_where(tmp_path, refused, case):
    text, sentence = BAD_TABLES[case]
    data = tmp_path / "bad.csv"
    data.write_text(text)
    line = refused(data, "--target", "kind")
    assert str(data) in line
    assert sentence in line


def test_a_regressor_refuses_text(tmp_path, refused):
    line = refused(table(tmp_path), "--target", "kind", "--method", "LDKLRegressor")
    assert "column 'kind'" in line
    assert "classifier" in line


def test_a_target_that_is_not_named_is_asked_for(tmp_path, refused):
    assert "--target" in refused(table(tmp_path))


def test_arrays_without_targets_are_refused(tmp_path, refused):
    np.savez(tmp_path / "train.npz", X=rows()[0])
    assert "y" in refused(tmp_path / "train.npz")


def test_an_unknown_method_is_refused_with_those_there_are(tmp_path, refused):
    line = refused(table(tmp_path), "--target", "kind", "--method", "LDKL")
    assert "--method LDKL" in line
    assert "LDKLClassifier, LDKLRegressor" in line


@pytest.mark.parametrize("method", ["load", "kernels", "__version__"])
def test_a_public_name_that_is_no_estimator_is_no_method(tmp_path, refused, method):
    assert "--method" in refused(table(tmp_path), "--target", "kind", "--method", method)


def test_an_unknown_parameter_is_refused_with_those_there_are(tmp_path, refused):
    line = refused(table(tmp_path), "--target", "kind", "--set", "anchors_count=3")
    assert "--set anchors_count" in line
    assert "n_anchors" in line


@pytest.mark.parametrize("words", ["C", "=3", ""])
def test_a_setting_without_a_value_is_refused(tmp_path, refused, words):
    assert "NAME=VALUE" in refused(table(tmp_path), "--target", "kind", "--set", words)


@pytest.mark.parametrize(
    "value", ["-1", "abc", "[1, 2]", "{[]: 1}", "1e999", "nan", "None", "(" * 400, ""]
)
def test_a_parameter_of_a_wrong_value_is_refused_before_the_table_is_read(tmp_path, refused, value):
    assert "'C'" in refused(tmp_path / "missing.csv", "--target", "kind", "--set", f"C={value}")


@pytest.mark.parametrize("share", ["-0.1", "1", "2", "nan"])
def test_a_share_that_is_none_is_refused(tmp_path, refused, share):
    assert "--hold-out" in refused(table(tmp_path), "--target", "kind", "--hold-out", share)


@pytest.mark.parametrize("seed", ["-1", "4294967296"])
def test_a_seed_that_is_none_is_refused(tmp_path, refused, seed):
    assert "--seed" in refused(table(tmp_path), "--target", "kind", "--seed", seed)


def test_held_out_rows_that_cannot_show_every_class_are_told(tmp_path, refused):
    X, _ = rows(n_rows=8)
    frame_of(X, np.array(["x", "y"] * 4)).to_csv(tmp_path / "train.csv", index=False)
    line = refused(tmp_path / "train.csv", "--target", "kind", "--hold-out", "0.05")
    assert "--hold-out" in line


def test_a_method_without_a_file_is_refused(tmp_path, refused):
    line = refused(table(tmp_path), "--target", "kind", "--method", "SVMKNNClassifier")
    assert "SVMKNNClassifier" in line


@pytest.mark.parametrize("out", ["missing/model.nlm", "folder", "train.csv/model.nlm"])
def test_a_place_where_nothing_can_be_written_is_refused_before_any_work(tmp_path, refused, out):
    (tmp_path / "folder").mkdir()
    data = table(tmp_path)
    assert str(tmp_path / out) in refused(data, "--target", "price", out=out)


def test_a_folder_that_must_not_be_written_is_refused(tmp_path, refused, monkeypatch):
    data = table(tmp_path)
    # root may write everywhere, so the folder is shut by hand
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "permission" in refused(data, "--target", "kind")


@pytest.mark.parametrize("name", ["folder.csv", "missing.csv", "table.xlsx"])
def test_what_is_no_table_is_refused(tmp_path, refused, name):
    (tmp_path / "folder.csv").mkdir()
    assert name in refused(tmp_path / name, "--target", "kind")


def test_a_table_that_is_too_large_for_a_method_is_refused(tmp_path, refused):
    words = ["--method", "UniformMKLClassifier", "--set", "max_memory=10"]
    assert "max_memory" in refused(table(tmp_path), "--target", "kind", *words)


def test_ctrl_c_before_there_is_a_model_leaves_no_file(tmp_path, capsys, monkeypatch):
    def interrupted(self, rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(LLCSAPLClassifier, "_learn", interrupted)
    words = ["fit", table(tmp_path), "--target", "kind", "--out", str(tmp_path / "model.nlm")]
    assert main(words) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "nearlinear fit: interrupted"
    assert {path.name for path in tmp_path.iterdir()} == {"train.csv"}


def test_fit_and_predict_in_a_shell(tmp_path):
    program = f"{sys.executable} -m nearlinear"
    data = table(tmp_path)
    words = " ".join(settings(**SMALL))
    line = (
        f"{program} fit {data} --target kind --out m.nlm --json {words} && "
        f"{program} predict m.nlm {data} --out answers.csv"
    )
    shown = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert json.loads(shown.stdout)["rows"] == 60
    answers = pandas.read_csv(tmp_path / "answers.csv")["prediction"].tolist()
    assert answers == expected_model().predict(rows()[0]).tolist()
