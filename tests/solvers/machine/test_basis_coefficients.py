"""Coefficients over a fixed basis: optimum, dual, certificate and degenerate bases."""

import tracemalloc

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.svm import LinearSVC

from nearlinear.solvers.machine import basis_coefficients
from nearlinear.solvers.machine.basis_coefficients import (
    TargetRows,
    gaussian,
    newton_memory,
    solve_coefficients,
)

GAMMA = 0.4


def plain_gaussian(X, Z, gamma=GAMMA):
    return np.exp(-gamma * cdist(X, Z, "sqeuclidean"))


def plain_objective(rows, basis, coef, biases, gamma=GAMMA):
    """The formula, with nothing in blocks and nothing saved."""
    scores = plain_gaussian(rows.X, basis, gamma) @ coef + biases
    slack = np.maximum(0.0, 1.0 - rows.targets * scores)
    norms = np.sum(coef * (plain_gaussian(basis, basis, gamma) @ coef))
    return 0.5 * norms + np.sum(rows.C[:, None] * slack**2)


@pytest.fixture(params=[1, 3], ids=["binary", "three classes"])
def rows(request, rng):
    """Weighted rows of two or three overlapping classes."""
    X = rng.standard_normal((80, 3))
    labels = (X[:, 0] + 0.8 * rng.standard_normal(80) > 0).astype(int) + (X[:, 1] > 0.5)
    classes = [1] if request.param == 1 else [0, 1, 2]
    targets = np.where(labels[:, None] == classes, 1.0, -1.0)
    return TargetRows(X, targets, rng.uniform(0.5, 2.0, 80))


def solve(rows, basis, **options):
    return solve_coefficients(rows, basis, GAMMA, **{"tol": 1e-12, **options})


def test_gaussian_is_the_formula_for_dense_and_sparse_rows(rng):
    X, Z = rng.standard_normal((9, 3)), rng.standard_normal((4, 3))
    np.testing.assert_allclose(gaussian(X, Z, GAMMA), plain_gaussian(X, Z), rtol=1e-13)
    np.testing.assert_allclose(gaussian(csr_matrix(X), Z, GAMMA), plain_gaussian(X, Z), rtol=1e-13)


def test_no_other_optimizer_finds_a_better_point(rows):
    basis = rows.X[:6]
    found = solve(rows, basis)
    shape = (7, rows.targets.shape[1])

    def objective(flat):
        model = flat.reshape(shape)
        return plain_objective(rows, basis, model[:-1], model[-1])

    expected = minimize(objective, np.zeros(np.prod(shape)), method="BFGS", tol=1e-6)
    assert found.objective == pytest.approx(objective(np.vstack([found.coef, found.biases])))
    assert found.objective == pytest.approx(expected.fun, rel=1e-8)
    assert found.objective <= expected.fun * (1 + 1e-12)


def test_solution_is_the_linear_svm_on_whitened_features(rows):
    basis = rows.X[:8]
    found = solve(rows, basis)
    root = np.linalg.cholesky(plain_gaussian(basis, basis))
    features = np.linalg.solve(root, plain_gaussian(basis, rows.X)).T
    # LIBLINEAR regularizes the bias; on a column of 1000 that is a millionth of nothing
    machine = LinearSVC(C=1.0, dual=False, tol=1e-12, intercept_scaling=1e3, max_iter=10_000)
    for c in range(rows.targets.shape[1]):
        machine.fit(features, rows.targets[:, c], sample_weight=rows.C)
        np.testing.assert_allclose(root.T @ found.coef[:, c], machine.coef_[0], atol=1e-4)
        assert found.biases[c] == pytest.approx(machine.intercept_[0], abs=1e-4)


def test_dual_point_of_the_slacks_is_feasible_and_as_good(rows):
    basis = rows.X[:8]
    found = solve(rows, basis)
    kernel = plain_gaussian(rows.X, basis)
    C = rows.C[:, None]
    slack = np.maximum(0.0, 1.0 - rows.targets * (kernel @ found.coef + found.biases))
    dual = 2.0 * C * slack
    np.testing.assert_allclose((dual * rows.targets).sum(axis=0), 0.0, atol=1e-9)
    images = kernel.T @ (dual * rows.targets)
    norms = np.sum(images * np.linalg.solve(plain_gaussian(basis, basis), images))
    value = dual.sum() - 0.5 * norms - (dual**2 / (4.0 * C)).sum()
    assert value == pytest.approx(found.objective, rel=1e-10)


