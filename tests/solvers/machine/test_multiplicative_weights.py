"""Geometric multiple kernel learning, against general optimizers, libsvm and its certificate."""

import tracemalloc

import numpy as np
import pytest
from sklearn.svm import SVC

from nearlinear.solvers.machine.exchange import (
    _exchange,
    _weigh,
    solve_by_averaging,
    solve_by_exchange,
)
from reference import geometric_mkl as reference


class Problem:
    """Noisy rows, and a linear, a quadratic and a narrow Gaussian kernel of mean diagonal one."""

    def __init__(self, n_rows=60, n_positive=None, seed=3):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((n_rows, 3))
        score = self.X[:, 0] + 0.8 * self.X[:, 1] * self.X[:, 2] + 0.4 * rng.standard_normal(n_rows)
        threshold = 0.0 if n_positive is None else np.sort(score)[-n_positive - 1]
        self.y = np.where(score > threshold, 1.0, -1.0)
        self.ridge = 1.0 / rng.uniform(0.05, 0.4, n_rows)
        squares = (self.X**2).sum(axis=1)
        dots = self.X @ self.X.T
        distances = squares[:, None] + squares - 2.0 * dots
        kernels = np.stack([dots, (1.0 + dots) ** 2, np.exp(-0.5 * distances)])
        self.kernels = kernels / kernels.diagonal(axis1=1, axis2=2).mean(axis=1)[:, None, None]

    def columns(self, rows):
        return self.kernels[:, :, rows]

    @property
    def data(self):
        return self.columns, self.kernels.diagonal(axis1=1, axis2=2), self.y, self.ridge

    def exchange(self, tol=1e-4, max_iter=5000, **options):
        return solve_by_exchange(*self.data, tol=tol, max_iter=max_iter, **options)

    def average(self, tol=0.03, eps=0.02, **options):
        return solve_by_averaging(*self.data, tol=tol, eps=eps, **options)

    def values(self, solution):
        """α'G_m α of each kernel, from the α that the solution stands for."""
        alpha = np.abs(solution.dual_coef)
        alpha = alpha / alpha.sum()
        grams = reference.signed_grams(self.kernels, self.y, self.ridge)
        return np.array([alpha @ gram @ alpha for gram in grams])

    def scores(self, solution):
        kernel = np.tensordot(solution.kernel_weights, self.kernels, 1)
        return kernel @ solution.dual_coef + solution.bias

    def objective(self, solution):
        """‖f‖² + Σ slack² / ridge of the machine that the solution stands for."""
        kernel = np.tensordot(solution.kernel_weights, self.kernels, 1)
        slack = np.maximum(0.0, 1.0 - self.y * self.scores(solution))
        return solution.dual_coef @ kernel @ solution.dual_coef + (slack**2 / self.ridge).sum()


SOLVERS = [Problem.exchange, Problem.average]


@pytest.fixture
def problem():
    return Problem()


@pytest.mark.passes
def test_kernels_are_weighted_by_the_hyperbolic_sine():
    values, weights = np.array([0.04, 0.09, 0.01]), np.empty(3)
    prior = np.array([0.5, 0.2, 0.3])
    _weigh(values, prior, 5.0, weights)
    expected = prior * np.sinh(5.0 * np.sqrt(values)) / np.sqrt(values)
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-12)


@pytest.mark.passes
def test_weights_neither_overflow_nor_divide_by_nothing():
    weights = np.empty(3)
    _weigh(np.array([1e-300, 4.0, 4.0]), np.ones(3), 1e6, weights)
    np.testing.assert_allclose(weights, [0.0, 0.5, 0.5], atol=1e-12)
    _weigh(np.full(3, 1e-300), np.ones(3), 1.0, weights)
    np.testing.assert_allclose(weights, 1.0 / 3.0)


@pytest.mark.passes
@pytest.mark.parametrize("sharpness", [1.0, 100.0])
def test_an_exchange_takes_the_steps_of_the_plain_version(sharpness):
    problem = Problem(n_rows=12)
    y, grams = problem.y, reference.signed_grams(problem.kernels, problem.y, problem.ridge)
    alpha = np.where(y > 0, 0.5 / np.sum(y > 0), 0.5 / np.sum(y < 0))
    alpha[np.flatnonzero(y > 0)[:2]] = alpha[y > 0][:2].sum(), 0.0
    prior = np.array([0.2, 0.5, 0.3])
    expected = reference.exchange(grams, y, alpha, prior, sharpness)
    gradients = np.stack([gram @ alpha for gram in grams])
    values, found = gradients @ alpha, alpha.copy()
    _exchange(np.stack(grams), gradients, values, found, y, prior, sharpness)
    assert np.abs(found - alpha).max() > 0.01
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(gradients, np.stack([gram @ found for gram in grams]), atol=1e-12)
    np.testing.assert_allclose(values, [found @ gram @ found for gram in grams], atol=1e-12)


