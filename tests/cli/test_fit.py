"""``nearlinear fit``, as a user would type it."""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas
import pytest
from cli.fruit import (
    METHOD,
    NAMES,
    SMALL,
    assert_same_model,
    expected_model,
    frame_of,
    rows,
    settings,
    table,
)
from grids import in_one_test
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear._warn import warn_user
from nearlinear.cli import main
from nearlinear.estimators.llc_sapl import LLCSAPLClassifier


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_a_table_with_names_gives_the_model_of_the_library(tmp_path, fit, ending):
    model = fit(table(tmp_path, ending), "--target", "kind")
    assert_same_model(model, expected_model())
    assert model[0].feature_names_in_.tolist() == NAMES


def test_arrays_give_the_model_of_the_library(tmp_path, fit):
    model = fit(table(tmp_path, ".npz", "whole"))
    assert_same_model(model, expected_model("whole"), named=False)


def test_forests_take_empty_cells(tmp_path, fit):
    frame = frame_of(*rows("text"))
    frame.iloc[::5, 0] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    trees = {"n_trees": 2, "pairs": 0, "linear_root": False, "leaf_penalty": None}
    model = fit(tmp_path / "gaps.csv", "--target", "kind", "--method", "localforest", **trees)
    assert model.predict(frame[NAMES])[0] in set(frame["kind"])


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
    words = ["fit", str(data), "--out", str(out), "--json", *METHOD, *settings(**SMALL), *arguments]
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
    assert main([*words, *METHOD]) == 0
    captured = capsys.readouterr()
    assert "60 rows of 3 features, accuracy 0." in captured.out or "accuracy 1." in captured.out
    assert str(out) in captured.out
    assert captured.err.splitlines() == [
        f"[1/3] reading {table(tmp_path)}",
        "[2/3] trying LLCSAPLClassifier on 12 held-out rows",
        "[3/3] fitting LLCSAPLClassifier to all 60 rows",
    ]


def test_an_earlier_model_is_replaced_by_force(tmp_path, fit):
    (tmp_path / "model.nlm").write_text("old")
    fit(table(tmp_path), "--target", "kind", "--force")
    assert {path.name for path in tmp_path.iterdir()} == {"train.csv", "model.nlm"}


def test_training_rows_are_never_overwritten(tmp_path, refused_fit):
    line = refused_fit(table(tmp_path), "--target", "kind", "--force", out="train.csv")
    assert "train.csv is the input" in line


def test_an_earlier_model_is_kept_without_force(tmp_path, refused_fit):
    (tmp_path / "model.nlm").write_text("old")
    assert "model.nlm exists (3 bytes" in refused_fit(table(tmp_path), "--target", "kind")


@in_one_test(
    ("data", "words", "sentence"),
    [
        ("train.csv", ["--target", "sort"], "there is no column 'sort'"),
        ("train.csv", ["--target", "kind", "--drop", "depth"], "there is no column 'depth'"),
        ("train.csv", [], "name the column to predict with --target"),
        ("other.csv", ["--target", "kind"], "other.csv: there is no such file"),
    ],
)
def test_an_earlier_model_hides_nothing_that_is_wrong_with_the_input(
    tmp_path, refused_command, data, words, sentence
):
    (tmp_path / "old.html").write_bytes(b"old")
    table(tmp_path)
    for command, option in (("fit", "--out"), ("fit", "--report"), ("compare", "--report")):
        line = refused_command(command, tmp_path / data, option, tmp_path / "old.html", *words)
        assert sentence in line


