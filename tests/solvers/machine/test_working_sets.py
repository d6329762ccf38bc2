"""Kernel machines against scikit-learn, general optimizers and the optimality conditions."""

import numpy as np
import pytest
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from nearlinear.kernels import Gaussian
from nearlinear.kernels.rows import ComputedRows, GramRows
from nearlinear.solvers.anchors.dual import solve_gated_svm
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from reference import kernel_svm as reference

KINDS = ["classification", "regression"]
KERNELS = ["linear", "quadratic", "gaussian"]
STEPS = {
    "free": FreeBias,
    "none": FixedBias,
    "penalized": lambda: FixedBias(1.5),
    "random": lambda: FixedBias(1.5, np.random.RandomState(0)),
}
FIXED = ["none", "penalized", "random"]


class Problem:
    """A hundred noisy rows, each with a C of its own."""

    def __init__(self, kind="classification", kernel="gaussian", n_rows=100, epsilon=0.3):
        rng = np.random.default_rng(11)
        self.kind, self.kernel, self.epsilon = kind, kernel, epsilon
        self.X = rng.standard_normal((n_rows, 3)).astype(np.float32).astype(np.float64)
        values = self.X[:, 0] * self.X[:, 1] + self.X[:, 2] + 0.5 * rng.standard_normal(n_rows)
        self.y = values if kind == "regression" else np.where(values > 0, 1.0, -1.0)
        self.C = rng.uniform(0.2, 2.0, n_rows)

    @property
    def gram(self):
        return reference.gram(self.kernel, self.X)

    @property
    def dual(self):
        if self.kind == "regression":
            return DualProblem.of_values(self.y, self.C, self.epsilon)
        return DualProblem.of_signs(self.y, self.C)

    def solve(self, steps="free", *, source=None, **options):
        source = GramRows(self.gram) if source is None else source
        return solve_kernel_machine(source, self.dual, STEPS[steps](), **options)

    def computed(self, *, n_kept=20, working_set=16, whole_set=0):
        """The Gaussian kernel a few rows at a time, with room for ``n_kept`` whole rows."""
        return Watched(
            Gaussian(0.5), self.X, 4 * len(self.y) * n_kept,
            working_set=working_set, whole_set=whole_set,
        )  # fmt: skip

    def scikit_learn(self):
        if self.kind == "regression":
            machine = SVR(C=1.0, epsilon=self.epsilon, kernel="precomputed", tol=1e-8)
        else:
            machine = SVC(C=1.0, kernel="precomputed", tol=1e-8)
        return machine.fit(self.gram, self.y, sample_weight=self.C)


class Watched(ComputedRows):
    """Computed rows that say what was asked of them."""

    n_shrunk = n_unshrunk = n_passing = n_caught_up = 0

    def restrict(self, columns):
        if len(columns) < self.n_rows:
            self.n_shrunk += 1
        else:
            self.n_unshrunk += 1  # the first one is that of the constructor
        super().restrict(columns)

    def subtract_at(self, others, rows, change, slack):
        self.n_caught_up += len(others) > 0 and len(rows) > 0
        super().subtract_at(others, rows, change, slack)

    def _subtract_unkept(self, rows, change, slack, Z):
        self.n_passing += Z is self._Z
        super()._subtract_unkept(rows, change, slack, Z)


def assert_honest(problem, steps, solution, atol=1e-9):
    """Box, Σa and certificate are what the full matrix says."""
    dual, a = problem.dual, solution.dual_coef
    shift = STEPS[steps]().shift
    gram = problem.gram + shift
    assert np.all(a >= dual.lower)
    assert np.all(a <= dual.upper)
    scale = max(1.0, np.abs(a).sum())
    np.testing.assert_allclose(solution.slack, problem.y - gram @ a, atol=atol * scale)
    if steps == "free":
        assert a.sum() == pytest.approx(0.0, abs=1e-12 * scale)
        bias = solution.bias
    else:
        assert solution.bias == pytest.approx(shift * a.sum(), abs=1e-12 * scale)
        bias = 0.0  # inside the kernel
    tolerance = {"rel": atol, "abs": atol * scale * max(1.0, dual.upper.max())}
    objective = reference.primal_value(gram, dual, a, bias)
    assert solution.objective == pytest.approx(objective, **tolerance)
    value = reference.dual_value(gram, dual, a)
    assert solution.dual_objective == pytest.approx(value, **tolerance)
    assert solution.gap >= -1e-12 * max(1.0, solution.objective)


