"""Dual coordinate descent on gated features, against general optimizers and scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from nearlinear.gates.anchors import SoftAssignment
from nearlinear.solvers.anchors.dual import (
    _coordinate_pass,
    _coordinate_step,
    duality_gap,
    solve_gated_svm,
    warn_if_loose,
)
from nearlinear.solvers.solution import GatedSolution
from reference import kronecker
from reference import svm as reference

N_ANCHORS = 4
LOSSES = ["hinge", "squared_hinge"]


class Problem:
    """Sixty noisy rows, their codes, and the same problem on features written out."""

    def __init__(self, dtype=np.float64):
        rng = np.random.default_rng(1)
        self.X = rng.standard_normal((60, 3)).astype(dtype)
        self.y = np.where(
            self.X[:, 0] * self.X[:, 1] + 0.3 * rng.standard_normal(60) > 0, 1.0, -1.0
        )
        self.C = rng.uniform(0.5, 2.0, 60)
        self.gate = SoftAssignment(rng.standard_normal((N_ANCHORS, 3)).astype(dtype), 2, 0.8)
        self.indices, self.codes = self.gate.codes(self.X)
        gamma = kronecker.densify(self.indices, self.codes, N_ANCHORS)
        self.features = kronecker.features(self.X, gamma)
        self.kernel = kronecker.kernel(self.X, gamma)

    def box(self, loss, C=None):
        C = self.C if C is None else C
        if loss == "hinge":
            return C, np.zeros_like(C)
        return np.full_like(C, np.inf), 0.5 / C

    def solve(self, loss="hinge", *, tol=1e-9, max_epochs=50_000, as_rows=np.asarray):
        upper, ridge = self.box(loss)
        return solve_gated_svm(
            as_rows(self.X), self.indices, self.codes, self.y, upper=upper, ridge=ridge,
            n_components=N_ANCHORS, tol=tol, max_epochs=max_epochs,
            rng=np.random.RandomState(0),
        )  # fmt: skip


@pytest.fixture
def problem():
    return Problem()


def scores_of(problem, solution):
    return problem.features @ kronecker.flatten(solution.weights, solution.biases)[:, 0]


@pytest.mark.passes
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_pass_steps_every_coordinate_to_its_best_value(as_rows, loss, dtype):
    problem = Problem(dtype)
    upper, ridge = problem.box(loss)
    rng = np.random.default_rng(2)
    order, dual = rng.permutation(60)[:40], np.zeros(60)
    weights, biases = np.zeros((N_ANCHORS, 3), dtype), np.zeros(N_ANCHORS, dtype)
    curvature = (problem.features**2).sum(axis=1) + ridge
    _coordinate_pass(
        as_rows(problem.X), problem.indices, problem.codes, problem.y, upper, ridge, curvature,
        order, dual, weights, biases, np.zeros(60, dtype=bool),
    )  # fmt: skip
    expected = reference.coordinate_pass(
        problem.features, problem.y, upper, ridge, order, np.zeros(60)
    )
    # forty steps in a row, each from the rounded result of the one before
    tolerance = 1000 * np.finfo(dtype).eps
    np.testing.assert_allclose(dual, expected, atol=tolerance)
    model = kronecker.flatten(weights[:, :, None], biases[:, None])[:, 0]
    np.testing.assert_allclose(model, problem.features.T @ (expected * problem.y), atol=tolerance)


@pytest.mark.passes
def test_coordinates_that_do_not_move_are_marked_idle(problem):
    upper, ridge = problem.box("hinge")
    idle = np.zeros(60, dtype=bool)
    dual = np.zeros(60)
    curvature = (problem.features**2).sum(axis=1)
    _coordinate_pass(
        problem.X, problem.indices, problem.codes, problem.y, upper, ridge, curvature,
        np.arange(60), dual, np.zeros((N_ANCHORS, 3)), np.zeros(N_ANCHORS), idle,
    )  # fmt: skip
    np.testing.assert_array_equal(idle, dual == 0)
    assert idle.any()


@pytest.mark.passes
@pytest.mark.parametrize(("slope", "expected"), [(1.0, 2.0), (-1.0, 0.0)])
def test_a_coordinate_without_curvature_goes_to_its_bound(slope, expected):
    assert _coordinate_step(slope, 0.0, 0.3, 2.0) == expected


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_solution_is_the_optimum_of_a_general_optimizer(problem, loss, as_rows):
    solution = problem.solve(loss, as_rows=as_rows)
    upper, ridge = problem.box(loss)
    alpha, optimum = reference.solve_dual(problem.kernel, problem.y, upper, ridge)
    assert solution.objective == pytest.approx(optimum, rel=1e-7)
    # a gap of 1e-9 of the objective (about 30) leaves √(2 gap) for the scores
    np.testing.assert_allclose(
        scores_of(problem, solution), problem.kernel @ (alpha * problem.y), atol=1e-3
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_objective_reported_is_that_of_the_model(problem, loss):
    solution = problem.solve(loss, tol=1e-2)
    model = kronecker.flatten(solution.weights, solution.biases)[:, 0]
    objective = getattr(reference, f"{loss}_objective")
    expected = objective(problem.features, model, problem.y, problem.C)
    assert solution.objective == pytest.approx(expected)


def test_decision_values_are_those_of_a_kernel_machine(problem):
    problem.C = np.full(60, 1.5)
    solution = problem.solve("hinge")
    # libsvm's bias is free. Each row once more with its opposite sign, label and score: the
    # machine becomes odd, its bias zero, and its problem twice ours.
    gram = np.block([[problem.kernel, -problem.kernel], [-problem.kernel, problem.kernel]])
    machine = SVC(C=0.75, kernel="precomputed", tol=1e-6).fit(gram, np.r_[problem.y, -problem.y])
    assert machine.intercept_[0] == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(
        scores_of(problem, solution), machine.decision_function(gram)[:60], atol=1e-3
    )  # √(2 gap) of ours, tol of libsvm's


@pytest.mark.parametrize("loss", LOSSES)
def test_one_component_is_the_linear_svm(problem, loss):
    upper, ridge = problem.box(loss, np.full(60, 0.7))
    solution = solve_gated_svm(
        problem.X, np.zeros((60, 1), dtype=np.int32), np.ones((60, 1)), problem.y, upper=upper,
        ridge=ridge, n_components=1, tol=1e-9, max_epochs=50_000, rng=np.random.RandomState(0),
    )  # fmt: skip
    linear = LinearSVC(C=0.7, loss=loss, dual=True, tol=1e-10, max_iter=1_000_000)
    linear.fit(problem.X, problem.y)
    expected = np.append(linear.coef_[0], linear.intercept_)
    features = np.hstack([problem.X, np.ones((60, 1))])
    objective = getattr(reference, f"{loss}_objective")
    assert solution.objective == pytest.approx(
        objective(features, expected, problem.y, 0.7), rel=1e-7
    )
    found = np.append(solution.weights[0, :, 0], solution.biases[0, 0])
    np.testing.assert_allclose(found, expected, atol=1e-3)  # √(2 gap)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_epochs", [1, 3, 10])
def test_the_gap_bounds_the_distance_to_the_optimum(problem, loss, n_epochs):
    rough = problem.solve(loss, tol=1e-12, max_epochs=n_epochs)
    _, optimum = reference.solve_dual(problem.kernel, problem.y, *problem.box(loss))
    assert 0 < rough.objective - optimum <= rough.gap


@pytest.mark.parametrize("loss", LOSSES)
def test_the_gap_closes_to_the_tolerance_asked_for(problem, loss):
    solution = problem.solve(loss, tol=1e-4)
    assert 0 <= solution.gap <= 1e-4 * solution.objective


def test_hinge_solution_satisfies_the_optimality_conditions(problem):
    solution = problem.solve("hinge", tol=1e-12)
    margins = problem.y * scores_of(problem, solution)
    at_zero, at_bound = solution.dual == 0, solution.dual == problem.C
    inside = ~at_zero & ~at_bound
    assert at_zero.any()
    assert at_bound.any()
    assert inside.any()
    # margins are known to about √(2 gap) ‖z‖
    assert margins[at_zero].min() > 1 - 1e-4
    assert margins[at_bound].max() < 1 + 1e-4
    np.testing.assert_allclose(margins[inside], 1.0, atol=1e-4)


def test_squared_hinge_dual_is_twice_the_weighted_slack(problem):
    solution = problem.solve("squared_hinge", tol=1e-12)
    slack = np.maximum(0.0, 1.0 - problem.y * scores_of(problem, solution))
    np.testing.assert_allclose(solution.dual, 2.0 * problem.C * slack, atol=1e-4)  # √(2 gap) ‖z‖


def test_a_row_of_weight_two_counts_as_two_rows(problem):
    problem.C = np.ones(60)
    problem.C[:10] = 2.0
    weighted = problem.solve("hinge")
    twice = np.r_[np.arange(60), np.arange(10)]
    problem.X, problem.y, problem.C = problem.X[twice], problem.y[twice], np.ones(70)
    problem.indices, problem.codes = problem.indices[twice], problem.codes[twice]
    assert problem.solve("hinge").objective == pytest.approx(weighted.objective, rel=1e-7)


def test_float32_reaches_the_optimum_to_its_precision():
    single, double = Problem(np.float32), Problem(np.float64)
    solution = single.solve("hinge", tol=1e-4)
    assert solution.weights.dtype == np.float32
    assert solution.gap <= 1e-4 * solution.objective
    assert solution.objective == pytest.approx(double.solve("hinge").objective, rel=1e-3)


def test_duality_gap_at_zero_is_the_loss_of_saying_nothing(problem):
    upper, ridge = problem.box("hinge")
    primal, gap = duality_gap(
        problem.X, problem.indices, problem.codes, problem.y, upper, ridge, np.zeros(60),
        np.zeros((N_ANCHORS, 3)), np.zeros(N_ANCHORS),
    )  # fmt: skip
    assert primal == pytest.approx(problem.C.sum())
    assert gap == pytest.approx(problem.C.sum())


def test_a_loose_solution_is_reported_with_its_gap_and_the_way_out():
    loose = GatedSolution(np.zeros((1, 1, 1)), np.zeros((1, 1)), 10.0, 0.5, 7)
    with pytest.warns(ConvergenceWarning, match=r"Some stopped at .* 5.0e-02 .* raise max_iter"):
        warn_if_loose([loose], 1e-3, "Some")


@pytest.mark.filterwarnings("error")
def test_a_tight_solution_is_not_reported():
    tight = GatedSolution(np.zeros((1, 1, 1)), np.zeros((1, 1)), 10.0, 0.005, 7)
    warn_if_loose([tight], 1e-3, "Some")
