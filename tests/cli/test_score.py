"""``nearlinear score``: figures are those of scikit-learn, beside a baseline."""

import json
from functools import partial

import numpy as np
import pandas
import pytest
from cli.fruit import NAMES, frame_of, rows, table
from sklearn import metrics

from nearlinear.cli import main


@pytest.fixture
def refused(refused_command):
    return partial(refused_command, "score")


def score(capsys, *words):
    assert main(["score", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def fruit(tmp_path, fit, capsys):
    """A table of fruit, a model of it and what that answers."""
    data = table(tmp_path)
    model = fit(data, "--target", "kind")
    capsys.readouterr()
    X, y = rows()
    return tmp_path / "model.nlm", data, y, model.predict(pandas.DataFrame(X, columns=NAMES))


def test_classes_have_the_figures_of_scikit_learn(fruit, capsys):
    model, data, y, answers = fruit
    found = score(capsys, model, data, "--target", "kind")
    assert found["accuracy"] == metrics.accuracy_score(y, answers)
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, answers))
    names, counts = np.unique(y, return_counts=True)
    assert (found["baseline_accuracy"], found["baseline_class"]) == (
        counts.max() / len(y),
        names[counts.argmax()],
    )
    report = metrics.classification_report(y, answers, output_dict=True)
    for name in names:
        row = found["classes"][name]
        assert row["rows"] == report[name]["support"]
        wanted = [report[name][key] for key in ("precision", "recall", "f1-score")]
        assert [row["precision"], row["recall"], row["f1"]] == pytest.approx(wanted)
    assert found["never_found"] == found["unknown"] == []


def test_classes_that_are_never_found_or_unknown_are_named(fruit, capsys, tmp_path):
    model, _, y, _ = fruit
    y = y.copy()
    y[:2] = "cherry"
    frame_of(rows()[0], y).to_csv(tmp_path / "test.csv", index=False)
    assert main(["score", str(model), str(tmp_path / "test.csv"), "--target", "kind"]) == 0
    shown = capsys.readouterr().out
    assert "never found: 'cherry' (2 rows)" in shown
    assert "the model does not know: 'cherry'" in shown
    assert "by always" in shown


def test_values_have_the_figures_of_scikit_learn(tmp_path, fit, capsys):
    data = table(tmp_path, labels="values")
    model = fit(data, "--target", "kind", "--method", "ldkl", depth=1, max_iter=5)
    capsys.readouterr()
    X, y = rows("values")
    answers = model.predict(pandas.DataFrame(X, columns=NAMES))
    found = score(capsys, tmp_path / "model.nlm", data, "--target", "kind")
    assert found["R2"] == pytest.approx(metrics.r2_score(y, answers))
    assert found["MAE"] == pytest.approx(metrics.mean_absolute_error(y, answers))
    assert found["RMSE"] == pytest.approx(metrics.mean_squared_error(y, answers) ** 0.5)
    assert found["baseline_RMSE"] == pytest.approx(np.std(y))


def test_labels_that_are_text_to_the_model_may_be_numbers_in_the_table(tmp_path, fit, capsys):
    X, y = rows("whole")
    named = np.where(y == 10, "ten", y.astype(str))
    frame_of(X, named).to_csv(tmp_path / "train.csv", index=False)
    fit(tmp_path / "train.csv", "--target", "kind")
    capsys.readouterr()
    frame_of(X[y != 10], y[y != 10]).to_csv(tmp_path / "test.csv", index=False)
    found = score(capsys, tmp_path / "model.nlm", tmp_path / "test.csv", "--target", "kind")
    assert found["accuracy"] > 0.8
    assert set(found["classes"]) == {"-1", "3"}


def test_answers_that_are_not_there_are_asked_for(fruit, refused):
    model, data, _, _ = fruit
    assert "--target" in refused(model, data)
    assert "'price'" in refused(model, data, "--target", "price")