def test_gradient_of_the_loss_is_its_derivative(rows, rng):
    basis = rows.X[:5]
    model = rng.standard_normal((6, rows.targets.shape[1]))

    def loss(flat):
        return basis_coefficients._loss_derivatives(rows, basis, GAMMA, flat.reshape(model.shape))[
            0
        ].sum()

    _, gradient, hessians = basis_coefficients._loss_derivatives(rows, basis, GAMMA, model)
    # one-sided differences with a step of 1e-7 are good to 1e-7 times the curvature (some 100)
    numeric = approx_fprime(model.ravel(), loss, 1e-7).reshape(model.shape)
    np.testing.assert_allclose(gradient, numeric, atol=1e-4)
    step = 1e-6 * rng.standard_normal(model.shape)
    ahead = basis_coefficients._loss_derivatives(rows, basis, GAMMA, model + step)[1]
    for c in range(model.shape[1]):
        np.testing.assert_allclose((ahead - gradient)[:, c], hessians[c] @ step[:, c], atol=1e-8)


def test_prices_that_hide_the_ridge_leave_hessians_regular():
    """C = 1e38 and fewer rows than numbers: 1e38 + 1 is 1e38."""
    loss = np.array([np.full((3, 3), 1e38), np.ones((3, 3))])
    hessians = basis_coefficients._regular(loss + np.eye(3))
    assert np.all(np.isfinite(np.linalg.solve(hessians, np.ones((2, 3, 1)))))
    np.testing.assert_array_equal(hessians[1], loss[1] + np.eye(3))


def test_outputs_do_not_know_of_each_other(rows):
    together = solve(rows, rows.X[:6])
    for c in range(rows.targets.shape[1]):
        alone = solve(TargetRows(rows.X, rows.targets[:, [c]], rows.C), rows.X[:6])
        np.testing.assert_allclose(together.coef[:, [c]], alone.coef, atol=1e-8)


def test_price_of_a_row_counts_its_copies(rows):
    copies = np.arange(80) % 3 + 1
    priced = solve(TargetRows(rows.X, rows.targets, 0.7 * copies), rows.X[:6])
    repeated = TargetRows(
        rows.X.repeat(copies, axis=0),
        rows.targets.repeat(copies, axis=0),
        np.full(copies.sum(), 0.7),
    )
    np.testing.assert_allclose(priced.coef, solve(repeated, rows.X[:6]).coef, atol=1e-8)


def test_blocks_and_sparse_rows_change_nothing(rows, monkeypatch):
    whole = solve(rows, rows.X[:6])
    monkeypatch.setattr(basis_coefficients, "_BLOCK", 7)
    sparse = TargetRows(csr_matrix(rows.X), rows.targets, rows.C)
    for same in (rows, sparse):
        np.testing.assert_allclose(solve(same, rows.X[:6]).coef, whole.coef, atol=1e-8)


def test_repeated_basis_vectors_add_nothing(rows):
    once = solve(rows, rows.X[:6])
    twice = solve(rows, np.vstack([rows.X[:6], rows.X[:6], rows.X[:1]]))
    assert twice.objective == pytest.approx(once.objective, rel=1e-9)
    scores = [
        plain_gaussian(rows.X, rows.X[:6]) @ once.coef + once.biases,
        plain_gaussian(rows.X, np.vstack([rows.X[:6], rows.X[:6], rows.X[:1]])) @ twice.coef
        + twice.biases,
    ]
    np.testing.assert_allclose(*scores, atol=1e-6)


def test_a_single_class_costs_nothing():
    rows = TargetRows(np.eye(3), np.ones((3, 1)), np.ones(3))
    found = solve(rows, np.eye(3)[:2])
    assert found.objective == pytest.approx(0.0, abs=1e-12)
    assert found.biases[0] == pytest.approx(1.0)


@pytest.mark.parametrize("price", [1e-6, 1e6])
def test_extreme_prices_are_solved(rows, price):
    found = solve(TargetRows(rows.X, rows.targets, price * rows.C), rows.X[:6], tol=1e-9)
    assert found.decrement <= 1e-9 * found.objective


def test_start_at_the_solution_takes_no_steps(rows):
    basis = rows.X[:6]
    first = solve(rows, basis, tol=1e-9)
    start = plain_gaussian(basis, basis) @ first.coef, first.biases
    again = solve(rows, basis, tol=1e-9, start=start)
    assert first.n_iter > 1
    assert again.n_iter == 0
    np.testing.assert_allclose(again.coef, first.coef, atol=1e-6)


def test_certificate_falls_with_the_steps(rows):
    exact = solve(rows, rows.X[:6])
    rough = solve(rows, rows.X[:6], max_iter=1)
    assert rough.n_iter == 1
    assert rough.decrement > 0
    assert rough.objective > exact.objective
    assert exact.decrement <= 1e-12 * exact.objective


@pytest.mark.parametrize("n_rows", [5000, 20_000])
def test_memory_is_as_stated_for_any_number_of_rows(rng, n_rows):
    X = rng.standard_normal((n_rows, 4))
    rows = TargetRows(X, np.where(X[:, :2] > 0, 1.0, -1.0), np.ones(n_rows))
    tracemalloc.start()
    try:
        solve(rows, X[:30], tol=1e-3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.3 * newton_memory(4, 30, 2) < peak <= newton_memory(4, 30, 2)
