"""LaSVM as an estimator: the SVM's optimum from fit, a machine from a stream, and its end."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from nearlinear import LaSVMClassifier, config_context
from nearlinear.kernels import Gaussian, Linear, Polynomial, WeightedSum

KERNEL = Gaussian(0.7)


def product(X, Z):
    return np.asarray(X @ Z.T)


def feed(model, X, y, size=50, **settings):
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        model.partial_fit(X[rows], y[rows], classes=np.unique(y), **settings)
    return model


def objective(model, X, y, C):
    """½‖f‖² + C Σ hinge of a fitted machine of two classes."""
    support, coef = model.predictor_.support, model.predictor_.coefficients[0, :, 0]
    norm = coef @ KERNEL(support) @ coef
    hinge = np.maximum(0, 1 - (2 * y - 1) * model.decision_function(X))
    return 0.5 * norm + np.sum(C * hinge)


# --- fit ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_fit_reaches_the_optimum_of_the_support_vector_machine(moons, C):
    X, y = moons
    model = LaSVMClassifier(KERNEL, C=C, tol=1e-5, random_state=0).fit(X, y)
    svc = SVC(gamma=0.7, C=C, tol=1e-6).fit(X, y)
    coef = svc.dual_coef_[0]
    best = np.abs(coef).sum() - 0.5 * coef @ KERNEL(X[svc.support_]) @ coef
    assert model.objective_ == pytest.approx(best, rel=1e-4)
    assert objective(model, X, y, C) == pytest.approx(model.objective_, rel=1e-6)
    assert model.duality_gap_ <= 1e-5 * model.objective_
    np.testing.assert_allclose(
        model.decision_function(X), svc.decision_function(X), atol=0.05
    )  # fmt: skip


def test_three_classes_are_three_machines_against_the_rest(blobs):
    X, y = blobs
    model = LaSVMClassifier(KERNEL, C=1.0, tol=1e-5, random_state=0).fit(X, y)
    for c in range(3):
        svc = SVC(gamma=0.7, tol=1e-6).fit(X, y == c)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], svc.decision_function(X), atol=0.05
        )
    assert model.n_support_ == len(model.predictor_.support)


def test_weights_of_rows_and_classes_are_those_of_the_svm(moons, rng):
    X, y = moons
    weight = rng.integers(0, 3, len(y)) * 0.7
    settings = {"C": 2.0, "class_weight": {1: 3.0}}
    model = LaSVMClassifier(KERNEL, tol=1e-5, random_state=0, **settings)
    model.fit(X, y, sample_weight=weight)
    svc = SVC(gamma=0.7, tol=1e-6, **settings).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(
        model.decision_function(X), svc.decision_function(X), atol=0.05
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("linear", Linear()),
        (product, Linear()),
        ("poly", Polynomial()),
        ("gaussian", Gaussian()),
        (["linear", KERNEL], WeightedSum((Linear(), KERNEL), (0.5, 0.5))),
    ],
    ids=["name", "function", "poly", "gaussian", "mean"],
)
def test_kernels_may_be_named_in_many_ways(moons, one, other):
    X, y = moons
    models = [
        LaSVMClassifier(kernel, tol=1e-4, random_state=0).fit(X, y) for kernel in (one, other)
    ]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-3)
    np.testing.assert_allclose(*(m.decision_function(X) for m in models), atol=0.1)


def test_more_passes_leave_fewer_rounds_and_the_same_optimum(moons):
    one, five = (LaSVMClassifier(KERNEL, n_passes=n, random_state=0).fit(*moons) for n in (1, 5))
    assert five.n_iter_ <= one.n_iter_
    assert five.objective_ == pytest.approx(one.objective_, rel=2e-3)


def test_a_fit_that_was_stopped_early_says_so(moons):
    with pytest.warns(ConvergenceWarning) as caught:
        model = LaSVMClassifier(KERNEL, C=100.0, max_iter=1, tol=1e-7, random_state=0).fit(*moons)
    relative = model.duality_gap_ / model.objective_
    text = str(caught[0].message)
    assert text.startswith(f"LaSVMClassifier stopped at a relative duality gap of {relative:.1e}")
    assert "raise max_iter" in text


# --- streams -----------------------------------------------------------------------------------


def test_moons_are_learned_portion_by_portion(moons):
    X, y = moons
    model = feed(LaSVMClassifier(KERNEL, C=10.0), X, y)
    assert model.score(X, y) > LinearSVC().fit(X, y).score(X, y) + 0.05


def test_finish_comes_close_to_the_optimum(moons):
    X, y = moons
    model = feed(LaSVMClassifier(KERNEL, C=1.0), X, y)
    best = LaSVMClassifier(KERNEL, C=1.0, tol=1e-6, random_state=0).fit(X, y).objective_
    before = objective(model, X, y, 1.0)
    after = objective(model.finish(), X, y, 1.0)
    assert after >= best * (1 - 1e-6)
    assert after < 1.05 * best
    assert after <= before * 1.01


def test_finish_again_changes_nothing(moons):
    X, y = moons
    model = feed(LaSVMClassifier(KERNEL), X, y).finish()
    before = model.decision_function(X)
    np.testing.assert_allclose(model.finish().decision_function(X), before, atol=0.01)


def test_finish_leaves_a_fitted_model_alone(moons):
    X, y = moons
    model = LaSVMClassifier(KERNEL, random_state=0).fit(X, y)
    before = model.decision_function(X)
    np.testing.assert_array_equal(model.finish().decision_function(X), before)


@pytest.mark.parametrize("size", [1, 7, 64, 200])
def test_portions_of_any_size_give_about_the_same_machine(moons, size):
    X, y = moons
    whole = feed(LaSVMClassifier(KERNEL, C=1.0), X, y, size=200).finish()
    model = feed(LaSVMClassifier(KERNEL, C=1.0), X, y, size=size).finish()
    assert objective(model, X, y, 1.0) == pytest.approx(objective(whole, X, y, 1.0), rel=0.05)
    assert np.mean(model.predict(X) == whole.predict(X)) > 0.97


def test_many_passes_and_finish_reach_the_optimum(moons):
    X, y = moons
    model = LaSVMClassifier(KERNEL, C=1.0)
    for _ in range(5):  # a row that comes again is a row of its own: C counts the copies
        feed(model, X, y)
    best = LaSVMClassifier(KERNEL, C=5.0, tol=1e-5, random_state=0).fit(X, y).objective_
    assert objective(model.finish(), X, y, 5.0) < 1.1 * best


def test_rows_of_weight_zero_are_not_met(moons, rng):
    X, y = moons
    weight = rng.integers(0, 2, len(y)).astype(float)
    model = LaSVMClassifier(KERNEL)
    model.partial_fit(X, y, classes=[0, 1], sample_weight=weight).finish()
    absent = LaSVMClassifier(KERNEL)
    absent.partial_fit(X[weight > 0], y[weight > 0], classes=[0, 1]).finish()
    stored = model.predictor_.support
    used = X[weight > 0]
    assert all((used == row).all(axis=1).any() for row in stored)
    assert np.mean(model.predict(X) == absent.predict(X)) > 0.97


def test_a_first_portion_of_one_class_predicts_it(moons):
    X, y = moons
    model = LaSVMClassifier(KERNEL).partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    assert set(model.predict(X)) == {1}
    model.partial_fit(X[y == 0], y[y == 0])
    assert model.finish().score(X, y) > 0.9


def test_a_class_that_never_comes_is_never_predicted(moons):
    X, y = moons
    model = LaSVMClassifier(KERNEL).partial_fit(X, y, classes=[0, 1, 2])
    assert model.decision_function(X).shape == (200, 3)
    assert set(model.finish().predict(X)) == {0, 1}


def test_only_rows_that_support_are_kept(rng):
    X = rng.standard_normal((600, 2)) + np.repeat([[3.0, 0.0], [-3.0, 0.0]], 300, axis=0)
    y = np.repeat([1, 0], 300)
    order = rng.permutation(600)
    model = feed(LaSVMClassifier(Gaussian(0.1), C=10.0), X[order], y[order]).finish()
    assert model.n_support_ < 100
    assert model.score(X, y) > 0.98


def test_a_fitted_model_goes_on_with_a_stream(moons):
    X, y = moons
    model = LaSVMClassifier(KERNEL, random_state=0).fit(X[:150], y[:150])
    before = model.predict(X)
    model.partial_fit(X[150:153], y[150:153])
    assert np.mean(model.predict(X) == before) > 0.95


def test_a_stream_in_the_middle_survives_pickling(moons):
    X, y = moons
    model = feed(LaSVMClassifier(KERNEL), X[:100], y[:100])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[100:], y[100:]).finish()
    np.testing.assert_array_equal(model.decision_function(X), copy.decision_function(X))


def test_a_clone_has_nothing_of_the_stream(moons):
    X, y = moons
    model = clone(feed(LaSVMClassifier(KERNEL), X, y))
    with pytest.raises(ValueError, match="needs classes in its first call"):
        model.partial_fit(X, y)


def test_dense_and_sparse_portions_may_be_mixed(moons):
    X, y = moons
    model = LaSVMClassifier(KERNEL).partial_fit(X[:100], y[:100], classes=[0, 1])
    model.partial_fit(csr_matrix(X[100:]), y[100:]).finish()
    dense = LaSVMClassifier(KERNEL).partial_fit(X[:100], y[:100], classes=[0, 1])
    dense.partial_fit(X[100:], y[100:]).finish()
    assert np.mean(model.predict(X) == dense.predict(X)) > 0.97


def test_too_little_memory_is_refused_when_the_stream_has_grown(rng):
    X = rng.standard_normal((600, 2))
    y = rng.integers(0, 2, 600)  # nothing to learn: every row supports
    model = LaSVMClassifier(KERNEL)
    with config_context(max_memory=2e6), pytest.raises(MemoryError, match="raise the limit"):
        feed(model, X, y)
    assert model.n_support_ > 50  # what came before is kept
