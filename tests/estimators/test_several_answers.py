"""Several labels or values a row, from one tree."""

import numpy as np
import pytest
from onnxruntime import InferenceSession
from scipy.sparse import csr_matrix
from shipping import assert_ships
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.utils import estimator_checks as checks

import nearlinear
import nearlinear.runtime
from nearlinear import LDKLClassifier, LDKLRegressor
from nearlinear.cli import main
from nearlinear.export.onnx.graph import to_onnx

QUICK = {"depth": 2, "max_iter": 20, "random_state": 0}


@pytest.fixture(scope="module")
def labels():
    return make_multilabel_classification(150, 5, n_classes=3, n_labels=2, random_state=0)


@pytest.fixture(scope="module")
def values():
    X = np.random.default_rng(0).standard_normal((200, 3))
    return X, np.column_stack([np.abs(X[:, 0]), 1000.0 * X[:, 1] * X[:, 2] + 5e4])


def test_scikit_learns_checks_of_several_answers_hold():
    model, regressor = LDKLClassifier(**QUICK), LDKLRegressor(**QUICK)
    name = "LDKLClassifier"
    checks.check_classifier_multioutput(name, model)
    checks.check_classifiers_multilabel_representation_invariance(name, model)
    for method in ("predict", "predict_proba", "decision_function"):
        check = f"check_classifiers_multilabel_output_format_{method}"
        getattr(checks, check)(name, model)
    checks.check_regressor_multioutput("LDKLRegressor", regressor)


@pytest.mark.parametrize(
    ("loss", "settings"),
    [
        ("log_loss", {}),
        ("hinge", {"pruning": "l2"}),
        ("log_loss", {"global_features": "quadratic"}),
    ],
)
def test_labels_ship(labels, tmp_path, settings, loss):
    X, Y = labels
    model = LDKLClassifier(loss=loss, **QUICK, **settings).fit(X, Y)
    assert_ships(model, X, tmp_path)
    assert model.predict(X).shape == Y.shape
    assert settings or np.mean(model.predict(X) == Y) > 0.8
    read = nearlinear.runtime.load(tmp_path / "model.nlm")
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    session = InferenceSession(to_onnx(model).SerializeToString())
    np.testing.assert_array_equal(session.run(["label"], {"X": X})[0], model.predict(X))
    if loss == "log_loss":
        found = model.predict_proba(X)
        expected = 1.0 / (1.0 + np.exp(-model.decision_function(X)))
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(read.predict_proba(X), expected)
        np.testing.assert_allclose(model.compile().predict_proba(X[0]), expected[0])
        np.testing.assert_allclose(session.run(["probabilities"], {"X": X})[0], expected)


def test_values_ship_and_each_is_learned_in_its_own_unit(values, tmp_path):
    X, Y = values
    model = LDKLRegressor(4, C=10.0, jitter=0.0, max_iter=100, random_state=0).fit(X, Y)
    assert_ships(model, X, tmp_path)
    left = np.mean((model.predict(X) - Y) ** 2, axis=0) / Y.var(axis=0)
    assert np.all(left < 0.1)
    moved = clone(model).fit(X, Y * [1e3, 1e-3])
    np.testing.assert_allclose(moved.predict(X), model.predict(X) * [1e3, 1e-3], rtol=1e-6)


def test_the_depth_may_be_searched_for(labels, values):
    model = LDKLClassifier(max_iter=5, random_state=0).fit(*labels)
    assert len(model.settings_tried_) > 0
    assert LDKLRegressor(max_iter=5, random_state=0).fit(*values).predict(values[0]).ndim == 2


@pytest.mark.parametrize("kind", [LDKLClassifier, LDKLRegressor])
def test_weight_k_is_k_copies_and_order_does_not_matter(labels, kind):
    X, Y = labels
    model = kind(n_trees=1, **QUICK)
    copies = np.arange(len(X)) % 3
    weighted = clone(model).fit(X, Y, sample_weight=copies).predict(X)
    order = np.random.default_rng(0).permutation(copies.sum())
    repeated = clone(model).fit(np.repeat(X, copies, 0)[order], np.repeat(Y, copies, 0)[order])
    np.testing.assert_array_equal(repeated.predict(X), weighted)


def test_float32_and_sparse_rows_and_sparse_labels_are_taken(labels):
    X, Y = labels
    model = LDKLClassifier(**QUICK).fit(X.astype(np.float32), csr_matrix(Y))
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    sparse = LDKLClassifier(**QUICK).fit(csr_matrix(X), Y)
    np.testing.assert_allclose(sparse.decision_function(X), sparse.decision_function(csr_matrix(X)))


def test_what_cannot_be_learned_is_refused_in_a_sentence(labels, values, tmp_path, capsys):
    X, Y = labels
    for settings, y, words in [
        ({}, Y + 1, "takes one column of labels, or a matrix of 0 and 1"),
        ({}, np.zeros_like(Y), "No label of y"),
        ({"class_weight": "balanced"}, Y, "class_weight is for one label a row"),
        ({"loss": "crammer_singer"}, Y, "'crammer_singer' compares the one right class"),
    ]:
        with pytest.raises(ValueError, match=words):
            LDKLClassifier(**{**QUICK, **settings}).fit(X, y)
    for model, data in [(LDKLClassifier(**QUICK), labels), (LDKLRegressor(**QUICK), values)]:
        model.fit(*data)
        with pytest.raises(ValueError, match="partial_fit takes one answer a row"):
            model.partial_fit(data[0], data[1][:, 0])
        nearlinear.save(model, tmp_path / "model.nlm")
        np.savetxt(tmp_path / "rows.csv", data[0], delimiter=",")
        assert main(["predict", str(tmp_path / "model.nlm"), str(tmp_path / "rows.csv")]) != 0
        assert "several answers a row; score it from Python" in capsys.readouterr().err
