"""The few kernels worth keeping: which they are, and the best weights of them."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear.kernels import bank
from nearlinear.kernels.family import fix_kernels, parse_kernels
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.active_set import SequentialSolution, keep_largest, solve_sequential
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from nearlinear.solvers.mixture.simplex import solve_newton
from reference.kernel_learning import best_value

BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(36, noise=0.3, random_state=0)
    kernels, _ = fix_kernels(parse_kernels(bank(widths=5), 2), X, "trace")  # 24 kernels
    return X, y, kernels


@pytest.fixture
def learn(rows):
    X, y, kernels = rows

    def make(task="classes", steps=BIASES[1]):
        C = np.full(len(y), 2.0)
        if task == "classes":
            problem = DualProblem.of_signs(2 * y - 1, C)
        else:
            problem = DualProblem.of_values(np.sin(3 * X[:, 0]) + X[:, 1], C, 0.05)
        return KernelObjective(Grams(kernels, X), problem, steps)

    return make


def solution(learning, weights):
    """A solution of given weights, solved for or not."""
    used = np.flatnonzero(weights)
    now = learning.at(weights[used], tol=1e-6, which=used)
    return SequentialSolution(now, weights, now.gap, 1, [])


def assert_belongs(learning, now, kept):
    """The evaluation is of the kernels named, in their order, with weights on the simplex."""
    assert np.all(np.diff(kept) > 0)
    assert now.weights.shape == now.quadratics.shape == kept.shape
    assert now.weights.min() > 0.0
    assert now.weights.sum() == pytest.approx(1.0)
    coef = now.machine.dual_coef
    prices = [coef @ learning.grams.kernels[m](learning.grams.X) @ coef for m in kept]
    np.testing.assert_allclose(now.quadratics, prices, rtol=1e-9)


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("max_kernels", [1, 2, 3])
def test_the_kernels_kept_are_the_largest_and_their_weights_the_best(
    learn, rows, task, steps, max_kernels
):
    learning = learn(task, steps)
    found = solve_sequential(Descent(learning), tol=1e-4)
    assert np.count_nonzero(found.weights) > max_kernels
    now, kept = keep_largest(learning, found, max_kernels, 1e-4)
    largest = np.sort(np.argsort(-found.weights)[:max_kernels])
    assert set(kept) <= set(largest)
    assert_belongs(learning, now, kept)
    grams = [rows[2][m](rows[0]) for m in largest]
    best = best_value(grams, learning.problem, steps.is_free, steps.shift)
    assert now.objective == pytest.approx(best, rel=2e-4)
    assert now.objective >= found.objective * (1 - 1e-4)


@EACH_BIAS
@pytest.mark.parametrize("max_kernels", [None, 24, 1000])
def test_where_all_have_room_nothing_is_solved_anew(learn, steps, max_kernels):
    learning = learn(steps=steps)
    weights = np.zeros(24)
    weights[[3, 7, 20]] = 0.2, 0.5, 0.3
    found = solution(learning, weights)
    now, kept = keep_largest(learning, found, max_kernels, 1e-3)
    assert now is found.evaluation
    np.testing.assert_array_equal(kept, [3, 7, 20])


@pytest.mark.parametrize("max_kernels", [None, 3, 2])
def test_negligible_kernels_are_left_out(learn, max_kernels):
    learning, weights = learn(), np.zeros(24)
    weights[[3, 7, 11, 20]] = 0.3, 1e-5, 2e-4, 0.7 - 2.1e-4
    found = solution(learning, weights)
    now, kept = keep_largest(learning, found, max_kernels, 1e-4)
    assert set(kept) <= {3, 20}
    assert_belongs(learning, now, kept)
    alone = solve_newton(Descent(learn()), np.full(2, 0.5), tol=1e-4, which=np.array([3, 20]))
    assert now.objective == pytest.approx(alone.objective, rel=2e-4)


def test_kernels_of_small_weight_stay_while_there_is_room(learn):
    learning, weights = learn(), np.zeros(24)
    weights[[3, 7]] = 0.98, 0.02
    _, kept = keep_largest(learning, solution(learning, weights), 2, 1e-4)
    np.testing.assert_array_equal(kept, [3, 7])


def test_a_single_kernel_is_a_plain_machine(learn):
    learning, weights = learn(), np.zeros(24)
    weights[[3, 7]] = 0.4, 0.6
    now, kept = keep_largest(learning, solution(learning, weights), 1, 1e-6)
    np.testing.assert_array_equal(kept, [7])
    np.testing.assert_array_equal(now.weights, [1.0])
    alone = learn().solve(np.ones(1), tol=1e-6, which=np.array([7]))
    assert now.objective == pytest.approx(alone.objective, rel=1e-5)


def test_of_equal_weights_the_first_are_kept(learn):
    learning, weights = learn(), np.zeros(24)
    weights[[3, 7, 11, 20]] = 0.25
    _, kept = keep_largest(learning, solution(learning, weights), 2, 0.5)
    assert set(kept) <= {3, 7}


def test_the_solution_handed_in_stays_as_it_was(learn):
    learning = learn()
    found = solve_sequential(Descent(learning), tol=1e-3)
    weights, coef = found.weights.copy(), found.evaluation.machine.dual_coef.copy()
    keep_largest(learning, found, 2, 1e-3)
    np.testing.assert_array_equal(found.weights, weights)
    np.testing.assert_array_equal(found.evaluation.machine.dual_coef, coef)
