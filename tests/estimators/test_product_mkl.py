"""A product of Gaussians: slopes, an independent optimum, and what is left of it."""

import numpy as np
import pytest
from scipy.optimize import minimize
from shipping import assert_ships
from sklearn.svm import SVC, SVR

from nearlinear import ProductMKLClassifier, ProductMKLRegressor, load, save
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import KernelObjective
from nearlinear.solvers.mixture.product import ProductDescent

RNG = np.random.default_rng(3)
X = np.array([1.0, 10.0, 0.1, 1.0]) * RNG.standard_normal((80, 4)) + 5.0
Z = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(2.0)
SIGNS = np.sign(Z[:, 0] * Z[:, 1] + 0.2 * RNG.standard_normal(80))
C = 3.0


def objective_at(weights):
    """J from scikit-learn's machine: the primal value."""
    rows = Z * np.sqrt(np.maximum(weights, 0.0))
    machine = SVC(C=C, kernel="rbf", gamma=1.0, tol=1e-8).fit(rows, SIGNS)
    coef = np.zeros(len(rows))
    coef[machine.support_] = machine.dual_coef_[0]
    norms = coef @ (machine.decision_function(rows) - machine.intercept_[0])
    return 0.5 * norms + C * np.maximum(0.0, 1.0 - SIGNS * machine.decision_function(rows)).sum()


def test_the_slope_is_that_of_finite_differences():
    problem = DualProblem.of_signs(SIGNS, np.full(80, C))
    descent = ProductDescent(
        Z, lambda grams: KernelObjective(grams, problem, FreeBias()), max_bytes=1 << 20
    )
    for weights in (np.full(4, 0.25), np.array([1.0, 0.4, 0.1, 0.02])):
        steps = 1e-3 * np.eye(4)
        wanted = [objective_at(weights + step) - objective_at(weights - step) for step in steps]
        slope = descent.at(weights, 1e-10).gradient
        np.testing.assert_allclose(slope, np.array(wanted) / 2e-3, atol=2e-3 * np.abs(slope).max())


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_optimum_is_that_of_a_generic_optimizer(p):
    model = ProductMKLClassifier(C=C, sigma=0.2, p=p, tol=1e-4, max_iter=300).fit(X, SIGNS)
    start = np.full(4, 0.25)
    sigma = 0.2 * objective_at(start)

    def total(weights):
        return objective_at(weights) + sigma * (np.maximum(weights, 0.0) ** p).sum() / p

    found = minimize(total, start, bounds=[(0.0, 10.0)] * 4, method="L-BFGS-B")
    assert total(model.kernel_weights_) <= found.fun * (1 + 1e-3)
    assert model.objective_ == pytest.approx(total(model.kernel_weights_), rel=2e-4)
    assert 0.0 <= model.duality_gap_ <= 1e-3 * model.objective_


def test_scores_are_those_of_a_gaussian_machine_on_scaled_features():
    model = ProductMKLClassifier(C=C, tol=1e-5).fit(X, SIGNS)
    rows = X * np.sqrt(model.gammas_)
    machine = SVC(C=C, gamma=1.0, tol=1e-8).fit(rows, SIGNS)
    np.testing.assert_allclose(
        model.decision_function(X), machine.decision_function(rows), atol=1e-2
    )


def test_values_are_learned_as_scikit_learn_does_with_these_exponents():
    y = np.sin(2 * Z[:, 0]) + Z[:, 1]
    model = ProductMKLRegressor(C=C, epsilon=0.05, tol=1e-5).fit(X, y)
    rows, spread = X * np.sqrt(model.gammas_), model.target_spread_
    machine = SVR(C=C, epsilon=0.05, gamma=1.0, tol=1e-8).fit(rows, y / spread)
    np.testing.assert_allclose(model.predict(X), spread * machine.predict(rows), atol=1e-2)


def test_features_that_say_nothing_leave_the_model(tmp_path):
    noise = RNG.standard_normal((80, 3))
    rows = np.hstack([X[:, :2], noise, np.ones((80, 1))])
    model = ProductMKLClassifier(C=C, sigma=1.0, tol=1e-3).fit(rows, SIGNS)
    weights = model.kernel_weights_
    assert weights[:2].min() > 3 * weights[2:5].max()
    assert weights[5] == 0.0
    assert len(model.predictor_.map.matrix) == np.count_nonzero(weights) < 6
    assert_ships(model, rows, tmp_path)


def test_several_classes_have_exponents_of_their_own(tmp_path):
    y = np.digitize(Z[:, 0] * Z[:, 1], [-0.2, 0.2])
    model = ProductMKLClassifier(C=C).fit(X, y)
    assert model.kernel_weights_.shape == model.gammas_.shape == (3, 4)
    save(model, tmp_path / "model.nlm")
    scores = load(tmp_path / "model.nlm").decision_function(X)
    np.testing.assert_array_equal(scores, model.decision_function(X))
