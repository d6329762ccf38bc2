"""CPSP: few basis vectors, learned."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nearlinear import CPSPClassifier, config_context
from nearlinear.kernels import Gaussian


def objective(model, X, y, C):
    """½ Σ βᵀKβ + C Σ squared hinge, from the predictor's arrays."""
    coef, basis = model.predictor_.coefficients[0], model.basis_
    targets = np.where(y[:, None] == model.classes_, 1, -1)
    targets = targets[:, 1:] if len(model.classes_) == 2 else targets
    scores = model.decision_function(X).reshape(len(y), -1)
    norm = np.einsum("bc,bd,dc->", coef, Gaussian(model.gamma_)(basis), coef)
    return 0.5 * norm + np.sum(C * np.maximum(0, 1 - targets * scores) ** 2)


@pytest.mark.parametrize("n_basis", [1, 4, 11])
def test_the_basis_has_the_size_asked_for(moons, n_basis):
    model = CPSPClassifier(n_basis, max_iter=5, random_state=0).fit(*moons)
    assert model.basis_.shape == (n_basis, 2)
    assert model.predictor_.coefficients.shape == (1, n_basis, 1)
    # a product with each vector, one kernel and one coefficient
    assert model.cost_.multiply_adds == n_basis * (2 + 1 + 1)


@pytest.mark.parametrize(("n_rows", "n_basis"), [(100, 5), (1000, 20)])
def test_auto_is_one_vector_for_fifty_rows(n_rows, n_basis, rng):
    X = rng.standard_normal((n_rows, 2))
    model = CPSPClassifier(max_iter=0, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert len(model.basis_) == n_basis


def test_auto_takes_no_more_vectors_than_there_are_rows():
    model = CPSPClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert len(model.basis_) <= 3


@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_the_objective_is_that_of_the_model(data, request):
    X, y = request.getfixturevalue(data)
    model = CPSPClassifier(6, C=3.0, max_iter=15, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(objective(model, X, y, 3.0), rel=1e-6)


def test_no_iterations_keep_the_centers(moons):
    X, y = moons
    start = CPSPClassifier(6, max_iter=0, random_state=0).fit(X, y)
    again = CPSPClassifier(6, max_iter=0, C=100.0, random_state=0).fit(X, y)
    learned = CPSPClassifier(6, max_iter=20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(start.basis_, again.basis_)
    assert start.n_iter_ == 0
    assert start.gamma_ == again.gamma_
    assert np.abs(learned.basis_ - start.basis_).max() > 1e-2


@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_a_learned_basis_beats_that_of_k_means(data, request):
    X, y = request.getfixturevalue(data)
    values = [
        CPSPClassifier(5, max_iter=n, random_state=0).fit(X, y).objective_ for n in (0, 5, 40)
    ]
    assert values[0] > values[1] > values[2]
    assert values[2] < 0.95 * values[0]


def test_coefficients_are_the_best_for_their_basis(moons):
    X, y = moons
    model = CPSPClassifier(4, C=2.0, max_iter=10, random_state=0).fit(X, y)
    signs = 2 * y - 1
    features = np.column_stack([Gaussian(model.gamma_)(X, model.basis_), np.ones(len(y))])
    gram = Gaussian(model.gamma_)(model.basis_)

    def height(v):
        slack = np.maximum(0, 1 - signs * (features @ v))
        slope = np.r_[gram @ v[:-1], 0.0] - 4.0 * features.T @ (signs * slack)
        return 0.5 * v[:-1] @ gram @ v[:-1] + 2.0 * np.sum(slack**2), slope

    start = np.r_[model.predictor_.coefficients[0, :, 0], model.predictor_.biases]
    best = minimize(height, 0.0 * start, jac=True, method="BFGS", options={"gtol": 1e-8})
    assert model.objective_ == pytest.approx(best.fun, rel=1e-6)
    assert np.abs(height(start)[1]).max() < 1e-3


def test_gamma_is_learned(moons):
    start = CPSPClassifier(5, max_iter=0, random_state=0).fit(*moons)
    learned = CPSPClassifier(5, random_state=0).fit(*moons)
    assert abs(np.log(learned.gamma_ / start.gamma_)) > 0.01


def test_gamma_is_relative_to_the_rows_distances(moons):
    X, y = moons
    one = CPSPClassifier(5, gamma=1.0, max_iter=0, random_state=0).fit(X, y)
    two = CPSPClassifier(5, gamma=2.0, max_iter=0, random_state=0).fit(X, y)
    wide = CPSPClassifier(5, gamma=1.0, max_iter=0, random_state=0).fit(10 * X, y)
    assert two.gamma_ == pytest.approx(2 * one.gamma_)
    assert wide.gamma_ == pytest.approx(one.gamma_ / 100)


def test_several_classes_share_the_basis(blobs):
    X, y = blobs
    model = CPSPClassifier(6, random_state=0).fit(X, y)
    assert model.basis_.shape == (6, 4)
    assert model.predictor_.coefficients.shape == (1, 6, 3)
    np.testing.assert_array_equal(model.predictor_.support, model.basis_)


def test_more_basis_vectors_fit_better(moons):
    values = [CPSPClassifier(n, random_state=0).fit(*moons).objective_ for n in (1, 3, 10)]
    assert values[0] > values[1] > values[2]


def test_training_stops_at_the_gradient_asked_for(moons):
    loose = CPSPClassifier(8, tol=0.5, max_iter=200, random_state=0).fit(*moons)
    tight = CPSPClassifier(8, tol=1e-3, max_iter=200, random_state=0).fit(*moons)
    assert loose.n_iter_ < tight.n_iter_
    assert loose.gradient_norm_ <= 0.5
    assert tight.gradient_norm_ <= 1e-3


def test_weight_k_equals_k_copies(moons, rng):
    X, y = moons
    weight = rng.integers(1, 4, len(y))
    weighted = CPSPClassifier(5, random_state=0).fit(X, y, sample_weight=weight)
    copied = CPSPClassifier(5, random_state=0)
    copied.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_single_precision_gives_single_precision(moons):
    X, y = moons
    model = CPSPClassifier(5, random_state=0).fit(X.astype(np.float32), y)
    assert model.basis_.dtype == np.float32
    assert model.decision_function(X).dtype == np.float32


def test_too_little_memory_is_refused(moons):
    words = "lower n_basis, or raise the limit"
    with config_context(max_memory=1e4), pytest.raises(MemoryError, match=words):
        CPSPClassifier(50).fit(*moons)
