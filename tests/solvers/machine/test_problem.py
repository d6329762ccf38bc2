"""The common dual of classification and regression, by hand and by brute force."""

import numpy as np
import pytest

from nearlinear.solvers.machine.problem import DualProblem, MachineSolution
from reference import kernel_svm as reference
from reference.lasvm import hinge_loss


def random_problem(kind, seed=0, n_rows=30):
    rng = np.random.default_rng(seed)
    C = rng.uniform(0.1, 2.0, n_rows)
    if kind == "classification":
        return DualProblem.of_signs(rng.choice([-1.0, 1.0], n_rows), C)
    return DualProblem.of_values(rng.standard_normal(n_rows), C, 0.3)


KINDS = ["classification", "regression"]


def test_signs_turn_the_box_to_their_side():
    problem = DualProblem.of_signs(np.array([1, -1, 1, -1]), np.array([2.0, 3.0, 0.0, 0.0]))
    np.testing.assert_array_equal(problem.targets, [1.0, -1.0, 1.0, -1.0])
    np.testing.assert_array_equal(problem.lower, [0.0, -3.0, 0.0, 0.0])
    np.testing.assert_array_equal(problem.upper, [2.0, 0.0, 0.0, 0.0])
    assert problem.epsilon == 0.0
    assert problem.targets.dtype == np.float64
    assert len(problem) == 4


def test_values_have_a_box_on_both_sides():
    values = np.array([5, -7], dtype=np.float32)
    problem = DualProblem.of_values(values, np.array([2.0, 3.0]), 0.25)
    np.testing.assert_array_equal(problem.targets, [5.0, -7.0])
    np.testing.assert_array_equal(problem.lower, [-2.0, -3.0])
    np.testing.assert_array_equal(problem.upper, [2.0, 3.0])
    assert problem.epsilon == 0.25
    assert problem.targets.dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_is_the_problem_of_its_rows(kind):
    problem, rows = random_problem(kind), np.array([4, 1, 17])
    part = problem.take(rows)
    for name in ("targets", "lower", "upper"):
        np.testing.assert_array_equal(getattr(part, name), getattr(problem, name)[rows])
    assert part.epsilon == problem.epsilon
    assert len(part) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [0, 1, 7])
def test_joined_problems_have_the_rows_of_both(kind, n_rows):
    first, second = random_problem(kind), random_problem(kind, 1, n_rows)
    both = first.joined(second)
    assert len(both) == 30 + n_rows
    for name in ("targets", "lower", "upper"):
        parts = getattr(first, name), getattr(second, name)
        np.testing.assert_array_equal(getattr(both, name), np.concatenate(parts))
    assert both.epsilon == first.epsilon
    for name in ("targets", "lower", "upper"):  # a problem of its own
        getattr(both, name)[:] = 7.0
    np.testing.assert_array_equal(first.targets, random_problem(kind).targets)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [[], [4], [29, 0, 17, 3], np.arange(30)[::-1]])
def test_replaced_rows_stand_where_the_old_ones_stood(kind, rows):
    problem, rows = random_problem(kind), np.array(rows, dtype=int)
    other = random_problem(kind, 1, len(rows))
    found = problem.replaced(rows, other)
    for name in ("targets", "lower", "upper"):
        expected = getattr(problem, name).copy()
        expected[rows] = getattr(other, name)
        np.testing.assert_array_equal(getattr(found, name), expected)
        np.testing.assert_array_equal(
            getattr(problem, name), getattr(random_problem(kind), name)
        )  # fmt: skip
    assert found.epsilon == problem.epsilon


def test_the_dual_value_is_that_on_paper():
    problem = DualProblem.of_values(np.array([2.0, -1.0]), np.array([9.0, 9.0]), 0.5)
    # 2·3 − 1·(−4) − 0.5·(3 + 4) − 5
    assert problem.dual_value(np.array([3.0, -4.0]), 10.0) == pytest.approx(1.5)


