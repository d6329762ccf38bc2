"""Kernel weights on the simplex and the ball, against each other and a generic optimizer."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear.kernels import Gaussian, Linear, Polynomial, Scaled
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import Descent, Evaluation, KernelObjective
from nearlinear.solvers.mixture.simplex import (
    ball_gap,
    solve_closed_form,
    solve_newton,
    solve_reduced_gradient,
    start_weights,
)
from reference.kernel_learning import best_value

KERNELS = [Gaussian(0.2), Gaussian(2.0), Gaussian(20.0), Linear(), Polynomial(2, gamma=0.5)]
BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])
EACH_SOLVER = pytest.mark.parametrize(
    "solve",
    [solve_newton, solve_reduced_gradient, solve_closed_form],
    ids=["newton", "reduced_gradient", "closed_form"],
)


@pytest.fixture(scope="module")
def rows():
    return make_moons(36, noise=0.3, random_state=0)


@pytest.fixture
def learn(rows):
    X, y = rows

    def make(task="classes", steps=BIASES[0], kernels=KERNELS, C=2.0):
        C = np.full(len(y), C)
        if task == "classes":
            problem = DualProblem.of_signs(2 * y - 1, C)
        else:
            problem = DualProblem.of_values(np.sin(3 * X[:, 0]) + X[:, 1], C, 0.05)
        grams = Grams(kernels, X, max_bytes=1e9)
        grams.keep(np.arange(len(kernels)))
        return KernelObjective(grams, problem, steps)

    return make


def optimum(learning, p=1.0):
    X = learning.grams.X
    grams = [kernel(X) for kernel in learning.grams.kernels]
    return best_value(grams, learning.problem, learning.bias.is_free, learning.bias.shift, p)


def scores(found, learning):
    gram = learning.grams.weighted(found.weights)
    return gram @ found.machine.dual_coef + found.machine.bias


# --- the simplex -------------------------------------------------------------------------------


@EACH_SOLVER
@EACH_TASK
@EACH_BIAS
def test_the_value_is_that_of_an_independent_optimum(learn, solve, task, steps):
    learning = learn(task, steps)
    found = solve(Descent(learning), start_weights(5), tol=1e-4)
    assert found.objective == pytest.approx(optimum(learning), rel=2e-4)
    assert found.gap <= 1e-4 * found.objective


@EACH_SOLVER
@EACH_BIAS
def test_weights_are_optimal(learn, solve, steps):
    found = solve(Descent(learn(steps=steps)), start_weights(5), tol=1e-5)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1.0)
    top = found.quadratics.max()
    used = found.weights > 1e-2
    # kernels at work have the largest price, all others at most that
    np.testing.assert_allclose(found.quadratics[used], top, rtol=1e-2)
    assert used.sum() >= 2


@pytest.mark.parametrize("solve", [solve_newton, solve_reduced_gradient])
def test_useless_kernels_get_exactly_no_weight(learn, solve):
    found = solve(Descent(learn()), start_weights(5), tol=1e-4)
    unused = found.quadratics < 0.9 * found.quadratics.max()
    assert unused.any()
    np.testing.assert_array_equal(found.weights[unused], 0.0)


@EACH_SOLVER
def test_one_kernel_is_one_machine(learn, solve):
    learning = learn(kernels=[KERNELS[1]])
    found = solve(Descent(learning), start_weights(1), tol=1e-6)
    plain = learn(kernels=[KERNELS[1]]).solve(np.ones(1), tol=1e-6)
    assert found.weights.tolist() == [1.0]
    assert found.objective == pytest.approx(plain.objective, rel=1e-5)
    np.testing.assert_allclose(found.machine.slack, plain.slack, atol=0.02)


@EACH_SOLVER
def test_a_kernel_given_twice_changes_nothing_but_its_weights(learn, solve):
    once = solve(Descent(learn()), start_weights(5), tol=1e-5)
    twice = solve(Descent(learn(kernels=[*KERNELS, KERNELS[1]])), start_weights(6), tol=1e-5)
    assert twice.objective == pytest.approx(once.objective, rel=1e-4)
    assert twice.weights[1] + twice.weights[5] == pytest.approx(once.weights[1], abs=0.01)


@EACH_SOLVER
@pytest.mark.parametrize("factor", [0.1, 7.0])
def test_kernels_times_s_and_c_over_s_divide_the_value_by_s(learn, solve, factor):
    scaled = learn(kernels=[Scaled(kernel, factor) for kernel in KERNELS], C=2.0 / factor)
    plain = learn()
    found, expected = (
        solve(Descent(learning), start_weights(5), tol=1e-6) for learning in (scaled, plain)
    )
    assert found.objective * factor == pytest.approx(expected.objective, rel=1e-5)
    np.testing.assert_allclose(found.weights, expected.weights, atol=0.01)
    np.testing.assert_allclose(scores(found, scaled), scores(expected, plain), atol=0.02)


@EACH_SOLVER
def test_every_start_leads_to_the_same_value(learn, solve, rng):
    values = [
        solve(Descent(learn()), rng.dirichlet(np.ones(5)), tol=1e-4).objective
        for _ in range(3)
    ]  # fmt: skip
    np.testing.assert_allclose(values, values[0], rtol=2e-4)


@pytest.mark.parametrize("solve", [solve_newton, solve_reduced_gradient])
def test_weights_may_start_in_a_corner(learn, solve):
    learning = learn()
    found = solve(Descent(learning), np.array([0.0, 0.0, 0.0, 1.0, 0.0]), tol=1e-4)
    assert found.objective == pytest.approx(optimum(learning), rel=2e-4)


def test_the_closed_form_leaves_a_weight_of_zero(learn):
    start = np.array([0.5, 0.0, 0.5, 0.0, 0.0])
    found = solve_closed_form(Descent(learn()), start, tol=1e-3, max_iter=20)
    np.testing.assert_array_equal(found.weights[[1, 3, 4]], 0.0)


@EACH_SOLVER
def test_values_never_rise_by_more_than_the_machines_gaps(learn, solve):
    steps = []
    solve(
        Descent(learn()),
        start_weights(5),
        tol=1e-4,
        watch=steps.append,
    )
    assert len(steps) >= 2
    for before, after in pairwise(step.state[0] for step in steps):
        assert after.objective <= before.objective + after.machine.gap + before.machine.gap


@EACH_SOLVER
def test_a_solver_that_may_not_go_on_says_how_far_it_is(learn, solve):
    learning = learn()
    found = solve(Descent(learning), start_weights(5), tol=1e-6, max_iter=1)
    assert found.gap > 1e-6 * found.objective
    assert found.objective - optimum(learning) <= found.gap * (1 + 1e-6)


@EACH_SOLVER
def test_only_the_kernels_named_are_weighed(learn, solve):
    which = np.array([4, 1])
    found = solve(Descent(learn()), start_weights(2), tol=1e-5, which=which)
    alone = solve(Descent(learn(kernels=[KERNELS[4], KERNELS[1]])), start_weights(2), tol=1e-5)
    assert found.objective == pytest.approx(alone.objective, rel=1e-4)
    np.testing.assert_allclose(found.weights, alone.weights, atol=0.01)


def test_newton_needs_fewer_machines_than_the_others(learn):
    counts = []
    for solve in (solve_newton, solve_reduced_gradient, solve_closed_form):
        descent = Descent(learn())
        solve(descent, start_weights(5), tol=1e-4)
        counts.append(descent.n_machines)
    assert counts[0] < min(counts[1:])


# --- the ball ----------------------------------------------------------------------------------


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("p", [1.5, 2.0])
def test_the_value_on_a_ball_is_that_of_an_independent_optimum(learn, task, steps, p):
    learning = learn(task, steps)
    found = solve_closed_form(Descent(learning), start_weights(5), tol=1e-4, p=p)
    assert found.objective == pytest.approx(optimum(learning, p), rel=3e-4)
    assert ball_gap(found, p) <= 1e-4 * found.objective


@pytest.mark.parametrize("p", [1.0, 1.1, 2.0, 5.0])
def test_weights_lie_on_the_ball(learn, p):
    found = solve_closed_form(Descent(learn()), start_weights(5), tol=1e-3, p=p)
    assert np.sum(found.weights**p) == pytest.approx(1.0)


def test_a_large_p_gives_about_equal_weights(learn):
    shares = []
    for p in (1.0, 2.0, 100.0):
        weights = solve_closed_form(Descent(learn()), start_weights(5), tol=1e-3, p=p).weights
        shares.append(weights.min() / weights.max())
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.9


def test_a_p_near_one_gives_the_value_of_the_simplex(learn):
    near = solve_closed_form(Descent(learn()), start_weights(5), tol=1e-4, p=1.001)
    assert near.objective == pytest.approx(optimum(learn()), rel=2e-3)


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 10.0])
def test_the_gap_on_the_ball_is_never_negative(learn, rng, p):
    machine = learn().solve(start_weights(5), tol=1e-3)
    for _ in range(20):
        weights = rng.random(5)
        weights /= (weights**p).sum() ** (1 / p)
        found = Evaluation(weights, machine, rng.random(5) * 10.0)
        assert ball_gap(found, p) >= machine.gap >= 0
        if p > 1:  # Hölder: equality for weights that answer the prices
            power = 1 / (p - 1)
            best = found.quadratics**power / (found.quadratics ** (p * power)).sum() ** (1 / p)
            tight = Evaluation(best, machine, found.quadratics)
            assert ball_gap(tight, p) == pytest.approx(machine.gap, abs=1e-9)
