"""Pair steps against the same on a full matrix, slopes always fresh."""

import numpy as np
import pytest

from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.steps import pair_pass
from reference import kernel_svm as reference

N_ROWS = 40
KINDS = ["classification", "regression"]
DTYPES = [np.float32, np.float64]
# The pass subtracts two rows of the matrix in their own precision.
SLACK = {np.float32: 1e-6, np.float64: 1e-12}


class Problem:
    """Forty noisy rows, each with a C of its own, and a dual vector in progress."""

    def __init__(self, kind="classification", dtype=np.float64, C=None, kernel="gaussian"):
        rng = np.random.default_rng(4)
        X = rng.standard_normal((N_ROWS, 2))
        values = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(N_ROWS)
        C = rng.uniform(0.2, 3.0, N_ROWS) if C is None else np.full(N_ROWS, C)
        if kind == "classification":
            self.box = DualProblem.of_signs(np.where(values > 0, 1.0, -1.0), C)
        else:
            self.box = DualProblem.of_values(values, C, 0.2)
        self.gram = reference.gram(kernel, X).astype(dtype)
        self.exact = self.gram.astype(np.float64)
        self.start_at(np.zeros(N_ROWS))

    def start_at(self, dual):
        self.dual = dual.copy()
        self.slack = self.box.targets - self.exact @ dual

    def start_inside(self):
        """At bounds, at zero and on either side of it, with Σa = 0."""
        rng = np.random.default_rng(5)
        dual = rng.uniform(self.box.lower, self.box.upper)
        dual[:8] = 0.0
        dual[8:20] = np.where(rng.random(12) < 0.5, self.box.lower[8:20], self.box.upper[8:20])
        excess = dual.sum()
        for i in range(20, N_ROWS):
            rest = np.clip(dual[i] - excess, self.box.lower[i], self.box.upper[i])
            excess += rest - dual[i]
            dual[i] = rest
        assert abs(excess) < 1e-12
        self.start_at(dual)

    def run(self, max_steps, tol=1e-3):
        box = self.box
        return pair_pass(
            self.gram, box.lower, box.upper, box.epsilon, self.dual, self.slack, tol, max_steps
        )

    def value(self):
        return reference.dual_value(self.exact, self.box, self.dual)


