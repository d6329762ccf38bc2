"""Coordinate steps against the best of all points that a coordinate could be at."""

import numpy as np
import pytest

from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.steps import best_value, greedy_pass, largest_slopes, random_pass
from reference import kernel_svm as reference

N_ROWS = 40
KINDS = ["classification", "regression"]
DTYPES = [np.float32, np.float64]
SHIFTS = [0.0, 1.5]
# As plain Python, a single-precision entry plus the shift is rounded to single precision: 1e-7 in
# each of some hundred steps.
SLACK = {np.float32: 1e-5, np.float64: 1e-12}


class Problem:
    """Forty noisy rows, each with a C of its own, and a dual vector in progress."""

    def __init__(self, kind="classification", dtype=np.float64, shift=0.0, kernel="gaussian"):
        rng = np.random.default_rng(6)
        X = rng.standard_normal((N_ROWS, 2))
        values = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(N_ROWS)
        C = rng.uniform(0.2, 3.0, N_ROWS)
        if kind == "classification":
            self.box = DualProblem.of_signs(np.where(values > 0, 1.0, -1.0), C)
        else:
            self.box = DualProblem.of_values(values, C, 0.2)
        self.shift = shift
        self.gram = reference.gram(kernel, X).astype(dtype)
        self.exact = self.gram.astype(np.float64) + shift
        self.start_at(np.zeros(N_ROWS))

    def start_at(self, dual):
        self.dual = dual.copy()
        self.slack = self.box.targets - self.exact @ dual

    def start_inside(self):
        """At bounds, at zero and on either side of it."""
        rng = np.random.default_rng(7)
        dual = rng.uniform(self.box.lower, self.box.upper)
        dual[:8], dual[8:14], dual[14:20] = 0.0, self.box.lower[8:14], self.box.upper[14:20]
        self.start_at(dual)

    def arguments(self):
        box = self.box
        return (
            self.gram, self.shift, box.lower, box.upper, box.epsilon, self.dual, self.slack
        )  # fmt: skip

    def greedy(self, max_steps, tol=1e-3):
        return greedy_pass(*self.arguments(), tol, max_steps)

    def random(self, order):
        return random_pass(*self.arguments(), order)

    def value(self):
        return reference.dual_value(self.exact, self.box, self.dual)

    def assert_consistent(self):
        assert np.all(self.dual >= self.box.lower)
        assert np.all(self.dual <= self.box.upper)
        expected = self.box.targets - self.exact @ self.dual
        atol = SLACK[self.gram.dtype.type]
        np.testing.assert_allclose(self.slack, expected, atol=atol)


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("curvature", [0.0, 0.7, 5.0])
def test_the_best_value_is_better_than_any_on_a_grid(kind, curvature):
    rng = np.random.default_rng(8)
    problem = Problem(kind).box
    dual = rng.uniform(problem.lower, problem.upper)
    for i, slack in enumerate(rng.standard_normal(N_ROWS)):
        low, high, epsilon = problem.lower[i], problem.upper[i], problem.epsilon

        def value(a, slack=slack, epsilon=epsilon, now=dual[i]):
            return slack * (a - now) - epsilon * np.abs(a) - 0.5 * curvature * (a - now) ** 2

        best = best_value(dual[i], slack, curvature, low, high, epsilon)
        assert low <= best <= high
        grid = np.append(np.linspace(low, high, 1001), 0.0)
        assert value(best) >= value(grid).max() - 1e-12


@pytest.mark.passes
@pytest.mark.parametrize(
    ("slack", "expected"), [(1.0, 2.0), (0.3, 2.0), (0.2, 0.0), (-0.2, 0.0), (-0.3, -1.0)]
)
def test_a_row_that_the_kernel_does_not_see_goes_to_its_bound(slack, expected):
    assert best_value(0.5, slack, 0.0, -1.0, 2.0, 0.25) == expected


