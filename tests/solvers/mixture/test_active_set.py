"""Few kernels at work, all others priced: the same optimum, and a certificate over all."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear.kernels import bank
from nearlinear.kernels.family import fix_kernels, parse_kernels
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture import active_set
from nearlinear.solvers.mixture.active_set import solve_sequential
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from nearlinear.solvers.mixture.simplex import solve_newton, start_weights
from reference.kernel_learning import best_value

BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])
EACH_WAY = pytest.mark.parametrize(
    "way",
    [
        {},
        {"max_insertions": 1},
        {"max_insertions": 3},
        {"chunk_size": 5},
        {"chunk_size": 1, "max_insertions": 1},
        {"chunk_size": 1000},
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
        grams = Grams(kernels, X, max_bytes=max_bytes)
        return KernelObjective(grams, make_problem(X, y, task), steps)

    return make


@pytest.fixture(scope="module")
def optimum(rows):
    """Value of an independent optimum for a task and a bias."""
    known = {}

    def find(task, steps):
        if (task, steps) not in known:
            X, y, kernels = rows
            grams = [kernel(X) for kernel in kernels]
            problem = make_problem(X, y, task)
            known[task, steps] = best_value(grams, problem, steps.is_free, steps.shift)
        return known[task, steps]

    return find


def make_problem(X, y, task):
    C = np.full(len(y), 2.0)
    if task == "classes":
        return DualProblem.of_signs(2 * y - 1, C)
    return DualProblem.of_values(np.sin(3 * X[:, 0]) + X[:, 1], C, 0.05)


def prices(learning, coef):
    X = learning.grams.X
    return np.array([coef @ kernel(X) @ coef for kernel in learning.grams.kernels])


@EACH_WAY
@EACH_TASK
def test_the_value_is_that_of_an_independent_optimum(learn, rows, way, task):
    learning = learn(task)
    found = solve_sequential(Descent(learning), tol=1e-4, **way)
    best = best_value([kernel(rows[0]) for kernel in rows[2]], learning.problem)
    assert found.evaluation.objective == pytest.approx(best, rel=2e-4)
    assert found.gap <= 1e-4 * found.evaluation.objective


@EACH_WAY
@EACH_BIAS
def test_the_value_is_that_of_all_kernels_at_work(learn, way, steps):
    found = solve_sequential(Descent(learn(steps=steps)), tol=1e-4, **way)
    everyone = solve_newton(Descent(learn(steps=steps)), start_weights(24), tol=1e-4)
    assert found.evaluation.objective == pytest.approx(everyone.objective, rel=1e-3)


@EACH_WAY
def test_the_gap_covers_kernels_that_never_were_at_work(learn, way):
    learning = learn()
    found = solve_sequential(Descent(learning), tol=1e-3, **way)
    all_prices = prices(learning, found.evaluation.machine.dual_coef)
    by_hand = 0.5 * (all_prices.max() - found.weights @ all_prices)
    by_hand = max(0.0, by_hand) + found.evaluation.machine.gap
    assert found.gap == pytest.approx(by_hand, rel=1e-6)
    assert by_hand <= 1e-3 * found.evaluation.objective


@EACH_WAY
def test_weights_are_those_of_the_machine_on_the_simplex(learn, way):
    learning = learn()
    found = solve_sequential(Descent(learning), tol=1e-4, **way)
    assert found.weights.shape == (24,)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)
    again = learn().at(found.weights, tol=1e-6)
    assert again.objective == pytest.approx(found.evaluation.objective, rel=2e-4)


def test_no_more_kernels_enter_than_allowed(learn):
    found = solve_sequential(Descent(learn()), tol=1e-4, max_insertions=1)
    at_work = [count for _, count in found.history]
    assert at_work[0] <= 2  # one from the bank, and one that its machine asks for
    assert max(np.diff(at_work)) <= 1
    assert found.n_rounds == len(at_work) > 1


@pytest.mark.parametrize("max_rounds", [1, 2])
@pytest.mark.parametrize("chunk_size", [None, 5])
def test_a_solver_that_may_not_go_on_has_weights_and_says_how_far_it_is(
    learn, max_rounds, chunk_size
):
    learning = learn()
    found = solve_sequential(
        Descent(learning), tol=1e-6, max_insertions=1, max_rounds=max_rounds, chunk_size=chunk_size
    )  # fmt: skip
    assert found.n_rounds == max_rounds
    assert found.weights.sum() == pytest.approx(1.0)
    again = learn().at(found.weights, tol=1e-6)
    assert again.objective == pytest.approx(
        found.evaluation.objective, rel=0.35
    )  # of a loose first round
    # also when the stream was cut short: kernels yet to come count
    optimum = solve_sequential(Descent(learn()), tol=1e-6).evaluation.objective
    assert found.evaluation.objective - found.gap <= optimum * (1 + 1e-9)
    assert found.evaluation.objective >= optimum * (1 - 1e-6)


def test_every_round_is_told(learn):
    rounds = []
    found = solve_sequential(
        Descent(learn()), tol=1e-4, max_insertions=2, watch=rounds.append
    )  # fmt: skip
    assert [one.step for one in rounds] == list(range(1, found.n_rounds + 1))
    assert rounds[-1].gap == found.gap


@EACH_WAY
@EACH_BIAS
@EACH_TASK
@pytest.mark.parametrize("tol", [0.3, 1e-3])
def test_the_optimum_lies_within_the_gap(learn, optimum, way, steps, task, tol):
    best = optimum(task, steps)
    found = solve_sequential(Descent(learn(task, steps)), tol=tol, **way)
    assert found.objective - found.gap <= best * (1 + 1e-7)
    assert found.objective >= best * (1 - 1e-7)
    assert found.gap <= tol * found.objective


@EACH_BIAS
@pytest.mark.parametrize("tol", [0.1, 1e-4])
def test_the_optimum_lies_within_the_gap_when_few_are_priced(
    learn, optimum, steps, tol, monkeypatch
):
    monkeypatch.setattr(active_set, "_PRICED", 1)
    found = solve_sequential(Descent(learn(steps=steps)), tol=tol, max_insertions=1)
    best = optimum("classes", steps)
    assert found.objective - found.gap <= best * (1 + 1e-7)
    assert best * (1 - 1e-7) <= found.objective <= best * (1 + 1.1 * tol)


@EACH_WAY
def test_the_gap_of_a_round_bounds_its_distance_to_the_optimum(learn, optimum, way):
    rounds, best = [], optimum("classes", BIASES[0])
    solve_sequential(Descent(learn()), tol=1e-4, watch=rounds.append, **way)
    # rounds of a stream price only what has come
    for one in rounds[-1:] if "chunk_size" in way else rounds:
        assert one.gap >= (one.objective - best) * (1 - 1e-6)


@EACH_WAY
def test_the_best_round_is_returned(learn, way):
    rounds = []
    found = solve_sequential(
        Descent(learn()), tol=1e-4, watch=rounds.append, **way
    )  # fmt: skip
    assert found.objective == min(one.objective for one in rounds)
    assert found.gap <= rounds[-1].gap


@pytest.mark.parametrize("worst", [2, 3, 4])
def test_a_round_that_got_worse_is_forgotten(learn, optimum, worst, monkeypatch):
    calls = []

    def stumble(descent, weights, *, tol, which, max_iter):
        calls.append(1)
        if len(calls) == worst:  # all weight on one kernel
            return descent.at(np.eye(len(which))[0], tol=tol, which=which)
        return solve_newton(descent, weights, tol=tol, which=which, max_iter=max_iter)

    monkeypatch.setattr(active_set, "solve_newton", stumble)
    rounds = []
    found = solve_sequential(
        Descent(learn()), tol=1e-6, max_insertions=2, max_rounds=worst,
        watch=rounds.append,
    )  # fmt: skip
    values = [one.objective for one in rounds]
    assert len(values) == worst
    assert found.objective == min(values) < values[-1]
    assert np.count_nonzero(found.weights) == len(found.evaluation.weights) > 1
    best = optimum("classes", BIASES[0])
    assert found.objective - found.gap <= best * (1 + 1e-7)


@EACH_WAY
@EACH_BIAS
@pytest.mark.parametrize("max_rounds", [1, 2, 100])
def test_an_evaluation_has_the_kernels_with_a_weight_in_their_order(learn, way, steps, max_rounds):
    learning = learn(steps=steps)
    found = solve_sequential(Descent(learning), tol=1e-3, max_rounds=max_rounds, **way)
    used = np.flatnonzero(found.weights)
    now = found.evaluation
    np.testing.assert_array_equal(now.weights, found.weights[used])
    by_hand = prices(learning, now.machine.dual_coef)[used]
    np.testing.assert_allclose(now.quadratics, by_hand, rtol=1e-9)
    mixed = sum(found.weights[m] * learning.grams.kernels[m](learning.grams.X) for m in used)
    shifted = mixed + steps.shift
    np.testing.assert_allclose(
        now.machine.slack, learning.problem.targets - shifted @ now.machine.dual_coef, atol=1e-9
    )


def test_without_room_for_matrices_the_result_is_the_same(learn):
    found, expected = (solve_sequential(Descent(learn(max_bytes=b)), tol=1e-4) for b in (0, 1e9))
    assert found.evaluation.objective == pytest.approx(expected.evaluation.objective, rel=2e-4)
