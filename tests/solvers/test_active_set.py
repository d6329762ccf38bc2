"""Few kernels at work, all others priced: the same optimum, and a certificate over all."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear.kernels import bank
from nearlinear.kernels.family import fix_kernels, parse_kernels
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.active_set import solve_sequential
from nearlinear.solvers.bias_steps import FixedBias, FreeBias
from nearlinear.solvers.dual_problem import DualProblem
from nearlinear.solvers.kernel_learning import KernelLearning
from nearlinear.solvers.kernel_weights import solve_newton, start_weights
from reference.kernel_learning import best_value

BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalised", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])
EACH_WAY = pytest.mark.parametrize(
    "way",
    [
        {},
        {"insertions": 1},
        {"insertions": 3},
        {"chunk": 5},
        {"chunk": 1, "insertions": 1},
        {"chunk": 1000},
    ],
    ids=str,
)


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(36, noise=0.3, random_state=0)
    kernels, _ = fix_kernels(parse_kernels(bank(widths=5), 2), X, "trace")  # 24 kernels
    return X, y, kernels


@pytest.fixture
def learn(rows):
    X, y, kernels = rows

    def make(task="classes", steps=BIASES[0], max_bytes=1e9):
        C = np.full(len(y), 2.0)
        if task == "classes":
            problem = DualProblem.of_signs(2 * y - 1, C)
        else:
            problem = DualProblem.of_values(np.sin(3 * X[:, 0]) + X[:, 1], C, 0.05)
        return KernelLearning(Grams(kernels, X, max_bytes=max_bytes), problem, steps)

    return make


def prices(learning, coef):
    X = learning.grams.X
    return np.array([coef @ kernel(X) @ coef for kernel in learning.grams.kernels])


@EACH_WAY
@EACH_TASK
def test_the_value_is_that_of_an_independent_optimum(learn, rows, way, task):
    learning = learn(task)
    found = solve_sequential(learning, tol=1e-4, **way)
    best = best_value([kernel(rows[0]) for kernel in rows[2]], learning.problem)
    assert found.evaluation.value == pytest.approx(best, rel=2e-4)
    assert found.gap <= 1e-4 * found.evaluation.value


@EACH_WAY
@EACH_BIAS
def test_the_value_is_that_of_all_kernels_at_work(learn, way, steps):
    found = solve_sequential(learn(steps=steps), tol=1e-4, **way)
    everyone = solve_newton(learn(steps=steps), start_weights(24), tol=1e-4)
    assert found.evaluation.value == pytest.approx(everyone.value, rel=1e-3)


@EACH_WAY
def test_the_gap_covers_kernels_that_never_were_at_work(learn, way):
    learning = learn()
    found = solve_sequential(learning, tol=1e-3, **way)
    all_prices = prices(learning, found.evaluation.machine.dual_coef)
    by_hand = 0.5 * (all_prices.max() - found.weights @ all_prices)
    by_hand = max(0.0, by_hand) + found.evaluation.machine.gap
    assert found.gap == pytest.approx(by_hand, rel=1e-6)
    assert by_hand <= 1e-3 * found.evaluation.value


@EACH_WAY
def test_weights_are_those_of_the_machine_on_the_simplex(learn, way):
    learning = learn()
    found = solve_sequential(learning, tol=1e-4, **way)
    assert found.weights.shape == (24,)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)
    again = learn().evaluate(found.weights, tol=1e-6)
    assert again.value == pytest.approx(found.evaluation.value, rel=2e-4)


def test_no_more_kernels_enter_than_allowed(learn):
    found = solve_sequential(learn(), tol=1e-4, insertions=1)
    at_work = [count for _, count in found.history]
    assert at_work[0] <= 2  # one from the bank, and one that its machine asks for
    assert max(np.diff(at_work)) <= 1
    assert found.n_rounds == len(at_work) > 1


@pytest.mark.parametrize("max_rounds", [1, 2])
@pytest.mark.parametrize("chunk", [None, 5])
def test_a_solver_that_may_not_go_on_has_weights_and_says_how_far_it_is(learn, max_rounds, chunk):
    learning = learn()
    found = solve_sequential(
        learning, tol=1e-6, insertions=1, max_rounds=max_rounds, chunk=chunk
    )  # fmt: skip
    assert found.n_rounds == max_rounds
    assert found.weights.sum() == pytest.approx(1.0)
    again = learn().evaluate(found.weights, tol=1e-6)
    assert again.value == pytest.approx(found.evaluation.value, rel=0.35)  # of a loose first round
    # also when the stream was cut short: kernels yet to come count
    optimum = solve_sequential(learn(), tol=1e-6).evaluation.value
    assert found.evaluation.value - found.gap <= optimum * (1 + 1e-9)
    assert found.evaluation.value >= optimum * (1 - 1e-6)


def test_every_round_is_told(learn):
    rounds = []
    found = solve_sequential(
        learn(), tol=1e-4, insertions=2, on_round=lambda *told: rounds.append(told)
    )  # fmt: skip
    assert [number for number, _, _ in rounds] == list(range(1, found.n_rounds + 1))
    assert rounds[-1][2] == found.gap


def test_without_room_for_matrices_the_result_is_the_same(learn):
    found, expected = (solve_sequential(learn(max_bytes=b), tol=1e-4) for b in (0, 1e9))
    assert found.evaluation.value == pytest.approx(expected.evaluation.value, rel=2e-4)