def test_the_hinge_loss_is_that_on_paper():
    problem = DualProblem.of_signs(np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    scores = np.array([0.25, 3.0, 0.5, -2.0])
    # 1·0.75 + 2·0 + 3·1.5 + 4·0
    assert problem.loss(problem.targets - scores) == pytest.approx(5.25)


def test_the_tube_is_free_and_its_outside_linear():
    problem = DualProblem.of_values(np.zeros(4), np.array([1.0, 2.0, 3.0, 4.0]), 0.5)
    # 1·0 + 2·0.5 + 3·0 + 4·1.5
    assert problem.loss(np.array([0.5, 1.0, -0.4, -2.0])) == pytest.approx(7.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_loss_and_dual_value_are_those_of_the_reference(kind, seed):
    problem = random_problem(kind, seed)
    rng = np.random.default_rng(seed + 100)
    residual, dual_coef = 2.0 * rng.standard_normal((2, 30))
    factor = rng.standard_normal((30, 5))
    gram = factor @ factor.T
    assert problem.loss(residual) == pytest.approx(reference.loss(problem, residual))
    found = problem.dual_value(dual_coef, dual_coef @ gram @ dual_coef)
    assert found == pytest.approx(reference.dual_value(gram, problem, dual_coef))


@pytest.mark.parametrize("seed", range(5))
def test_no_bias_is_better_than_the_best(seed):
    rng = np.random.default_rng(seed)
    scores, y, C = rng.standard_normal(30), rng.choice([-1.0, 1.0], 30), rng.uniform(0.1, 2.0, 30)
    bias = DualProblem.of_signs(y, C).best_bias(y - scores)
    # the loss is piecewise linear: a minimum lies at one of its kinks
    others = [hinge_loss(scores, kink, y, C) for kink in y - scores]
    assert hinge_loss(scores, bias, y, C) == pytest.approx(min(others))


def test_where_many_biases_are_best_the_middle_is_taken():
    y, scores = np.array([1.0, -1.0]), np.array([3.0, -2.0])
    assert DualProblem.of_signs(y, np.ones(2)).best_bias(y - scores) == -0.5


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_bias_of_a_regression_is_better_than_the_best(epsilon, seed):
    rng = np.random.default_rng(seed)
    C = rng.uniform(0.1, 2.0, 30)
    C[::7] = 0.0
    problem = DualProblem.of_values(np.zeros(30), C, epsilon)
    slack = rng.standard_normal(30)
    found = problem.loss(slack - problem.best_bias(slack))
    assert found == pytest.approx(reference.smallest_loss(problem, slack), abs=1e-12)


def test_the_best_bias_of_a_regression_without_tube_is_the_median():
    slack = np.array([5.0, -1.0, 0.5, 100.0, -3.0])
    assert DualProblem.of_values(slack, np.ones(5), 0.0).best_bias(slack) == 0.5


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_one_class_alone_has_a_bias_without_loss(sign):
    problem = DualProblem.of_signs(np.full(4, sign), np.array([1.0, 0.0, 2.0, 1.0]))
    slack = np.array([3.0, -9.0, 1.0, -2.0])
    assert problem.loss(slack - problem.best_bias(slack)) == 0.0


def test_rows_without_weight_do_not_move_the_bias():
    rng = np.random.default_rng(0)
    y, C, slack = rng.choice([-1.0, 1.0], 21), rng.uniform(0.5, 1.5, 21), rng.standard_normal(21)
    alone = DualProblem.of_signs(y, C).best_bias(slack)
    y, C = np.append(y, [1.0, -1.0]), np.append(C, [0.0, 0.0])
    assert DualProblem.of_signs(y, C).best_bias(np.append(slack, [50.0, -50.0])) == alone


@pytest.mark.parametrize("kind", KINDS)
def test_ascents_are_the_derivatives_of_the_dual(kind):
    problem = random_problem(kind)
    rng = np.random.default_rng(1)
    dual_coef = rng.uniform(problem.lower, problem.upper)
    dual_coef[:5], dual_coef[5:10], dual_coef[10:15] = (
        0.0,
        problem.lower[5:10],
        problem.upper[10:15],
    )
    factor = rng.standard_normal((30, 5))
    gram = factor @ factor.T
    raising, lowering = problem.ascents(dual_coef, problem.targets - gram @ dual_coef)
    value = reference.dual_value(gram, problem, dual_coef)
    for i, unit in enumerate(1e-7 * np.eye(30)):
        up = reference.dual_value(gram, problem, dual_coef + unit) - value
        down = value - reference.dual_value(gram, problem, dual_coef - unit)
        at_top, at_bottom = dual_coef[i] == problem.upper[i], dual_coef[i] == problem.lower[i]
        # one-sided differences of 1e-7
        assert raising[i] == (-np.inf if at_top else pytest.approx(up / 1e-7, abs=1e-5))
        assert lowering[i] == (np.inf if at_bottom else pytest.approx(down / 1e-7, abs=1e-5))
    assert np.isinf(raising).sum() >= 5
    assert np.isinf(lowering).sum() >= 5


def test_the_dual_objective_is_the_primal_less_the_gap():
    solution = MachineSolution(np.zeros(1), 0.0, 5.0, 0.25, 1, np.zeros(1))
    assert solution.dual_objective == 4.75
