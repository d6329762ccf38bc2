"""How many local models there are where nobody says so: found on held-out rows."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression

from nearlinear import ClusteredSVMClassifier, LCCSVMClassifier, LLSVMClassifier
from nearlinear.estimators._base import capacity, local_search
from nearlinear.gates.anchors import SoftAssignment
from nearlinear.solvers.trees.model import RowScaling

each = pytest.mark.parametrize(
    "method", [LLSVMClassifier, ClusteredSVMClassifier, LCCSVMClassifier]
)
affine = pytest.mark.parametrize("method", [LLSVMClassifier, ClusteredSVMClassifier])


@pytest.fixture(scope="module")
def circles():
    return make_circles(500, noise=0.05, factor=0.5, random_state=0)


@pytest.fixture(scope="module")
def noisy():
    """What a linear model alone can tell of few rows with many columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 15))
    y = (X[:, :5].sum(axis=1) + 2.0 * rng.standard_normal(600) > 0).astype(int)
    return X[:250], y[:250], X[250:], y[250:]


@affine
def test_a_linear_model_is_found_where_it_is_best(method, noisy):
    X, y, X_new, y_new = noisy
    model = method(random_state=0).fit(X, y)
    assert model.setting_.n_models == len(model.predictor_.weights) == 1
    assert model.score(X_new, y_new) > LogisticRegression().fit(X, y).score(X_new, y_new) - 0.02


@each
def test_more_are_found_where_they_pay_and_probabilities_with_them(method, circles):
    X, y = circles
    model = method(random_state=0).fit(X, y)
    tried = {one.setting: one.loss for one in model.settings_tried_}
    assert 1 < model.setting_.n_models == len(model.predictor_.weights) <= len(X) // 10
    assert tried[model.setting_] <= 1.1 * min(tried.values())
    assert model.score(X, y) > 0.95
    assert model.loss_ == model.setting_.loss == "log_loss"
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@affine
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("origin", "unit"), [(1000.0, 1.0), (0.0, 1000.0), (0.0, 0.001)])
def test_origin_and_unit_do_not_matter(method, origin, unit, dtype, circles):
    X, y = (origin + unit * circles[0]).astype(dtype), circles[1]
    assert method(random_state=0).fit(X, y).score(X, y) > 0.97


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scaled_rows_give_a_model_of_rows_as_they_are(dtype, rng):
    X = (5.0 + 3.0 * rng.standard_normal((30, 4))).astype(dtype)
    scaled = local_search.Scaled(RowScaling.of(X, np.ones(30)))
    gate = SoftAssignment(X[:2], 2, 0.1)
    weights, biases = rng.standard_normal((2, 4, 3)), rng.standard_normal((2, 3))
    weights, biases = weights.astype(dtype), biases.astype(dtype)
    local = np.einsum("id,mdo->imo", scaled.rows(X), weights) + biases
    expected = np.einsum("im,imo->io", gate(X), local)
    found = scaled.predictor(gate, weights, biases)
    assert found.dtype == dtype
    np.testing.assert_allclose(found(X), expected, atol=2e-5 if dtype == np.float32 else 1e-12)


@affine
def test_sparse_rows_are_searched_as_well(method, moons):
    X, y = moons
    model = method(random_state=0).fit(csr_matrix(X), y)
    assert model.setting_.n_models > 1 and model.score(csr_matrix(X), y) > 0.95


@each
def test_what_is_given_is_not_searched(method, moons):
    X, y = moons
    given = method(5, random_state=0).fit(X, y)
    assert given.settings_tried_ == [] and given.loss_ == "hinge"
    same = method(5, C=1.0, loss="hinge", random_state=0).fit(X, y)
    np.testing.assert_array_equal(given.decision_function(X), same.decision_function(X))


@each
def test_a_part_of_a_setting_may_be_given(method, circles):
    model = method(C=3.0, loss="squared_hinge", random_state=0).fit(*circles)
    tried = {(one.setting.C, one.setting.loss) for one in model.settings_tried_}
    assert tried == {(3.0, "squared_hinge")} and model.loss_ == "squared_hinge"


@each
def test_a_sample_is_searched_where_rows_are_many(method, circles, monkeypatch):
    monkeypatch.setattr(capacity, "_MOST_ROWS", 170)
    monkeypatch.setattr(capacity, "_FEWEST_ROWS", 170)
    monkeypatch.setattr(local_search, "are_many", lambda rows: True)
    X, y = circles
    model = method(random_state=0).fit(X, y)
    assert max(one.setting.n_models for one in model.settings_tried_) <= 16  # one for ten rows
    assert model.loss_ == "hinge" and model.score(X, y) > 0.85


def test_models_that_take_too_many_numbers_are_not_tried(moons, monkeypatch):
    monkeypatch.setattr(local_search, "_MOST_NUMBERS", 3 * 16)
    model = LLSVMClassifier(random_state=0).fit(*moons)
    assert {one.setting.n_models for one in model.settings_tried_} == {1, 6, 16}


@each
@pytest.mark.parametrize("n_alone", [1, 5, 9])
def test_classes_of_one_row_do_not_end_the_search(method, n_alone, circles):
    X, y = circles[0], circles[1].copy()
    y[:n_alone] = np.arange(10, 10 + n_alone)
    model = method(random_state=0).fit(X, y)
    assert len(model.settings_tried_) > 1
    assert model.score(X[n_alone:], y[n_alone:]) > 0.97


@each
@pytest.mark.parametrize("unit", [0.002, 50.0])
def test_the_unit_of_weights_does_not_matter(method, unit, circles):
    X, y = circles
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    plain = method(random_state=0).fit(X, y, weight)
    other = method(random_state=0).fit(X, y, unit * weight)
    assert other.setting_ == plain.setting_
    assert np.mean(other.predict(X) == plain.predict(X)) > 0.99


@each
def test_few_rows_have_few_models_and_no_warning(method):
    X = np.random.default_rng(0).standard_normal((12, 3))
    model = method(random_state=0).fit(X, X[:, 0] > 0)
    assert len(model.predictor_.biases) <= 6


@pytest.mark.parametrize("method", [LLSVMClassifier, LCCSVMClassifier])
def test_the_setting_tells_how_many_there_are(method, circles):
    X, y = circles
    number = "n_clusters" if method is ClusteredSVMClassifier else "n_anchors"
    model = method(**{number: 7}, random_state=0).fit(X, y)
    assert model.setting_.n_models == len(model.predictor_.biases)


def test_a_stream_keeps_the_setting(moons):
    X, y = moons
    model = LLSVMClassifier(random_state=0).fit(X, y)
    setting = model.setting_
    model.partial_fit(X, y)
    assert model.loss_ == "log_loss" and model.setting_ == setting
    assert model.predict_proba(X).shape == (len(X), 2)