@pytest.mark.parametrize(
    ("solve", "tolerance"), [(Problem.exchange, 1e-4), (Problem.average, 0.03)]
)
def test_solution_is_the_saddle_point_of_a_general_optimizer(problem, solve, tolerance):
    solution = solve(problem)
    _, optimum = reference.solve_saddle(problem.kernels, problem.y, problem.ridge)
    assert solution.lower <= optimum * (1 + 1e-6)
    assert solution.upper >= optimum * (1 - 1e-6)
    assert solution.upper == pytest.approx(optimum, rel=tolerance)
    assert solution.lower == pytest.approx(optimum, rel=tolerance)
    assert np.sum(solution.kernel_weights > 0.05) > 1  # a mixture, not a corner


@pytest.mark.parametrize("solve", SOLVERS)
def test_the_certificate_is_that_of_what_is_returned(problem, solve):
    solution = solve(problem, tol=0.05)
    assert solution.upper == pytest.approx(problem.values(solution).max(), rel=1e-9)
    assert solution.lower == pytest.approx(1.0 / problem.objective(solution), rel=1e-9)
    assert solution.upper - solution.lower <= 0.05 * solution.upper


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("max_iter", [1, 2, 5, 30])
def test_bounds_enclose_the_optimum_wherever_the_solver_stops(problem, solve, max_iter):
    _, optimum = reference.solve_saddle(problem.kernels, problem.y, problem.ridge)
    solution = solve(problem, tol=0.0, max_iter=max_iter)
    assert solution.n_iter == max_iter
    for _, upper, lower in solution.history:
        assert lower <= optimum * (1 + 1e-6)
        assert upper >= optimum * (1 - 1e-6)


@pytest.mark.parametrize("solve", SOLVERS)
def test_signed_coefficients_balance_and_weights_lie_on_the_simplex(problem, solve):
    solution = solve(problem)
    assert np.all(solution.dual_coef * problem.y >= 0)
    assert solution.dual_coef.sum() == pytest.approx(0.0, abs=1e-9)
    assert solution.kernel_weights.sum() == pytest.approx(1.0)
    assert solution.kernel_weights.min() >= 0


@pytest.mark.parametrize(
    ("solve", "tolerance"), [(Problem.exchange, 1e-6), (Problem.average, 1e-2)]
)
def test_one_kernel_is_the_support_vector_machine_of_libsvm(problem, solve, tolerance):
    problem.kernels = problem.kernels[2:]
    solution = solve(problem, tol=tolerance)
    gram = problem.kernels[0] + np.diag(problem.ridge)
    machine = SVC(C=1e10, kernel="precomputed", tol=1e-7).fit(gram, problem.y)
    # libsvm's optimum is −½‖w‖², and Σα = ‖w‖² where the margin is hard
    expected = np.abs(machine.dual_coef_).sum()
    assert 1.0 / solution.upper <= expected * (1 + 1e-6)
    assert 1.0 / solution.lower >= expected * (1 - 1e-6)
    assert 1.0 / solution.upper == pytest.approx(expected, rel=tolerance)
    scores = problem.kernels[0][:, machine.support_] @ machine.dual_coef_[0] + machine.intercept_
    # ‖f − f*‖ ≤ √(gap) ‖f*‖, in units of the margin
    atol = 2.0 * np.sqrt(tolerance * expected)
    np.testing.assert_allclose(problem.scores(solution), scores, atol=atol)
    assert atol < np.abs(scores).max()


def test_both_solvers_find_the_same_machine(problem):
    exact, rough = problem.exchange(), problem.average(tol=0.025, eps=0.05)
    assert rough.lower <= exact.upper
    assert rough.upper >= exact.lower
    assert np.corrcoef(problem.scores(rough), problem.scores(exact))[0, 1] > 0.95
    assert exact.n_columns < rough.n_columns / 4


def test_a_mixture_of_kernels_takes_few_exchanges(problem):
    solution = problem.exchange(tol=1e-6)  # a sharp maximum in place of priors: thousands
    assert solution.kernel_weights.min() > 0.1
    assert solution.n_iter < 100


@pytest.mark.parametrize("solve", SOLVERS)
def test_the_lower_bound_is_no_worse_than_that_of_the_literature(problem, solve):
    solution = solve(problem, tol=0.0, max_iter=20)
    gram = np.tensordot(solution.kernel_weights, problem.kernels, 1)
    gram = reference.signed_grams([gram], problem.y, problem.ridge)[0]
    alpha = np.abs(solution.dual_coef) / np.abs(solution.dual_coef).sum()
    gradient = gram @ alpha
    least = (gradient[problem.y > 0].min() + gradient[problem.y < 0].min()) / 2.0
    assert solution.lower >= 2.0 * least - alpha @ gradient
    assert least > 0
    assert solution.lower >= least**2 / (alpha @ gradient)


@pytest.mark.parametrize("block", [4, 16, 200])
def test_the_optimum_does_not_depend_on_the_block(problem, block):
    solution = problem.exchange(tol=1e-5, block=block)
    assert solution.upper == pytest.approx(problem.exchange(tol=1e-5).upper, rel=1e-5)