def test_classes_that_were_never_found_are_named(tmp_path, capsys):
    X = np.zeros((60, 1))
    frame_of(X, np.array(["often"] * 50 + ["rare"] * 10), ["a"]).to_csv(
        tmp_path / "train.csv", index=False
    )
    words = ["fit", str(tmp_path / "train.csv"), "--target", "kind", "--method", "csvm"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main([*words, "--out", str(tmp_path / "model.nlm")]) == 0
    assert "never found: 'rare' (2 rows)" in capsys.readouterr().out


def test_warnings_are_notes_without_paths(tmp_path, capsys, monkeypatch):
    learn = LLCSAPLClassifier._learn

    def warning(self, rows):
        warn_user("The rows are odd.")
        return learn(self, rows)

    monkeypatch.setattr(LLCSAPLClassifier, "_learn", warning)
    words = ["fit", table(tmp_path), "--target", "kind", *METHOD, *settings(**SMALL)]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main([*words, "--out", str(tmp_path / "model.nlm")]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "odd" in line]
    assert notes == ["nearlinear fit: note: The rows are odd."]


def test_a_regressor_refuses_text(tmp_path, refused_fit):
    line = refused_fit(table(tmp_path), "--target", "kind", "--method", "LDKLRegressor")
    assert "column 'kind'" in line
    assert "classifier" in line


def test_an_unknown_method_is_refused_with_a_near_one_and_those_there_are(tmp_path, refused_fit):
    line = refused_fit(table(tmp_path), "--target", "kind", "--method", "LDKKL")
    assert "--method LDKKL: did you mean LDKLClassifier or LDMKLClassifier?" in line
    assert "ldkl, ldmkl, llcsapl, llsvm" in line


@pytest.mark.parametrize("name", ["ldkl", "LDKL", "ldklclassifier", "csvm", "Clustered-SVM"])
def test_a_method_has_short_names_in_any_case(tmp_path, fit, name):
    values = {"C": 1.0}
    model = fit(table(tmp_path), "--target", "kind", "--method", name, **values)
    wanted = "LDKLClassifier" if "ldkl" in name.lower() else "ClusteredSVMClassifier"
    assert type(model[-1]).__name__ == wanted


@in_one_test("method", ["load", "kernels", "__version__"])
def test_a_public_name_that_is_no_estimator_is_no_method(tmp_path, refused_fit, method):
    assert "--method" in refused_fit(table(tmp_path), "--target", "kind", "--method", method)


def test_an_unknown_parameter_is_refused_with_those_there_are(tmp_path, refused_fit):
    line = refused_fit(table(tmp_path), "--target", "kind", *METHOD, "--set", "anchors_count=3")
    assert "--set anchors_count" in line
    assert "n_anchors" in line


@in_one_test("words", ["C", "=3", ""])
def test_a_setting_without_a_value_is_refused(tmp_path, refused_fit, words):
    assert "NAME=VALUE" in refused_fit(table(tmp_path), "--target", "kind", "--set", words)


@in_one_test("value", ["-1", "abc", "[1, 2]", "{[]: 1}", "1e999", "nan", "None", "(" * 400, ""])
def test_a_wrong_value_of_a_parameter_is_refused_before_the_table_is_read(
    tmp_path, refused_fit, value
):
    words = ["--target", "kind", *METHOD, "--set", f"C={value}"]
    assert "'C'" in refused_fit(tmp_path / "missing.csv", *words)


@in_one_test("share", ["-0.1", "1", "2", "nan"])
def test_a_share_that_is_none_is_refused(tmp_path, refused_fit, share):
    assert "--hold-out" in refused_fit(table(tmp_path), "--target", "kind", "--hold-out", share)


@pytest.mark.parametrize("seed", ["-1", "4294967296"])
def test_a_seed_that_is_none_is_refused(tmp_path, refused_fit, seed):
    assert "--seed" in refused_fit(table(tmp_path), "--target", "kind", "--seed", seed)


def test_held_out_rows_that_cannot_show_every_class_are_told(tmp_path, refused_fit):
    X, _ = rows(n_rows=8)
    frame_of(X, np.array(["x", "y"] * 4)).to_csv(tmp_path / "train.csv", index=False)
    words = ["--target", "kind", *METHOD, "--hold-out", "0.05"]
    line = refused_fit(tmp_path / "train.csv", *words)
    assert "--hold-out" in line


def test_a_method_without_a_file_is_refused(tmp_path, refused_fit):
    line = refused_fit(table(tmp_path), "--target", "kind", "--method", "SVMKNNClassifier")
    assert "SVMKNNClassifier" in line


@pytest.mark.parametrize("out", ["missing/model.nlm", "folder", "train.csv/model.nlm"])
def test_a_place_where_nothing_can_be_written_is_refused_at_once(tmp_path, refused_fit, out):
    (tmp_path / "folder").mkdir()
    data = table(tmp_path)
    assert str(tmp_path / out) in refused_fit(data, "--target", "price", out=out)


def test_a_folder_that_must_not_be_written_is_refused(tmp_path, refused_fit, monkeypatch):
    data = table(tmp_path)
    # root may write everywhere, so the folder is shut by hand
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "permission" in refused_fit(data, "--target", "kind")


def test_a_table_that_is_too_large_for_a_method_is_refused(tmp_path, refused_fit, monkeypatch):
    words = ["--method", "UniformMKLClassifier", "--hold-out", "0"]
    monkeypatch.setenv("NEARLINEAR_MAX_MEMORY", "100kB")
    assert "max_memory" in refused_fit(table(tmp_path), "--target", "kind", *words)


def test_ctrl_c_before_there_is_a_model_leaves_no_file(tmp_path, capsys, monkeypatch):
    def interrupted(self, rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(LLCSAPLClassifier, "_learn", interrupted)
    words = ["fit", table(tmp_path), "--target", "kind", "--out", str(tmp_path / "model.nlm")]
    assert main([*words, *METHOD]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "nearlinear fit: interrupted"
    assert {path.name for path in tmp_path.iterdir()} == {"train.csv"}


def test_ctrl_c_ends_the_command_even_if_a_fit_goes_on(tmp_path, capsys, monkeypatch):
    """A fit keeps its best model on Ctrl-C; the command does not, or a poor one would replace."""
    learn = LLCSAPLClassifier._learn

    def going_on(self, rows):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return learn(self, rows)

    monkeypatch.setattr(LLCSAPLClassifier, "_learn", going_on)
    out = tmp_path / "model.nlm"
    out.write_text("old")
    words = ["fit", table(tmp_path), "--target", "kind", "--out", str(out), "--force"]
    assert main([*words, *METHOD, *settings(**SMALL)]) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "nearlinear fit: interrupted"
    assert out.read_text() == "old"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_model_goes_to_standard_output(tmp_path):
    program = f"{shlex.quote(sys.executable)} -m nearlinear"
    words = " ".join([*METHOD, *settings(**SMALL)])
    words += " --set verbose=1"  # what a fit tells goes elsewhere
    line = f"{program} fit {table(tmp_path)} --target kind {words} --out - > m.nlm"
    shown = subprocess.run(["bash", "-c", line], capture_output=True, cwd=tmp_path, timeout=120)
    assert (shown.returncode, shown.stdout) == (0, b"")
    assert_same_model(nearlinear.load(tmp_path / "m.nlm"), expected_model())
    assert not (tmp_path / "-").exists()


def test_fit_and_predict_in_a_shell(tmp_path):
    program = f"{shlex.quote(sys.executable)} -m nearlinear"
    data = table(tmp_path)
    words = " ".join([*METHOD, *settings(**SMALL)])
    line = (
        f"{program} fit {data} --target kind --out m.nlm --json {words} && "
        f"{program} predict m.nlm {data} --out answers.csv"
    )
    shown = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    note = (
        "nearlinear predict: note: Columns of X that were not seen at fit time are ignored: 'kind'."
    )
    assert (shown.returncode, shown.stderr.splitlines()) == (0, [note])
    assert json.loads(shown.stdout)["rows"] == 60
    answers = pandas.read_csv(tmp_path / "answers.csv")["prediction"].tolist()
    assert answers == expected_model().predict(rows()[0]).tolist()
