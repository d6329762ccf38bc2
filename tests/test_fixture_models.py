"""Stored files have the scores of the models that were saved: one file for every kind of model.

``fixtures/models/scores.json`` holds, for each file, rows and what its model answered: ``loaded``
by ``nearlinear.load``, ``runtime`` by ``nearlinear.runtime``. Rows of a model with a second matrix
for its gate have the columns of both. Sums of another processor may be rounded differently, so
answers are compared to rounding; where the files were written ``np.array_equal`` holds as well.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import sklearn.calibration
from grids import in_one_test
from numpy.testing import assert_allclose

import nearlinear
import nearlinear.runtime

FOLDER = Path(__file__).parent / "fixtures" / "models"
SCORES = json.loads((FOLDER / "scores.json").read_text("utf-8"))
# relative to the largest answer
ROUNDING = {"float64": 1e-12, "float32": 1e-5}
HAS_TEMPERATURES = hasattr(sklearn.calibration, "_TemperatureScaling")  # scikit-learn 1.8


def rows_of(name):
    return np.array(SCORES[name]["rows"], dtype=SCORES[name]["dtype"])


def check_answers(name, kind, answers):
    for method, expected in SCORES[name][kind].items():
        expected = np.array(expected)
        rounding = ROUNDING[SCORES[name]["dtype"]]
        atol = rounding * np.abs(expected).max()
        assert_allclose(answers(method), expected, rtol=0, atol=atol, err_msg=method)


def test_every_file_has_scores():
    assert sorted(SCORES) == sorted(path.stem for path in FOLDER.glob("*.nlm"))


@in_one_test("name", SCORES)
def test_a_loaded_model_scores_as_it_did(name):
    if name == "calibrated_temperature" and not HAS_TEMPERATURES:
        pytest.skip("this scikit-learn has no temperatures")
    model = nearlinear.load(FOLDER / f"{name}.nlm")
    rows, n_features = rows_of(name), model.n_features_in_
    gating = {} if rows.shape[1] == n_features else {"gating": rows[:, n_features:]}
    check_answers(
        name, "loaded", lambda method: getattr(model, method)(rows[:, :n_features], **gating)
    )


@in_one_test("name", SCORES)
def test_the_runtime_scores_as_it_did(name):
    model = nearlinear.runtime.load(FOLDER / f"{name}.nlm")
    check_answers(name, "runtime", lambda method: getattr(model, method)(rows_of(name)))