@pytest.mark.passes
@pytest.mark.parametrize("start", ["zero", "inside"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_step_is_that_of_the_reference(dtype, kind, start):
    problem = Problem(kind, dtype)
    if start == "inside":
        problem.start_inside()
    values = [problem.value()]
    for _ in range(80):
        problem.start_at(problem.dual)
        outcomes = reference.pair_outcomes(problem.exact, problem.box, problem.dual, 1e-3)
        n_steps = problem.run(1)
        distance = min(np.abs(problem.dual - outcome).max() for outcome in outcomes)
        assert distance < 1e-10  # a step divides by the curvature
        expected = problem.box.targets - problem.exact @ problem.dual
        np.testing.assert_allclose(problem.slack, expected, atol=SLACK[dtype])
        if n_steps == 0:
            break
        values.append(problem.value())
    assert len(values) > 20
    assert np.all(np.diff(values) > 0)


@pytest.mark.passes
def test_a_regression_stops_at_zero_on_its_way_to_the_other_side():
    problem = Problem("regression")
    problem.start_inside()
    stopped = crossed = 0
    for _ in range(80):
        before = problem.dual.copy()
        problem.run(1)
        stopped += np.any((before != 0) & (problem.dual == 0))
        crossed += np.any(before * problem.dual < 0)
    assert stopped > 3
    assert crossed == 0


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
def test_many_steps_at_once_are_the_steps_one_by_one(kind):
    at_once, one_by_one = Problem(kind), Problem(kind)
    assert at_once.run(30, tol=0.0) == 30
    for _ in range(30):
        assert one_by_one.run(1, tol=0.0) == 1
    np.testing.assert_array_equal(at_once.dual, one_by_one.dual)
    np.testing.assert_array_equal(at_once.slack, one_by_one.slack)


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_end_when_no_pair_violates(dtype, kind):
    problem = Problem(kind, dtype)
    n_steps = problem.run(100_000)
    assert 0 < n_steps < 2000
    violation = reference.pair_violation(problem.exact, problem.box, problem.dual)
    assert violation <= 1e-3 + 2 * SLACK[dtype]
    before = problem.dual.copy()
    assert problem.run(100_000) == 0
    np.testing.assert_array_equal(problem.dual, before)


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_box_and_the_sum_are_kept_and_the_slack_is_up_to_date(dtype, kind):
    problem = Problem(kind, dtype)
    problem.start_inside()
    for _ in range(10):
        problem.run(20, tol=1e-6)
        assert np.all(problem.dual >= problem.box.lower)
        assert np.all(problem.dual <= problem.box.upper)
        assert problem.dual.sum() == pytest.approx(0.0, abs=1e-12)
    expected = problem.box.targets - problem.exact @ problem.dual
    np.testing.assert_allclose(problem.slack, expected, atol=SLACK[dtype])
    at_bound = (problem.dual == problem.box.lower) | (problem.dual == problem.box.upper)
    assert 5 < at_bound.sum() < N_ROWS


@pytest.mark.passes
def test_a_free_step_makes_the_slopes_equal():
    problem = DualProblem.of_signs(np.array([1.0, -1.0]), np.ones(2))
    dual, slack = np.zeros(2), problem.targets.copy()
    assert pair_pass(2.0 * np.eye(2), problem.lower, problem.upper, 0.0, dual, slack, 0.0, 9) == 1
    np.testing.assert_array_equal(dual, [0.5, -0.5])
    np.testing.assert_array_equal(slack, [0.0, 0.0])


@pytest.mark.passes
@pytest.mark.parametrize("gram", [np.zeros((2, 2)), np.ones((2, 2))])
def test_a_pair_without_curvature_goes_to_its_bound(gram):
    problem = DualProblem.of_signs(np.array([1.0, -1.0]), np.array([1.0, 3.0]))
    dual, slack = np.zeros(2), problem.targets.copy()
    assert pair_pass(gram, problem.lower, problem.upper, 0.0, dual, slack, 1e-3, 9) == 1
    np.testing.assert_array_equal(dual, [1.0, -1.0])
    np.testing.assert_array_equal(slack, [1.0, -1.0])


@pytest.mark.passes
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_class_alone_takes_no_step(sign):
    problem = DualProblem.of_signs(np.full(3, sign), np.ones(3))
    dual, slack = np.zeros(3), problem.targets.copy()
    assert pair_pass(np.eye(3), problem.lower, problem.upper, 0.0, dual, slack, 1e-3, 9) == 0
    np.testing.assert_array_equal(dual, np.zeros(3))


@pytest.mark.passes
def test_rows_without_weight_never_move():
    problem = Problem()
    problem.box.lower[::3], problem.box.upper[::3] = 0.0, 0.0
    problem.run(10_000)
    assert np.all(problem.dual[::3] == 0.0)
    assert np.any(problem.dual != 0.0)
    assert reference.pair_violation(problem.exact, problem.box, problem.dual) <= 1e-3 + 1e-12


@pytest.mark.parametrize("scale", [1e-14, 1e-6, 1e6])
def test_the_size_of_the_kernel_is_only_a_unit(scale):
    problem, scaled = Problem(C=1.0), Problem(C=1.0 / scale)
    scaled.gram *= scale
    problem.run(100_000, tol=1e-6)
    n_steps = scaled.run(100_000, tol=1e-6)
    assert n_steps < 2000
    # two slopes that agree to 1e-6, divided by a curvature of some hundredths
    np.testing.assert_allclose(scale * scaled.dual, problem.dual, atol=1e-3)
