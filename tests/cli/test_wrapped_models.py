"""Files of calibrated models on the command line: probabilities, export, what a file holds."""

import csv
import io
import json
import shutil
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear.cli import main

NAMES = ["width", "height"]


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).normal(5.0, 3.0, (90, 2)).round(9)
    return pandas.DataFrame(X, columns=NAMES), np.where(X[:, 0] > X[:, 1], "yes", "no")


@pytest.fixture
def saved(rows, tmp_path):
    """A model fitted, saved, and a table for it."""
    rows[0].to_csv(tmp_path / "new.csv", index=False)

    def make(wrap=lambda model: model, **settings):
        ours = nearlinear.LLSVMClassifier(n_anchors=6, random_state=0, **settings)
        model = wrap(make_pipeline(StandardScaler(), ours)).fit(*rows)
        nearlinear.save(model, tmp_path / "model.nlm")
        return model, str(tmp_path / "model.nlm"), str(tmp_path / "new.csv")

    return make


@pytest.fixture
def refused(refused_command):
    return partial(refused_command, "predict")


@pytest.mark.parametrize("is_calibrated", [True, False])
def test_probabilities_are_written_beside_the_labels(saved, rows, capsys, is_calibrated):
    wrap = partial(CalibratedClassifierCV, cv=3) if is_calibrated else lambda model: model
    model, file, data = saved(wrap, loss="hinge" if is_calibrated else "log_loss")
    assert main(["predict", file, data, "--proba", "--rows", "20"]) == 0
    header, *found = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header == ["prediction", "probability_no", "probability_yes"]
    assert [row[0] for row in found] == model.predict(rows[0]).tolist()
    values = np.array([row[1:] for row in found], dtype=float)
    np.testing.assert_allclose(values, model.predict_proba(rows[0]), atol=1e-12)


def test_what_a_model_does_not_have_is_told_before_rows_are_read(saved, refused):
    _, file, data = saved()
    assert "gives no probabilities" in refused(file, data, "--proba")
    _, file, data = saved(partial(CalibratedClassifierCV, cv=3))
    assert "give --proba" in refused(file, data, "--scores")


def test_a_calibrated_model_is_inspected_scored_and_exported(saved, rows, tmp_path, capsys):
    model, file, _ = saved(partial(CalibratedClassifierCV, cv=3))

    def asked(*words):
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert asked("inspect", file)["probabilities"] == "Sigmoids, the mean over 3 models"
    known = tmp_path / "known.csv"
    rows[0].assign(answer=rows[1]).to_csv(known, index=False)
    found = asked("score", file, str(known), "--target", "answer")
    assert found["accuracy"] == model.score(*rows)
    pytest.importorskip("onnxruntime")
    assert "of the probabilities" in asked("export", file, str(tmp_path / "x.onnx"))["check"]
    if shutil.which("cc"):
        assert "compiled by" in asked("export", file, str(tmp_path / "small.c"))["check"]