def test_the_published_number_of_rounds_is_not_exceeded(problem):
    solution = problem.average(tol=0.0, eps=0.3)
    assert solution.n_iter == np.ceil(2 * np.log(60) / 0.3**2)
    assert solution.n_columns == 2 * solution.n_iter


@pytest.mark.parametrize("solve", SOLVERS)
def test_every_column_asked_for_is_counted(problem, solve):
    asked = []
    columns = problem.columns
    problem.columns = lambda rows: (asked.append(len(rows)), columns(rows))[1]
    assert solve(problem).n_columns == sum(asked)


def test_a_row_of_weight_two_counts_as_two_rows(problem):
    # α₁ + α₂ = α costs r (α₁² + α₂²) ≥ (r/2) α²: two copies of ridge r are a row of ridge r/2
    problem.ridge[:20] = problem.ridge[:20] / 2.0
    weighted = problem.exchange(tol=1e-6)
    twice = np.r_[np.arange(60), np.arange(20)]
    problem.ridge[:20] = problem.ridge[:20] * 2.0
    problem.ridge, problem.y = problem.ridge[twice], problem.y[twice]
    problem.kernels = problem.kernels[:, twice][:, :, twice]
    copied = problem.exchange(tol=1e-6)
    assert copied.upper == pytest.approx(weighted.upper, rel=2e-6)
    merged = copied.dual_coef[:60].copy()
    merged[:20] += copied.dual_coef[60:]
    largest = np.abs(merged).max()
    np.testing.assert_allclose(merged, weighted.dual_coef, atol=1e-2 * largest)  # √gap


@pytest.mark.parametrize("solve", SOLVERS)
def test_a_kernel_given_twice_shares_its_weight(problem, solve):
    once = solve(problem)
    problem.kernels = problem.kernels[[0, 1, 1, 2]]
    twice = solve(problem)
    assert twice.kernel_weights[1] == pytest.approx(twice.kernel_weights[2])
    assert twice.upper == pytest.approx(once.upper, rel=0.03)


@pytest.mark.parametrize("solve", SOLVERS)
def test_rows_outside_every_kernel_are_carried(problem, solve):
    problem.kernels[:, :5] = problem.kernels[:, :, :5] = 0.0
    solution = solve(problem)
    _, optimum = reference.solve_saddle(problem.kernels, problem.y, problem.ridge)
    assert solution.upper == pytest.approx(optimum, rel=0.03)
    np.testing.assert_allclose(problem.scores(solution)[:5], solution.bias)


@pytest.mark.parametrize("solve", SOLVERS)
def test_kernels_that_are_zero_leave_a_constant_machine(problem, solve):
    problem.kernels[:] = 0.0
    solution = solve(problem)
    assert solution.upper - solution.lower <= 0.03 * solution.upper
    np.testing.assert_allclose(problem.scores(solution), solution.bias)


@pytest.mark.parametrize("solve", SOLVERS)
def test_one_row_of_each_class_is_known_in_closed_form(problem, solve):
    rows = np.array([np.flatnonzero(problem.y > 0)[0], np.flatnonzero(problem.y < 0)[0]])
    problem.y, problem.ridge = problem.y[rows], problem.ridge[rows]
    problem.kernels = problem.kernels[:, rows][:, :, rows]
    solution = solve(problem)
    signs = np.array([1.0, -1.0])
    expected = [0.25 * (signs @ kernel @ signs + problem.ridge.sum()) for kernel in problem.kernels]
    assert solution.upper == pytest.approx(max(expected))
    assert solution.upper - solution.lower <= 0.03 * solution.upper


@pytest.mark.parametrize("solve", SOLVERS)
@pytest.mark.parametrize("n_positive", [1, 3])
def test_classes_of_very_different_size_are_served(solve, n_positive):
    problem = Problem(n_positive=n_positive)
    assert np.sum(problem.y > 0) == n_positive
    solution = solve(problem)
    _, optimum = reference.solve_saddle(problem.kernels, problem.y, problem.ridge)
    assert solution.upper == pytest.approx(optimum, rel=0.03)
    assert solution.upper - solution.lower <= 0.03 * solution.upper


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_single_precision_reach_the_same_optimum(problem, dtype):
    columns = problem.columns
    problem.columns = lambda rows: columns(rows).astype(dtype)
    _, optimum = reference.solve_saddle(problem.kernels, problem.y, problem.ridge)
    assert problem.exchange(tol=1e-3).upper == pytest.approx(optimum, rel=1e-3)


def test_memory_is_a_few_blocks_of_columns():
    rng = np.random.default_rng(0)
    n_rows, block = 20_000, 8
    X = rng.standard_normal((n_rows, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)

    def columns(rows):
        dots = X @ X[rows].T
        return np.stack([dots, dots**2])

    squares = (X**2).sum(axis=1)
    data = columns, np.stack([squares, squares**2]), y, np.ones(n_rows)
    solve_by_exchange(*data, tol=0.0, max_iter=1, block=block)  # what numba needs is not ours
    tracemalloc.start()
    solve_by_exchange(*data, tol=0.0, max_iter=30, block=block)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 2 * n_rows * block * 8
