"""The smooth solver: gradient, optimum and certificate."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from nearlinear.gates.anchors import SoftAssignment
from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors import fixed_gate as gated_logistic
from nearlinear.solvers.anchors.fixed_gate import solve_gated_smooth


@pytest.fixture(params=[1, 3], ids=["binary", "three classes"])
def problem(request, rng):
    """Rows, labels and ±1 targets of two or three classes."""
    n_outputs = request.param
    X = rng.standard_normal((60, 3))
    labels = (X[:, 0] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    if n_outputs == 1:
        return X, labels, np.where(labels, 1.0, -1.0)[:, None]
    labels = labels + (X[:, 1] > 0.3)
    return X, labels, np.where(labels[:, None] == np.arange(3), 1.0, -1.0)


def solve(X, indices, codes, targets, C, n_components, *, tol=1e-6, max_iter=1000, start=None):
    return solve_gated_smooth(
        X, indices, codes, targets, loss=LOSSES["log_loss"], C=C, n_components=n_components,
        tol=tol, max_iter=max_iter, start=start,
    )  # fmt: skip


def one_component(X):
    return np.zeros((len(X), 1), dtype=np.int32), np.ones((len(X), 1))


def soft_codes(X, n_anchors=5):
    return SoftAssignment(X[:n_anchors].copy(), 3, 0.5).codes(X)


def test_one_component_is_logistic_regression_with_a_regularized_intercept(problem, rng):
    X, labels, targets = problem
    weight = rng.uniform(0.5, 2.0, 60)
    solution = solve(X, *one_component(X), targets, 2.0 * weight, 1)
    expected = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(
        np.hstack([X, np.ones((60, 1))]), labels, sample_weight=weight
    )
    # both stop at a small gradient, whose square root bounds the distance
    np.testing.assert_allclose(solution.weights[0].T, expected.coef_[:, :-1], atol=1e-4)
    np.testing.assert_allclose(solution.biases[0], expected.coef_[:, -1], atol=1e-4)


def test_gradient_is_the_derivative_of_the_objective(problem, monkeypatch, rng):
    X, _, targets = problem
    seen = {}

    def minimize(evaluate, initial, **_):
        seen.update(evaluate=evaluate, size=initial.size)
        raise StopIteration

    monkeypatch.setattr(gated_logistic, "minimize", minimize)
    with pytest.raises(StopIteration):
        solve(X, *soft_codes(X), targets, rng.uniform(0.5, 2.0, 60), 5)
    point = rng.standard_normal(seen["size"])
    numeric = approx_fprime(point, lambda flat: seen["evaluate"](flat)[0], 1e-6)
    # a one-sided difference with step 1e-6 is good to 1e-6 times the curvature (about 30)
    np.testing.assert_allclose(seen["evaluate"](point)[1], numeric, atol=1e-4)


def test_sparse_rows_have_the_solution_of_dense_ones(problem):
    X, _, targets = problem
    indices, codes = soft_codes(X)
    dense = solve(X, indices, codes, targets, np.ones(60), 5)
    sparse = solve(csr_matrix(X), indices, codes, targets, np.ones(60), 5)
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-6)  # stopped, not exact


def test_objective_is_within_the_gap_of_the_optimum(problem):
    X, _, targets = problem
    indices, codes = soft_codes(X)
    rough = solve(X, indices, codes, targets, np.ones(60), 5, tol=1.0, max_iter=4)
    exact = solve(X, indices, codes, targets, np.ones(60), 5, tol=1e-9)
    assert exact.gap < 1e-9
    assert 0 < rough.objective - exact.objective <= rough.gap


def test_start_from_the_solution_takes_no_iterations(problem):
    X, _, targets = problem
    indices, codes = soft_codes(X)
    first = solve(X, indices, codes, targets, np.ones(60), 5, tol=1e-3)
    again = solve(X, indices, codes, targets, np.ones(60), 5, tol=1e-3, start=first)
    assert first.n_iter > 3
    assert again.n_iter <= 1
    assert again.objective == pytest.approx(first.objective, rel=1e-5)


def test_float32_rows_give_a_float32_model(problem):
    X, _, targets = problem
    X, targets = X.astype(np.float32), targets.astype(np.float32)
    indices, codes = soft_codes(X)
    solution = solve(X, indices, codes, targets, np.ones(60), 5, tol=1e-3)
    assert solution.weights.dtype == solution.biases.dtype == np.float32
