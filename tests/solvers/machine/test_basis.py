"""The learned basis: slopes, descent, certificates, weights and degenerate starts."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from nearlinear.solvers.machine.basis import basis_slopes, learning_memory, solve_learned_basis
from nearlinear.solvers.machine.basis_coefficients import TargetRows, solve_coefficients

GAMMA = 0.4


def plain_scores(X, basis, gamma, coef, biases):
    return np.exp(-gamma * cdist(X, basis, "sqeuclidean")) @ coef + biases


def plain_objective(X, targets, C, basis, gamma, coef, biases):
    slack = np.maximum(0.0, 1.0 - targets * plain_scores(X, basis, gamma, coef, biases))
    norms = np.sum(coef * plain_scores(basis, basis, gamma, coef, 0.0))
    return 0.5 * norms + np.sum(C[:, None] * slack**2)


@pytest.fixture(params=[1, 3], ids=["binary", "three classes"])
def problem(request, rng):
    """Rows, ±1 targets and prices: classes in rings, so that a small basis has work to do."""
    X = rng.standard_normal((90, 2))
    radius = np.linalg.norm(X, axis=1) + 0.1 * rng.standard_normal(90)
    labels = np.digitize(radius, [0.9, 1.6])
    classes = [1] if request.param == 1 else [0, 1, 2]
    return X, np.where(labels[:, None] == classes, 1.0, -1.0), rng.uniform(0.5, 2.0, 90)


def learn(X, targets, C, basis, gamma=GAMMA, *, tol=1e-6, max_iter=30):
    return solve_learned_basis(X, targets, C, basis, gamma, tol=tol, max_iter=max_iter)


def test_slopes_are_the_derivatives_of_the_objective(problem, rng):
    X, targets, C = problem
    basis = rng.standard_normal((5, 2))
    coef, biases = rng.standard_normal((5, targets.shape[1])), rng.standard_normal(1)
    slopes, width_slope = basis_slopes(TargetRows(X, targets, C), basis, GAMMA, coef, biases)

    def objective(flat):
        return plain_objective(
            X, targets, C, flat[:-1].reshape(5, 2), np.exp(flat[-1]), coef, biases
        )

    numeric = approx_fprime(np.append(basis.ravel(), np.log(GAMMA)), objective, 1e-7)
    # one-sided differences with a step of 1e-7 are good to 1e-7 times the curvature (some 1000)
    np.testing.assert_allclose(slopes.ravel(), numeric[:-1], atol=1e-3)
    assert width_slope == pytest.approx(numeric[-1], abs=1e-3)


def test_slopes_at_the_best_coefficients_are_those_of_the_reduced_objective(problem, rng):
    rows, basis = TargetRows(*problem), rng.standard_normal((5, 2))

    def reduced(flat):
        return solve_coefficients(
            rows, flat[:-1].reshape(5, 2), np.exp(flat[-1]), tol=1e-14
        ).objective

    best = solve_coefficients(rows, basis, GAMMA, tol=1e-14)
    slopes, width_slope = basis_slopes(rows, basis, GAMMA, best.coef, best.biases)
    numeric = approx_fprime(np.append(basis.ravel(), np.log(GAMMA)), reduced, 1e-6)
    np.testing.assert_allclose(np.append(slopes, width_slope), numeric, atol=1e-3)


def test_record_holds_the_objective_of_its_model(problem):
    found = learn(*problem, problem[0][:5])
    expected = plain_objective(*problem, found.basis, found.gamma, found.coef, found.biases)
    assert found.objective == pytest.approx(expected, rel=1e-10)
    assert found.coef.shape == (5, problem[1].shape[1])
    assert found.biases.shape == (problem[1].shape[1],)
    assert found.decrement <= 1e-9


def test_objective_falls_in_every_iteration(problem):
    found = learn(*problem, problem[0][:5])
    assert len(found.history) == found.n_iter + 1
    assert np.all(np.diff(found.history) <= 0)
    assert found.objective <= found.history[-1] * (1 + 1e-6)
    assert found.objective < 0.8 * found.history[0]


def test_runs_until_the_basis_is_stationary(problem):
    found = learn(*problem, problem[0][:3], tol=1e-2, max_iter=2000)
    assert found.gradient_norm <= 2e-2  # the last coefficients are a little more exact
    assert found.n_iter < 2000
    again = learn(*problem, found.basis, found.gamma, tol=2e-2)
    assert again.n_iter == 0


def test_no_iterations_leave_the_basis_alone(problem):
    basis = problem[0][:5]
    found = learn(*problem, basis, max_iter=0)
    fixed = solve_coefficients(TargetRows(*problem), basis, GAMMA, tol=1e-9)
    np.testing.assert_array_equal(found.basis, basis)
    assert found.gamma == GAMMA
    assert found.n_iter == 0
    assert found.objective == pytest.approx(fixed.objective, rel=1e-9)


def test_unit_of_the_features_does_not_matter(problem):
    X, targets, C = problem
    plain = learn(X, targets, C, X[:5], max_iter=10)
    scaled = learn(8.0 * X, targets, C, 8.0 * X[:5], GAMMA / 64.0, max_iter=10)
    np.testing.assert_allclose(scaled.basis, 8.0 * plain.basis, rtol=1e-6)
    assert scaled.gradient_norm == pytest.approx(plain.gradient_norm, rel=1e-6)


def test_sparse_rows_have_the_solution_of_dense_ones(problem):
    X, targets, C = problem
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = learn(X, targets, C, X[:5], max_iter=10)
    sparse = learn(csr_matrix(X), targets, C, X[:5], max_iter=10)
    np.testing.assert_allclose(sparse.basis, dense.basis, atol=1e-6)
    np.testing.assert_allclose(sparse.coef, dense.coef, atol=1e-5)


def test_single_precision_rows_are_learned_from_in_double(problem):
    X, targets, C = (part.astype(np.float32) for part in problem)
    single = learn(X, targets, C, X[:5], max_iter=10)
    double = learn(*(part.astype(np.float64) for part in (X, targets, C, X[:5])), max_iter=10)
    np.testing.assert_array_equal(single.basis, double.basis)
    assert single.coef.dtype == np.float64


def test_price_of_a_row_counts_its_copies(problem):
    X, targets, _ = problem
    copies = np.arange(90) % 3 + 1
    priced = learn(X, targets, copies.astype(float), X[:5], max_iter=10)
    repeated = learn(
        X.repeat(copies, axis=0),
        targets.repeat(copies, axis=0),
        np.ones(copies.sum()),
        X[:5],
        max_iter=10,
    )
    np.testing.assert_allclose(priced.basis, repeated.basis, atol=1e-6)


def test_equal_basis_vectors_are_bearable(problem):
    """K_ZZ is singular at the start; equal vectors have equal slopes and stay together."""
    X = problem[0]
    found = learn(*problem, np.vstack([X[:4], X[:4]]))
    once = learn(*problem, X[:4])
    assert np.isfinite(found.coef).all()
    assert np.all(np.diff(found.history) <= 0)
    assert found.objective < 0.9 * once.history[0]


def test_more_basis_vectors_than_distinct_rows(problem):
    X = np.repeat(problem[0][:3], 30, axis=0)
    found = learn(X, *problem[1:], np.repeat(X[::30], 3, axis=0))
    assert np.isfinite(found.coef).all()
    assert np.isfinite(found.gradient_norm)
    assert np.all(np.diff(found.history) <= 0)


def test_one_class_needs_no_basis(problem):
    X, targets, C = problem
    found = learn(X, np.ones_like(targets), C, X[:3])
    assert found.objective == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(plain_scores(X, found.basis, found.gamma, found.coef, found.biases),
                               1.0, atol=1e-5)  # fmt: skip


def test_learned_basis_beats_a_random_one_of_the_same_size(moons):
    X, y = moons
    fixed = make_pipeline(Nystroem(gamma=1.0, n_components=4, random_state=0), LinearSVC(C=10.0))
    fixed.fit(X[:100], y[:100])
    found = learn(X[:100], np.where(y[:100], 1.0, -1.0)[:, None], np.full(100, 10.0), X[:4], 1.0)
    scores = plain_scores(X[100:], found.basis, found.gamma, found.coef, found.biases)
    accuracy = np.mean((scores[:, 0] > 0) == (y[100:] == 1))
    assert accuracy > fixed.score(X[100:], y[100:]) + 0.02
    assert accuracy > 0.95


@pytest.mark.parametrize("n_rows", [5000, 20_000])
def test_memory_is_as_stated_for_any_number_of_rows(rng, n_rows):
    X = rng.standard_normal((n_rows, 4))
    targets = np.where(np.abs(X[:, :2]) > 0.7, 1.0, -1.0)
    tracemalloc.start()
    try:
        learn(X, targets, np.ones(n_rows), X[:30], max_iter=3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * learning_memory(4, 30, 2) < peak <= learning_memory(4, 30, 2)