def scores_of(problem, solution):
    return problem.gram @ solution.dual_coef + solution.bias


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-7])
def test_the_gap_closes_to_the_tolerance_and_is_that_of_the_model(kind, steps, tol):
    problem = Problem(kind)
    solution = problem.solve(steps, tol=tol)
    assert solution.gap <= tol * solution.objective
    assert_honest(problem, steps, solution)


@pytest.mark.passes
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_part_of_the_solver_runs_as_plain_python(kind, steps):
    problem = Problem(kind, n_rows=30)
    solution = problem.solve(steps, tol=1e-2)
    assert solution.gap <= 1e-2 * solution.objective
    assert_honest(problem, steps, solution)
    small = problem.solve(steps, source=problem.computed(working_set=8, n_kept=4), tol=1e-2)
    assert small.objective == pytest.approx(solution.objective, rel=2e-2)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_free_bias_gives_the_machine_of_scikit_learn(kind, kernel):
    problem = Problem(kind, kernel)
    solution, machine = problem.solve(tol=1e-11), problem.scikit_learn()
    assert solution.gap <= 1e-11 * solution.objective
    expected = np.zeros(100)
    expected[machine.support_] = machine.dual_coef_[0]
    value = reference.dual_value(problem.gram, problem.dual, expected)
    assert solution.objective == pytest.approx(value, rel=1e-8)
    assert solution.dual_objective == pytest.approx(value, rel=1e-8)
    # scores are known to about √(2 gap), a few 1e-5 here; a itself where the matrix has full rank
    assert solution.bias == pytest.approx(machine.intercept_[0], abs=1e-4)
    decision = machine.predict if kind == "regression" else machine.decision_function
    np.testing.assert_allclose(scores_of(problem, solution), decision(problem.gram), atol=1e-4)
    if kernel == "gaussian":
        np.testing.assert_allclose(solution.dual_coef, expected, atol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", ["none", "penalized"])
def test_other_biases_give_the_optimum_of_a_general_optimizer(steps, kind, kernel):
    problem = Problem(kind, kernel)
    solution = problem.solve(steps, tol=1e-9)
    gram = problem.gram + STEPS[steps]().shift
    a, optimum = reference.solve_box(gram, problem.dual)
    assert solution.objective == pytest.approx(optimum, rel=1e-6)
    np.testing.assert_allclose(problem.y - solution.slack, gram @ a, atol=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_penalized_bias_is_that_of_a_linear_machine_with_a_constant_feature(kind):
    problem = Problem(kind, "linear")
    options = dict(intercept_scaling=2.0, dual=True, tol=1e-10, max_iter=1_000_000)
    if kind == "regression":
        linear = LinearSVR(epsilon=0.3, loss="epsilon_insensitive", **options)
    else:
        linear = LinearSVC(loss="hinge", **options)
    linear.fit(problem.X, problem.y, sample_weight=problem.C)
    solution = solve_kernel_machine(GramRows(problem.gram), problem.dual, FixedBias(4.0), tol=1e-9)
    # weights are known to about √(2 gap)
    expected = linear.coef_.ravel()
    np.testing.assert_allclose(problem.X.T @ solution.dual_coef, expected, atol=1e-3)
    assert solution.bias == pytest.approx(float(np.ravel(linear.intercept_)[0]), abs=1e-3)


def test_the_dual_on_features_and_the_dual_on_the_matrix_agree():
    problem = Problem("classification", "linear")
    features = solve_gated_svm(
        problem.X, np.zeros((100, 1), dtype=np.int32), np.ones((100, 1)), problem.y,
        upper=problem.C, ridge=np.zeros(100), n_components=1, tol=1e-9, max_epochs=50_000,
        rng=np.random.RandomState(0),
    )  # fmt: skip
    gram = problem.gram
    shifted = solve_kernel_machine(GramRows(gram), problem.dual, FixedBias(1.0), tol=1e-9)
    plus_one = solve_kernel_machine(GramRows(gram + 1.0), problem.dual, FixedBias(), tol=1e-9)
    assert shifted.objective == pytest.approx(features.objective, rel=1e-8)
    assert plus_one.objective == pytest.approx(features.objective, rel=1e-8)
    # √(2 gap)
    np.testing.assert_allclose(
        problem.X.T @ shifted.dual_coef, features.weights[0, :, 0], atol=1e-3
    )
    assert shifted.bias == pytest.approx(features.biases[0, 0], abs=1e-3)


@pytest.mark.parametrize("shift", [0.0, 1.5])
@pytest.mark.parametrize("kind", KINDS)
def test_greedy_and_random_steps_agree(kind, shift):
    problem = Problem(kind)
    source, dual = GramRows(problem.gram), problem.dual
    greedy = solve_kernel_machine(source, dual, FixedBias(shift), tol=1e-9)
    rng = np.random.RandomState(1)
    random = solve_kernel_machine(source, dual, FixedBias(shift, rng), tol=1e-9)
    assert random.objective == pytest.approx(greedy.objective, rel=1e-8)
    np.testing.assert_allclose(random.slack, greedy.slack, atol=1e-3)  # √(2 gap)


@pytest.mark.parametrize("kind", KINDS)
def test_a_bias_that_costs_little_is_nearly_free(kind):
    problem = Problem(kind)
    problem.y[problem.y < 0] *= 0.5 if kind == "regression" else 1.0  # a bias that matters
    free = problem.solve(tol=1e-7)
    cheap = solve_kernel_machine(GramRows(problem.gram), problem.dual, FixedBias(100.0), tol=1e-7)
    price = free.bias**2 / 200.0
    slip = 1e-7 * free.objective
    assert free.objective - slip <= cheap.objective <= free.objective + price + slip
    assert cheap.bias == pytest.approx(free.bias, abs=1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_and_coordinates_agree_where_the_bias_is_zero(kind):
    problem = Problem(kind)
    gram = problem.gram
    # Each row once more with its opposite target and score makes the machine odd: its free bias
    # is zero, and its problem twice ours.
    odd = np.block([[gram, -gram], [-gram, gram]])
    y, C = np.r_[problem.y, -problem.y], np.tile(0.5 * problem.C, 2)
    regression = kind == "regression"
    dual = DualProblem.of_values(y, C, 0.3) if regression else DualProblem.of_signs(y, C)
    pairs = solve_kernel_machine(GramRows(odd), dual, FreeBias(), tol=1e-9)
    single = problem.solve("none", tol=1e-9)
    assert pairs.objective == pytest.approx(single.objective, rel=1e-8)
    assert pairs.bias == pytest.approx(0.0, abs=1e-3)  # √(2 gap)


@pytest.mark.parametrize("steps", STEPS)
def test_a_classifier_satisfies_the_optimality_conditions(steps):
    problem = Problem()
    solution = problem.solve(steps, tol=1e-11)
    margins = problem.y * scores_of(problem, solution)
    alpha = problem.y * solution.dual_coef
    at_zero, at_bound = alpha == 0, alpha == problem.C
    inside = ~at_zero & ~at_bound
    assert min(at_zero.sum(), at_bound.sum(), inside.sum()) > 5
    assert margins[at_zero].min() > 1 - 1e-4
    assert margins[at_bound].max() < 1 + 1e-4
    np.testing.assert_allclose(margins[inside], 1.0, atol=1e-4)


@pytest.mark.parametrize("steps", STEPS)
def test_a_regression_satisfies_the_optimality_conditions(steps):
    problem = Problem("regression")
    solution = problem.solve(steps, tol=1e-11)
    residual, a = problem.y - scores_of(problem, solution), solution.dual_coef
    at_zero, at_bound = a == 0, np.abs(a) == problem.C
    inside = ~at_zero & ~at_bound
    assert min(at_zero.sum(), at_bound.sum(), inside.sum()) > 5
    assert np.abs(residual[at_zero]).max() < 0.3 + 1e-4
    assert (residual * np.sign(a))[at_bound].min() > 0.3 - 1e-4
    np.testing.assert_allclose((residual * np.sign(a))[inside], 0.3, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("steps", STEPS)
def test_a_matrix_of_single_precision_is_good_for_single_precision(steps, dtype):
    problem = Problem()
    found = problem.solve(steps, source=GramRows(problem.gram.astype(dtype)), tol=1e-5)
    assert found.gap <= 1e-5 * found.objective
    assert found.objective == pytest.approx(problem.solve(steps, tol=1e-9).objective, rel=2e-5)
    assert_honest(problem, steps, found, atol=1e-7)


@pytest.mark.parametrize("steps", ["free", "none", "penalized"])
def test_the_gap_of_a_huge_C_is_that_of_the_matrix_given(steps):
    problem = Problem(n_rows=150)
    problem.C *= 1e6
    gram = problem.gram.astype(np.float32)
    found = problem.solve(steps, source=GramRows(gram))
    exact = gram.astype(np.float64) + STEPS[steps]().shift
    bias = found.bias if steps == "free" else 0.0
    objective = reference.primal_value(exact, problem.dual, found.dual_coef, bias)
    gap = objective - reference.dual_value(exact, problem.dual, found.dual_coef)
    assert found.gap == pytest.approx(gap, rel=1e-2)
    assert gap <= 1e-3 * objective


# Rows on demand


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_on_demand_give_the_machine_of_the_matrix(kind, steps):
    problem = Problem(kind, n_rows=150)
    source = problem.computed(n_kept=12)
    found = problem.solve(steps, source=source, tol=1e-5)
    assert found.gap <= 1e-5 * found.objective
    assert_honest(problem, steps, found, atol=1e-6)
    exact = problem.solve(steps, tol=1e-9)
    assert found.objective == pytest.approx(exact.objective, rel=2e-5)
    np.testing.assert_allclose(
        scores_of(problem, found), scores_of(problem, exact), atol=5e-2
    )  # √(2 gap)
    # all that a matrix in memory does without
    assert source.n_shrunk > 0
    assert source.n_unshrunk > 1
    assert source.n_caught_up > 0
    assert source.n_computed > 150  # rows were dropped and computed again


@pytest.mark.parametrize("steps", STEPS)
def test_rows_that_never_fit_are_used_in_passing(steps):
    problem = Problem(n_rows=150)
    source = problem.computed(n_kept=3, working_set=32)
    found = problem.solve(steps, source=source, tol=1e-4)
    assert source.n_passing > 0
    assert found.gap <= 1e-4 * found.objective
    assert_honest(problem, steps, found, atol=1e-6)


@pytest.mark.parametrize("steps", STEPS)
def test_rows_that_are_left_over_are_solved_as_a_whole(steps):
    problem = Problem("regression", n_rows=150, epsilon=1.0)
    source = problem.computed(n_kept=90, working_set=24, whole_set=110)
    found = problem.solve(steps, source=source, tol=1e-5)
    assert source.n_shrunk > 0
    assert found.gap <= 1e-5 * found.objective
    assert_honest(problem, steps, found, atol=1e-6)


@pytest.mark.parametrize("steps", STEPS)
def test_a_matrix_that_fits_is_solved_at_once(steps):
    problem = Problem()
    source = problem.computed(n_kept=100, whole_set=100)
    found = problem.solve(steps, source=source, tol=1e-5)
    assert found.objective == pytest.approx(problem.solve(steps, tol=1e-9).objective, rel=2e-5)
    assert_honest(problem, steps, found, atol=1e-6)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_matrix_that_were_left_out_hear_of_the_rest(kind, steps):
    problem = Problem(kind)
    source = GramRows(problem.gram)
    source.working_set = 16  # so that a hundred rows are many
    found = problem.solve(steps, source=source, tol=1e-6)
    assert_honest(problem, steps, found)
    exact = problem.solve(steps, tol=1e-9)
    assert found.objective == pytest.approx(exact.objective, rel=2e-6)


@pytest.mark.parametrize("steps", STEPS)
def test_all_rows_may_be_left_out(steps):
    problem = Problem()
    problem.y, problem.C = np.tile([1.0, -1.0], 50), np.full(100, 1e-4)
    found = problem.solve(steps, source=problem.computed())
    np.testing.assert_allclose(found.dual_coef, problem.C * problem.y)  # every one at its bound
    assert found.gap <= 1e-3 * found.objective
    assert_honest(problem, steps, found)


@pytest.mark.parametrize("max_iter", [1, 2, 5, 10])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_on_iterations_returns_an_honest_gap(kind, steps, max_iter):
    problem = Problem(kind, n_rows=150)
    found = problem.solve(steps, source=problem.computed(), tol=1e-9, max_iter=max_iter)
    assert found.n_iter == max_iter
    assert found.gap > 1e-9 * found.objective
    assert_honest(problem, steps, found, atol=1e-6)
    optimum = problem.solve(steps, tol=1e-9).objective
    assert found.dual_objective <= optimum * (1 + 1e-6)
    assert found.objective >= optimum * (1 - 1e-6)


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_never_descends(kind, steps, in_memory):
    problem = Problem(kind, n_rows=150)
    values = []
    for max_iter in range(1, 13):
        source = None if in_memory else problem.computed()
        found = problem.solve(steps, source=source, tol=1e-9, max_iter=max_iter)
        values.append(reference.dual_value(problem.gram + STEPS[steps]().shift, problem.dual,
                                           found.dual_coef))  # fmt: skip
    assert np.diff(values).min() >= -1e-6 * values[-1]  # single precision on demand
    assert values[-1] > values[0]


# Starts


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_from_the_solution_stops_at_the_first_look(kind, steps, in_memory):
    problem = Problem(kind)
    cold = problem.solve(steps, source=None if in_memory else problem.computed(), tol=1e-4)
    warm = problem.solve(
        steps, source=None if in_memory else problem.computed(), tol=1.001e-4, start=cold.dual_coef
    )
    assert cold.n_iter > 1
    assert warm.n_iter == 1
    np.testing.assert_allclose(warm.dual_coef, cold.dual_coef, rtol=1e-12, atol=1e-15)
    assert_honest(problem, steps, warm, atol=1e-6)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_start_nearby_needs_fewer_iterations(kind, steps):
    problem = Problem(kind, n_rows=150)
    near = problem.solve(steps, tol=1e-6).dual_coef
    problem.C *= 1.02
    cold = problem.solve(steps, source=problem.computed(), tol=1e-3)
    warm = problem.solve(steps, source=problem.computed(), tol=1e-3, start=near)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=2e-3)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["above", "below", "anywhere"])
def test_a_start_outside_the_box_is_brought_back(kind, steps, start):
    problem = Problem(kind)
    values = {"above": np.full(100, 100.0), "below": np.full(100, -100.0)}
    values["anywhere"] = 10.0 * np.random.default_rng(1).standard_normal(100)
    before = values[start].copy()
    found = problem.solve(steps, tol=1e-6, start=values[start])
    assert found.objective == pytest.approx(problem.solve(steps, tol=1e-6).objective, rel=2e-6)
    assert_honest(problem, steps, found)
    np.testing.assert_array_equal(values[start], before)


@pytest.mark.parametrize("steps", STEPS)
def test_a_feasible_start_is_taken_as_it_is(steps):
    problem = Problem("regression")
    start = np.zeros(100)
    start[:4] = [0.1, -0.15, 0.2, -0.15]
    found = problem.solve(steps, tol=1e6, start=start)  # any point is good enough
    np.testing.assert_allclose(found.dual_coef, start, rtol=1e-12)
    assert_honest(problem, steps, found)


# Identities


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_weight_two_counts_as_two_rows(kind, steps):
    problem = Problem(kind)
    problem.C = np.ones(100)
    problem.C[:20] = 2.0
    weighted = problem.solve(steps, tol=1e-8)
    twice = np.r_[np.arange(100), np.arange(20)]
    problem.X, problem.y, problem.C = problem.X[twice], problem.y[twice], np.ones(120)
    assert problem.solve(steps, tol=1e-8).objective == pytest.approx(weighted.objective, rel=2e-8)


@pytest.mark.parametrize("steps", ["free", "none"])
def test_the_scale_of_the_kernel_is_the_inverse_of_that_of_C(steps):
    problem = Problem()
    plain = problem.solve(steps, tol=1e-8)
    gram = 1e3 * problem.gram
    problem.C *= 1e-3
    scaled = problem.solve(steps, source=GramRows(gram), tol=1e-8)
    assert 1e3 * scaled.objective == pytest.approx(plain.objective, rel=2e-8)
    np.testing.assert_allclose(scaled.slack, plain.slack, atol=1e-2)  # √(2 gap)


@pytest.mark.parametrize("steps", STEPS)
def test_a_tube_of_no_width_is_allowed(steps):
    problem = Problem("regression", epsilon=0.0)
    found = problem.solve(steps, tol=1e-8)
    assert found.gap <= 1e-8 * found.objective
    assert_honest(problem, steps, found)


# Degenerate input


@pytest.mark.parametrize("rng", [None, np.random.RandomState(0)])
def test_rows_that_the_kernel_does_not_see_sit_at_their_bound(rng):
    problem = Problem(kernel="linear")
    problem.X[::4] = 0.0  # K_ii = 0
    found = solve_kernel_machine(GramRows(problem.gram), problem.dual, FixedBias(rng=rng), tol=1e-8)
    np.testing.assert_array_equal(found.dual_coef[::4], (problem.C * problem.y)[::4])
    assert_honest(problem, "none", found)
    assert found.gap <= 1e-8 * found.objective


def test_rows_that_the_kernel_does_not_see_count_for_the_free_bias():
    problem = Problem(kernel="linear")
    problem.X[::4] = 0.0
    found, machine = problem.solve(tol=1e-9), problem.scikit_learn()
    decision = machine.decision_function(problem.gram)
    np.testing.assert_allclose(scores_of(problem, found), decision, atol=1e-3)  # √(2 gap)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_equal_rows_of_opposite_targets_are_allowed(kind, steps):
    problem = Problem(kind)
    problem.X[50:], problem.y[50:] = problem.X[:50], -problem.y[:50]
    found = problem.solve(steps, tol=1e-6)
    assert found.gap <= 1e-6 * found.objective
    assert_honest(problem, steps, found)


@pytest.mark.parametrize("C", [10.0, 0.01])
def test_one_row_of_each_class_has_the_solution_on_paper(C):
    problem = DualProblem.of_signs(np.array([1.0, -1.0]), np.full(2, C))
    gram = np.array([[9.0, -3.0], [-3.0, 1.0]])  # of 3 and −1 on a line
    found = solve_kernel_machine(GramRows(gram), problem, FreeBias(), tol=1e-9)
    alpha = min(C, 1 / 8)  # margin ±1 at 3 and −1
    np.testing.assert_allclose(found.dual_coef, [alpha, -alpha])
    loss = 0.0 if C > 1 else C * (2 - 16 * alpha)
    assert found.objective == pytest.approx(8 * alpha**2 + loss)
    assert found.bias == pytest.approx(-4 * alpha if C < 1 else -0.5)
    assert found.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("steps", STEPS)
def test_one_class_alone_is_a_matter_of_the_bias(steps):
    problem = Problem()
    problem.y = np.ones(100)
    found = problem.solve(steps, tol=1e-6)
    assert_honest(problem, steps, found)
    assert found.gap <= 1e-6 * found.objective
    if steps == "free":
        assert found.objective == 0.0
        assert found.bias == 1.0


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_without_weight_are_as_if_absent(kind, steps):
    problem = Problem(kind)
    problem.C[::3] = 0.0
    found = problem.solve(steps, tol=1e-8)
    assert np.all(found.dual_coef[::3] == 0.0)
    assert_honest(problem, steps, found)
    kept = problem.C > 0
    problem.X, problem.y, problem.C = problem.X[kept], problem.y[kept], problem.C[kept]
    assert problem.solve(steps, tol=1e-8).objective == pytest.approx(found.objective, rel=2e-8)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_weight_at_all_costs_nothing(kind, steps):
    problem = Problem(kind)
    problem.C = np.zeros(100)
    found = problem.solve(steps)
    assert found.objective == found.gap == 0.0
    assert np.all(found.dual_coef == 0.0)


@pytest.mark.parametrize("steps", STEPS)
def test_a_kernel_of_zeros_leaves_the_bias(steps):
    problem = Problem(kernel="linear")
    problem.X[:] = 0.0
    found = problem.solve(steps, tol=1e-6)
    assert_honest(problem, steps, found)
    assert found.gap <= 1e-6 * found.objective
    if steps == "none":
        assert found.objective == pytest.approx(problem.C.sum())
    if steps == "free":
        smaller = min(problem.C[problem.y > 0].sum(), problem.C[problem.y < 0].sum())
        assert found.objective == pytest.approx(2.0 * smaller)


@pytest.mark.parametrize("steps", ["free", "none", "penalized"])
def test_a_huge_C_separates_what_can_be_separated(steps):
    problem = Problem()
    problem.C = np.full(100, 1e6)
    found = problem.solve(steps, tol=1e-2)  # every margin violated by 1e-9 costs 1e-3
    assert_honest(problem, steps, found)
    assert found.gap <= 1e-2 * found.objective
    assert np.abs(found.dual_coef).max() < 1e5
    assert np.min(problem.y * scores_of(problem, found)) > 1 - 1e-4


@pytest.mark.parametrize("steps", ["free", "penalized"])
def test_a_huge_C_on_what_cannot_be_separated_ends_with_its_gap(steps):
    problem = Problem(kernel="linear")
    problem.C = np.full(100, 1e8)
    found = problem.solve(steps, tol=1e-9, max_iter=3)
    assert found.n_iter == 3
    assert found.gap > 1e-9 * found.objective
    assert_honest(problem, steps, found)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tiny_C_puts_every_row_that_costs_at_its_bound(kind, steps):
    problem = Problem(kind)
    problem.C = np.full(100, 1e-9)
    found = problem.solve(steps, tol=1e-9)
    assert_honest(problem, steps, found, atol=1e-15)
    assert found.gap <= 1e-9 * found.objective
    residual = problem.y - scores_of(problem, found)
    outside = np.abs(residual) > problem.dual.epsilon + 1e-6
    if kind == "classification":
        outside &= problem.y * residual > 0  # beyond the margin nothing is paid
    np.testing.assert_allclose(np.abs(found.dual_coef[outside]), 1e-9)
    assert outside.sum() > 30


@pytest.mark.parametrize("steps", STEPS)
def test_a_tube_wider_than_the_targets_costs_nothing(steps):
    problem = Problem("regression", epsilon=100.0)
    found = problem.solve(steps)
    assert found.objective == found.gap == 0.0
    assert found.n_iter == 1
    assert np.all(found.dual_coef == 0.0)


def test_constant_targets_are_the_bias():
    problem = Problem("regression")
    problem.y = np.full(100, 7.0)
    found = problem.solve()
    assert found.objective == found.gap == 0.0
    assert np.all(found.dual_coef == 0.0)
    assert abs(found.bias - 7.0) <= 0.3


@pytest.mark.parametrize("steps", FIXED)
def test_constant_targets_without_a_free_bias_are_learned(steps):
    problem = Problem("regression")
    problem.y = np.full(100, 7.0)
    found = problem.solve(steps, tol=1e-6)
    assert found.gap <= 1e-6 * found.objective
    assert_honest(problem, steps, found)


@pytest.mark.parametrize("steps", STEPS)
def test_one_row_is_enough(steps):
    problem = Problem("regression", n_rows=1)
    found = problem.solve(steps, tol=1e-6)
    assert_honest(problem, steps, found)
    assert found.gap <= 1e-6 * found.objective
