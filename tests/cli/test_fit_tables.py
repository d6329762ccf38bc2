"""``nearlinear fit``: which tables it takes, and what it makes of their columns."""

import gzip
import shlex
import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest
from cli.fruit import (
    LABELS,
    METHOD,
    NAMES,
    assert_same_model,
    expected_model,
    frame_of,
    rows,
    settings,
    table,
)
from grids import in_one_test
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear.cli import main
from nearlinear.cli.tables.target import holds_values

TARGETS = {
    "text": (np.array(["x", "y", "z"] * 20), False),
    "two numbers": (np.array([0, 1000] * 30), False),
    "few numbers": (np.arange(60) % 5, False),
    "many of which each has many rows": (np.arange(600) % 50, False),
    "fractions": (np.arange(60) / 4, True),
    "different whole numbers": (np.arange(60) * 7, True),
    "many of which some are rare": (np.minimum(np.arange(600) % 50, 600), True),
    "a short table": (np.array([300, 357, 402, 380, 300, 351]), True),
}


@in_one_test("case", TARGETS)
def test_classes_and_values_are_told_apart(case):
    y, is_regression = TARGETS[case]
    if case == "many of which some are rare":
        y = np.append(y, [1000, 1001])
    assert holds_values(y) == is_regression


def test_many_numbers_are_learned_by_a_regressor_that_is_told(tmp_path, capsys):
    X, _ = rows()
    frame_of(X, np.arange(60) * 7).to_csv(tmp_path / "train.csv", index=False)
    words = ["fit", str(tmp_path / "train.csv"), "--target", "kind", "--method", "ldkl"]
    words += [*settings(max_iter=3), "--out", str(tmp_path / "model.nlm")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(words) == 0
    shown = capsys.readouterr().out
    assert "60 different numbers: a regression, by LDKLRegressor" in shown
    assert "R2" in shown


def test_a_classifier_of_many_numbers_is_told_to_be_a_regression(tmp_path, refused_fit):
    X, _ = rows()
    frame_of(X, np.arange(60) * 7).to_csv(tmp_path / "train.csv", index=False)
    words = ["--target", "kind", "--method", "LLSVMClassifier"]
    line = refused_fit(tmp_path / "train.csv", *words)
    assert "60 different numbers, which is a regression" in line
    assert "--method LDKLRegressor" in line


BAD_TABLES = {
    "infinity": (
        "a,b,kind\n1,2,x\n2,inf,y\n3,4,x\n",
        "row 2: it has an infinite number (inf) in column 'b'",
    ),
    "nothing to tell rows apart": (
        "a,b,kind\n1,z,x\n1,z,y\n1,z,x\n",
        "'a' (always 1), 'b' (always 'z')",
    ),
    "names of rows": (
        "a,kind\n1,x\n2,y\n1,z\n",
        "column 'kind': it holds 3 different classes in 3 rows",
    ),
    "a missing target": ("a,b,kind\n1,2,x\n1,2,\n", "row 2, column 'kind'"),
    "nothing to hold out": ("a,kind\n1,x\n2,y\n", "Every class has one row"),
    "no target": ("a,b,c\n1,2,x\n", "'kind'"),
    "no header": ("1,2,3\n4,5,6\n", "names"),
    "more values than names": ("a,b,kind\n1,2,3,x\n", "row 1: it has 4 values"),
    "no rows": ("a,b,kind\n", "no rows"),
    "nothing": ("", "empty"),
    "no features": ("kind\nx\ny\nx\ny\n", "no column beside 'kind'"),
    "one class": ("a,kind\n1,x\n2,x\n3,x\n4,x\n5,x\n", "two classes"),
}
UNFIT = {  # for one method, whose features are scaled already
    "text": ("a,b,kind\n1,2,x\n1,zwei,y\n", "row 2, column 'b': 'zwei' is no number"),
    "a gap": ("a,b,kind\n1,2,x\n,2,y\n", "row 2, column 'a'"),
    "a class of one row": ("a,kind\n1,x\n2,x\n3,x\n4,x\n5,why\n", "why"),
}


@in_one_test("case", BAD_TABLES | UNFIT)
def test_a_bad_table_is_one_line_that_says_where(tmp_path, refused_fit, case):
    text, sentence = (BAD_TABLES | UNFIT)[case]
    data = tmp_path / "bad.csv"
    data.write_text(text)
    line = refused_fit(data, "--target", "kind", *([*METHOD, "--no-scaling"] * (case in UNFIT)))
    assert str(data) in line
    assert sentence in line


def test_all_columns_without_numbers_are_left_out_by_one_option(tmp_path, refused_fit, fit):
    X, y = rows()
    frame = frame_of(X, y).assign(remark="it's", **{"day, hour": "2020-01-01", "gap": np.nan})
    frame.to_csv(tmp_path / "train.csv", index=False)
    line = refused_fit(tmp_path / "train.csv", "--target", "kind", *METHOD, "--no-scaling")
    option = "--drop remark,gap --drop 'day, hour'"
    assert line.endswith(f"leave all 3 such columns out with {option}")
    model = fit(tmp_path / "train.csv", "--target", "kind", *shlex.split(option))
    assert_same_model(model, expected_model())


def test_features_may_be_named(tmp_path, fit):
    model = fit(table(tmp_path), "--target", "kind", "--features", "weight,width")
    assert model[0].feature_names_in_.tolist() == ["weight", "width"]


@pytest.mark.parametrize("option", ["--drop", "--features"])
def test_columns_that_are_not_there_are_refused(tmp_path, refused_fit, option):
    line = refused_fit(table(tmp_path), "--target", "kind", option, "width,length")
    assert "there is no column 'length'; there are width, height, weight" in line
    line = refused_fit(table(tmp_path, ".npz", "whole"), option, "x")
    assert f"{option} is for CSV and Parquet" in line


FORMATS = {
    "semicolons": ({"sep": ";"}, []),
    "bars": ({"sep": "|"}, []),
    "decimal commas": ({"sep": ";", "decimal": ","}, ["--decimal", ","]),
    "another sign": ({"sep": "~"}, ["--delimiter", "~"]),
    "a named sign": ({"sep": " "}, ["--delimiter", "space"]),
    "latin": ({"encoding": "latin-1"}, ["--encoding", "latin-1"]),
    "utf-16": ({"encoding": "utf-16"}, ["--encoding", "utf-16"]),
    "gzip": ({"compression": "gzip"}, []),
}


@pytest.mark.parametrize("case", FORMATS)
def test_csv_files_of_all_kinds_give_the_same_model(tmp_path, fit, case):
    options, words = FORMATS[case]
    path = tmp_path / ("train.csv.gz" if case == "gzip" else "train.csv")
    X, y = rows()
    names = ["grö~ße" if case == "another sign" else "größe", "height, m", "weight"]
    frame_of(X, y, names).to_csv(path, index=False, **options)
    model = fit(path, "--target", "kind", *words)
    assert model[0].feature_names_in_.tolist() == names
    scores = model.decision_function(pandas.DataFrame(X, columns=names))
    np.testing.assert_array_equal(scores, expected_model().decision_function(X))


@in_one_test(
    ("words", "sentence"),
    [
        (["--delimiter", "ab"], "--delimiter ab"),
        (["--decimal", "x"], "--decimal x"),
        (["--delimiter", ",", "--decimal", ","], "differ"),
        (["--encoding", "klingon"], "--encoding klingon"),
        (["--encoding", "rot13"], "--encoding rot13"),
    ],
)
def test_formats_that_no_file_has_are_refused(tmp_path, refused_fit, words, sentence):
    assert sentence in refused_fit(table(tmp_path), "--target", "kind", *words)


def test_wrong_encodings_and_decimal_signs_are_told_with_the_option(tmp_path, refused_fit):
    X, y = rows()
    path = tmp_path / "train.csv"
    frame_of(X, y, ["größe", "b", "c"]).to_csv(path, index=False, encoding="latin-1")
    assert "--encoding latin-1" in refused_fit(path, "--target", "kind")
    frame_of(X, y).to_csv(path, index=False, sep=";", decimal=",")
    assert "give --decimal ','" in refused_fit(path, "--target", "kind")


def test_a_damaged_gzip_file_is_refused(tmp_path, refused_fit):
    path = tmp_path / "train.csv.gz"
    path.write_bytes(gzip.compress(Path(table(tmp_path)).read_bytes())[:-30])
    assert "gzip" in refused_fit(path, "--target", "kind")
    path.write_text("a,b")
    assert "gzip" in refused_fit(path, "--target", "kind")


@pytest.mark.parametrize("column", [0, 1, 3])
def test_the_target_may_be_any_column(tmp_path, fit, column):
    X, y = rows()
    frame = pandas.DataFrame(X, columns=NAMES)
    frame.insert(column, "fruit", y)
    frame.to_csv(tmp_path / "train.csv", index=False)
    model = fit(tmp_path / "train.csv", "--target", "fruit")
    assert_same_model(model, expected_model())


def test_a_target_that_is_not_named_is_asked_for(tmp_path, refused_fit):
    assert "--target" in refused_fit(table(tmp_path))


def test_arrays_without_targets_are_refused(tmp_path, refused_fit):
    np.savez(tmp_path / "train.npz", X=rows()[0])
    assert "y" in refused_fit(tmp_path / "train.npz")


@pytest.mark.parametrize("name", ["folder.csv", "missing.csv", "table.xlsx"])
def test_what_is_no_table_is_refused(tmp_path, refused_fit, name):
    (tmp_path / "folder.csv").mkdir()
    assert name in refused_fit(tmp_path / name, "--target", "kind")


def test_svmlight_rows_stay_sparse_and_are_scaled_uncentered(tmp_path, fit):
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
