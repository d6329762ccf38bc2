"""J(β) of a sum of kernels: its value, its derivatives and its certificate."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem, MachineSolution
from nearlinear.solvers.machine.working_sets import WorkingSets
from nearlinear.solvers.mixture import objective as kernel_learning
from nearlinear.solvers.mixture.objective import Descent, Evaluation, KernelObjective
from nearlinear.solvers.mixture.simplex import solve_newton
from reference.kernel_learning import best_value

KERNELS = [Gaussian(0.2), Gaussian(2.0), Linear(), Polynomial(2, gamma=0.5)]
WEIGHTS = np.array([0.2, 0.4, 0.1, 0.3])
BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])


@pytest.fixture(scope="module")
def rows():
    return make_moons(36, noise=0.3, random_state=0)


@pytest.fixture
def learn(rows):
    """Makes a KernelObjective of one of the two tasks."""
    X, y = rows

    def make(task="classes", steps=BIASES[0], kernels=KERNELS, C=2.0, kept=True, **settings):
        C = np.full(len(y), C)
        if task == "classes":
            problem = DualProblem.of_signs(2 * y - 1, C)
        else:
            problem = DualProblem.of_values(np.sin(3 * X[:, 0]) + X[:, 1], C, 0.05)
        grams = Grams(kernels, X, max_bytes=1e9 if kept else 0)
        if kept:
            grams.keep(np.arange(len(kernels)))
        return KernelObjective(grams, problem, steps, **settings)

    return make


def differences(function, at, step):
    """Central differences of a function of the weights, one row per weight."""
    units = step * np.eye(len(at))
    return np.array([(function(at + e) - function(at - e)) / (2 * step) for e in units])


def test_the_machine_is_that_of_the_weighted_kernel(learn, rows):
    X, y = rows
    machine = learn().solve(WEIGHTS, tol=1e-8)
    gram = sum(weight * kernel(X) for weight, kernel in zip(WEIGHTS, KERNELS, strict=True))
    svc = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(gram, y)
    np.testing.assert_allclose(
        gram @ machine.dual_coef + machine.bias, svc.decision_function(gram), atol=1e-4
    )  # both stop at a gap


def test_quadratics_are_those_of_every_kernel(learn, rows):
    found = learn().at(WEIGHTS, tol=1e-6)
    coef = found.machine.dual_coef
    by_hand = [coef @ kernel(rows[0]) @ coef for kernel in KERNELS]
    np.testing.assert_allclose(found.quadratics, by_hand)


@EACH_TASK
@EACH_BIAS
def test_the_gradient_is_that_of_the_value(learn, task, steps):
    learning = learn(task, steps)
    slopes = differences(lambda b: learning.solve(b, tol=1e-11).dual_objective, WEIGHTS, 1e-4)
    found = learning.at(WEIGHTS, tol=1e-11)
    np.testing.assert_allclose(found.gradient, slopes, rtol=1e-5)


@pytest.mark.parametrize("kept", [True, False])
@EACH_TASK
@EACH_BIAS
def test_the_curvature_is_that_of_the_gradient(learn, task, steps, kept):
    learning = learn(task, steps, kept=kept)
    bends = differences(lambda b: learning.at(b, tol=1e-12).gradient, WEIGHTS, 1e-6)
    found = learning.at(WEIGHTS, tol=1e-12)
    curvature = learning.curvature(found, learning.all_kernels)
    assert np.abs(bends).max() > 0.1
    # rounding of the gradients over the step, and the ridge that keeps K_FF regular
    np.testing.assert_allclose(curvature, bends, rtol=1e-3, atol=1e-3 * np.abs(bends).max())


def test_the_curvature_is_symmetric_and_bends_upwards(learn):
    learning = learn()
    curvature = learning.curvature(learning.at(WEIGHTS, tol=1e-8), learning.all_kernels)
    np.testing.assert_array_equal(curvature, curvature.T)
    assert np.linalg.eigvalsh(curvature).min() > -1e-8 * np.abs(curvature).max()


def test_the_curvature_belongs_to_its_evaluation_and_not_to_the_last_one(learn):
    learning = learn()
    found = learning.at(WEIGHTS, tol=1e-8)
    expected = learning.curvature(found, learning.all_kernels)
    learning.at(WEIGHTS[::-1].copy(), tol=1e-8)
    np.testing.assert_allclose(learning.curvature(found, learning.all_kernels), expected, rtol=1e-6)


def test_the_curvature_of_rows_computed_on_demand_is_the_same(learn):
    near, far = learn(), learn(kept=False, max_bytes=3000)
    expected, found = (learning.at(WEIGHTS, tol=1e-7) for learning in (near, far))
    np.testing.assert_allclose(
        far.curvature(found, far.all_kernels), near.curvature(expected, near.all_kernels), rtol=0.02
    )  # rows on demand are in single precision


def test_a_machine_without_free_rows_has_no_curvature(learn):
    learning = learn(C=1e-6, steps=FixedBias())
    found = learning.at(WEIGHTS, tol=1e-6)
    np.testing.assert_array_equal(learning.curvature(found, learning.all_kernels), np.zeros((4, 4)))


def test_some_kernels_alone_are_as_if_there_were_no_others(learn):
    which = np.array([1, 3])
    weights = np.array([0.7, 0.3])
    some, alone = learn(), learn(kernels=[KERNELS[1], KERNELS[3]])
    found = some.at(weights, tol=1e-8, which=which)
    expected = alone.at(weights, tol=1e-8)
    assert found.objective == pytest.approx(expected.objective)
    np.testing.assert_allclose(found.quadratics, expected.quadratics, rtol=1e-5)
    np.testing.assert_allclose(
        some.curvature(found, which), alone.curvature(expected, alone.all_kernels), rtol=1e-4
    )


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("weights", [WEIGHTS, np.array([1.0, 0.0, 0.0, 0.0])], ids=["all", "one"])
def test_the_gap_bounds_the_distance_to_an_independent_optimum(learn, task, steps, weights, rows):
    learning = learn(task, steps)
    found = learning.at(weights, tol=1e-4)
    grams = [kernel(rows[0]) for kernel in KERNELS]
    best = best_value(grams, learning.problem, steps.is_free, steps.shift)
    assert best <= found.objective * (1 + 1e-7)
    assert found.objective - best <= found.gap * (1 + 1e-6)


def test_the_gap_counts_kernels_that_are_named_to_it(learn):
    found = learn().at(WEIGHTS, tol=1e-6)
    largest = found.quadratics.max()
    assert found.gap_beside(0.5 * largest) == found.gap
    assert found.gap_beside(3.0 * largest) == pytest.approx(found.gap + largest)


def test_the_gap_of_equal_prices_is_that_of_the_machine(learn):
    machine = learn().solve(WEIGHTS, tol=1e-3)
    assert Evaluation(WEIGHTS, machine, np.full(4, 7.0)).gap == pytest.approx(machine.gap)


def evaluate_loosely(learning, weights, tol, max_iter):
    """An evaluation of a machine that may be far from solved."""
    loose = replace(learning, machine=WorkingSets(max_iter))
    machine = loose.solve(weights, tol=tol)
    prices = learning.grams.quadratics(machine.dual_coef, learning.all_kernels)
    return Evaluation(weights, machine, prices)


def some_weights():
    """Corners, an edge, the middle and points inside."""
    rng = np.random.default_rng(0)
    return [
        *np.eye(4),
        np.array([0.5, 0.5, 0.0, 0.0]),
        np.full(4, 0.25),
        *rng.dirichlet(np.ones(4), 3),
    ]


@EACH_TASK
@EACH_BIAS
def test_the_bound_is_below_an_independent_optimum(learn, task, steps, rows):
    grams = [kernel(rows[0]) for kernel in KERNELS]
    best = best_value(grams, learn(task, steps).problem, steps.is_free, steps.shift)
    for weights in some_weights():
        for tol, max_iter in ((1e-6, 10_000), (0.3, 10_000), (0.0, 1)):
            learning = learn(task, steps)  # started from nothing
            found = evaluate_loosely(learning, weights, tol, max_iter)
            assert 0.0 <= learning.bound(found, -np.inf) <= best * (1 + 1e-7)


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("tol, max_iter", [(1e-6, 10_000), (0.3, 10_000), (0.0, 1)])
def test_the_bound_is_never_below_that_of_the_gap(learn, task, steps, tol, max_iter):
    learning = learn(task, steps)
    for weights in some_weights():
        found = evaluate_loosely(learning, weights, tol, max_iter)
        for best in (-np.inf, 0.5 * found.quadratics.max(), 3.0 * found.quadratics.max()):
            bound, by_gap = learning.bound(found, best), found.objective - found.gap_beside(best)
            assert bound >= by_gap - 1e-9 * found.objective
            assert bound <= found.objective * (1 + 1e-9)


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("share", [0.1, 1.0, 5.0])
def test_no_multiple_of_the_dual_vector_gives_a_better_bound(learn, task, steps, share, rows):
    learning = learn(task, steps)
    found = evaluate_loosely(learning, np.eye(4)[2], 1e-3, 10_000)
    coef = found.machine.dual_coef
    best = share * found.quadratics.max()
    grams = [kernel(rows[0]) for kernel in KERNELS]
    largest = max(best, *[coef @ gram @ coef for gram in grams]) + steps.shift * coef.sum() ** 2
    values = [
        learning.problem.dual_value(t * coef, t * t * largest) for t in np.linspace(0.0, 1.0, 2001)
    ]
    # the best multiple of 2,000 misses the best of all by a little
    assert learning.bound(found, best) == pytest.approx(max(values), rel=1e-3)
    assert learning.bound(found, best) >= max(values) * (1 - 1e-9)


@EACH_BIAS
def test_a_named_kernel_of_a_high_price_lowers_the_bound(learn, steps):
    learning = learn(steps=steps)
    found = learning.at(WEIGHTS, tol=1e-6)
    largest = found.quadratics.max()
    bounds = [learning.bound(found, factor * largest) for factor in (0.5, 1.0, 2.0, 100.0)]
    assert bounds[0] == bounds[1] > bounds[2] > bounds[3] > 0.0


def test_without_coefficients_the_bound_is_zero(learn):
    learning = learn()
    machine = learning.solve(WEIGHTS, tol=1e-3)
    nothing = MachineSolution(np.zeros(36), 0.0, machine.objective, machine.objective, 1, None)
    assert learning.bound(Evaluation(WEIGHTS, nothing, np.zeros(4)), 0.0) == 0.0


@EACH_TASK
@EACH_BIAS
def test_at_the_optimum_the_bound_is_the_value(learn, task, steps):
    learning = learn(task, steps)
    found = solve_newton(Descent(learning), np.full(4, 0.25), tol=1e-6)
    assert learning.bound(found, -np.inf) == pytest.approx(found.objective, rel=2e-6)


@EACH_TASK
@EACH_BIAS
def test_rows_computed_on_demand_give_the_machine_of_the_matrix(learn, task, steps):
    near, far = learn(task, steps), learn(task, steps, kept=False, max_bytes=3000)
    expected, found = (learning.at(WEIGHTS, tol=1e-5) for learning in (near, far))
    assert found.objective == pytest.approx(expected.objective, rel=1e-4)
    np.testing.assert_allclose(found.quadratics, expected.quadratics, rtol=0.02)
    assert far.problem.targets.dtype == np.float64


def test_machines_are_counted_and_start_from_the_last_one(learn):
    descent = Descent(learn())
    first = descent.at(WEIGHTS, tol=1e-6)
    again = descent.at(WEIGHTS, tol=1e-6)
    assert descent.n_machines == 2
    assert again.machine.n_iter <= first.machine.n_iter
    np.testing.assert_allclose(again.machine.dual_coef, first.machine.dual_coef, atol=1e-12)


@EACH_BIAS
def test_the_curvature_of_many_free_rows_is_close_to_the_exact_one(learn, monkeypatch, steps):
    learning = learn(steps=steps)
    found = learning.at(WEIGHTS, tol=1e-6)
    exact = learning.curvature(found, learning.all_kernels)
    monkeypatch.setattr(kernel_learning, "_LARGEST_EXACT", 5)
    rough = learning.curvature(found, learning.all_kernels)
    np.testing.assert_allclose(rough, exact, atol=0.02 * np.abs(exact).max())


def test_the_curvature_keeps_to_its_memory(learn, monkeypatch):
    monkeypatch.setattr(kernel_learning, "_FEWEST_FREE", 1)
    learning = learn()
    found = learning.at(WEIGHTS, tol=1e-6)
    tight = replace(learning, max_bytes=8 * 3**2)  # three free rows
    few = tight.curvature(found, learning.all_kernels)
    assert np.all(np.linalg.eigvalsh(few) >= -1e-9 * np.abs(few).max())
    assert np.any(few != learn().curvature(found, learning.all_kernels))