@pytest.mark.passes
@pytest.mark.parametrize("start", ["zero", "inside"])
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_greedy_step_is_that_of_the_reference(dtype, kind, shift, start):
    problem = Problem(kind, dtype, shift)
    if start == "inside":
        problem.start_inside()
    values = [problem.value()]
    for _ in range(60):
        problem.start_at(problem.dual)
        outcomes = reference.greedy_outcomes(problem.exact, problem.box, problem.dual, 1e-3)
        n_steps = problem.greedy(1)
        distance = min(np.abs(problem.dual - outcome).max() for outcome in outcomes)
        assert distance < 10 * SLACK[dtype]
        problem.assert_consistent()
        if n_steps == 0:
            break
        values.append(problem.value())
    assert len(values) > 20
    assert np.all(np.diff(values) > 0)


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
def test_many_greedy_steps_at_once_are_the_steps_one_by_one(kind):
    at_once, one_by_one = Problem(kind), Problem(kind)
    assert at_once.greedy(30, tol=0.0) == 30
    for _ in range(30):
        assert one_by_one.greedy(1, tol=0.0) == 1
    np.testing.assert_array_equal(at_once.dual, one_by_one.dual)
    np.testing.assert_array_equal(at_once.slack, one_by_one.slack)


@pytest.mark.passes
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_greedy_steps_end_when_every_slope_is_small(dtype, kind, shift):
    problem = Problem(kind, dtype, shift)
    n_steps = problem.greedy(100_000)
    assert 0 < n_steps < 5000
    problem.assert_consistent()
    violation = reference.coordinate_violation(problem.exact, problem.box, problem.dual)
    assert violation <= 1e-3 + SLACK[dtype]
    before = problem.dual.copy()
    assert problem.greedy(100_000) == 0
    np.testing.assert_array_equal(problem.dual, before)


@pytest.mark.passes
@pytest.mark.parametrize("start", ["zero", "inside"])
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_random_pass_steps_every_coordinate_to_its_best_value(dtype, kind, shift, start):
    problem = Problem(kind, dtype, shift)
    if start == "inside":
        problem.start_inside()
    order = np.random.default_rng(9).permutation(N_ROWS)[:30]
    before = problem.dual.copy()
    expected, moved = reference.coordinate_pass(problem.exact, problem.box, before, order)
    found = problem.random(order)
    # thirty steps in a row, each from the rounded result of the one before
    np.testing.assert_allclose(problem.dual, expected, atol=100 * SLACK[dtype])
    problem.assert_consistent()
    left_out = np.setdiff1d(np.arange(N_ROWS), order)
    np.testing.assert_array_equal(problem.dual[left_out], before[left_out])
    assert found == pytest.approx(moved, abs=100 * SLACK[dtype])


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
def test_random_passes_ascend_until_every_slope_is_small(kind):
    problem = Problem(kind)
    rng = np.random.default_rng(10)
    values = [0.0]
    for _ in range(1000):
        violation = problem.random(rng.permutation(N_ROWS))
        values.append(problem.value())
        if violation <= 1e-5:
            break
    assert np.all(np.diff(values) > -1e-12)
    problem.assert_consistent()
    # what the last pass moved later may have tilted what it had moved before
    assert reference.coordinate_violation(problem.exact, problem.box, problem.dual) <= 1e-3


@pytest.mark.passes
@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_over_an_optimal_vector_moves_nothing(kind):
    problem = Problem(kind)
    problem.greedy(100_000, tol=1e-12)
    before = problem.dual.copy()
    assert problem.random(np.arange(N_ROWS)) <= 1e-11
    np.testing.assert_allclose(problem.dual, before, atol=1e-11)


@pytest.mark.passes
@pytest.mark.parametrize("name", ["greedy", "random"])
def test_rows_of_zeros_end_at_their_bound(name):
    problem = Problem()
    problem.gram[::4], problem.gram[:, ::4] = 0.0, 0.0
    problem.exact = problem.gram.copy()
    for _ in range(50):
        problem.random(np.arange(N_ROWS)) if name == "random" else problem.greedy(100)
    box = problem.box
    bound = np.where(box.targets > 0, box.upper, box.lower)
    np.testing.assert_array_equal(problem.dual[::4], bound[::4])
    problem.assert_consistent()


@pytest.mark.parametrize("kind", KINDS)
def test_largest_slopes_are_zero_where_nothing_can_be_gained(kind):
    problem = Problem(kind)
    problem.start_inside()
    found = largest_slopes(problem.box, problem.dual, problem.slack)
    gains = [
        reference.coordinate_step(problem.exact, problem.box, problem.dual, i)[1]
        for i in range(N_ROWS)
    ]
    np.testing.assert_array_equal(found > 0, np.array(gains) > 1e-15)
    violation = reference.coordinate_violation(problem.exact, problem.box, problem.dual)
    assert found.max() == pytest.approx(violation)
    assert 0 < np.count_nonzero(found == 0) < N_ROWS
