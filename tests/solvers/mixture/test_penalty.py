"""Weights with a penalty, against the simplex and a generic optimizer."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from nearlinear.solvers.mixture.penalty import Penalty, natural_sigma, solve_spectral_gradient
from nearlinear.solvers.mixture.simplex import solve_newton, start_weights

KERNELS = [Gaussian(0.2), Gaussian(2.0), Gaussian(20.0), Linear(), Polynomial(2, gamma=0.5)]
BIASES = [FreeBias(), FixedBias(1.0), FixedBias()]
EACH_BIAS = pytest.mark.parametrize("steps", BIASES, ids=["free", "penalized", "none"])
EACH_TASK = pytest.mark.parametrize("task", ["classes", "values"])


@pytest.fixture(scope="module")
def rows():
    return make_moons(36, noise=0.3, random_state=0)


@pytest.fixture
def learn(rows):
    X, y = rows

    def make(task="classes", steps=BIASES[0]):
        C = np.full(len(y), 2.0)
        if task == "classes":
            problem = DualProblem.of_signs(2 * y - 1, C)
        else:
            problem = DualProblem.of_values(np.sin(3 * X[:, 0]) + X[:, 1], C, 0.05)
        grams = Grams(KERNELS, X, max_bytes=1e9)
        grams.keep(np.arange(len(KERNELS)))
        return KernelObjective(grams, problem, steps)

    return make


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_the_slope_of_the_penalty_is_that_of_its_value(rng, p):
    penalty, weights = Penalty(3.0, p), rng.random(4) + 0.1
    slopes = [
        (penalty.value(weights + e) - penalty.value(weights - e)) / 2e-6 for e in 1e-6 * np.eye(4)
    ]
    np.testing.assert_allclose(np.broadcast_to(penalty.slope(weights), 4), slopes, rtol=1e-6)


@EACH_TASK
@EACH_BIAS
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_the_gap_is_never_negative_and_covers_the_optimum(learn, rng, task, steps, p):
    penalty = Penalty(2.0, p)
    learning = learn(task, steps)
    best, _ = solve_spectral_gradient(Descent(learning), start_weights(5), penalty, tol=1e-5)
    lowest = best.objective + penalty.value(best.weights)
    for _ in range(5):
        found = learning.at(rng.random(5), tol=1e-3)
        gap = penalty.gap(found, learning.problem, steps.shift)
        assert gap >= 0
        height = found.objective + penalty.value(found.weights)
        assert height - gap <= lowest * (1 + 1e-6)


@EACH_TASK
@EACH_BIAS
def test_a_sigma_of_half_the_largest_price_gives_the_simplex(learn, task, steps):
    simplex = solve_newton(Descent(learn(task, steps)), start_weights(5), tol=1e-6)
    penalty = Penalty(natural_sigma(Descent(learn(task, steps)), start_weights(5)))
    found, gap = solve_spectral_gradient(
        Descent(learn(task, steps)), start_weights(5), penalty, tol=1e-5
    )
    assert found.weights.sum() == pytest.approx(1.0, abs=0.02)
    assert found.objective == pytest.approx(simplex.objective, rel=0.02)
    assert found.objective + penalty.value(found.weights) == pytest.approx(
        simplex.objective + penalty.sigma, rel=1e-4
    )
    assert gap <= 1e-5 * (found.objective + penalty.value(found.weights))
    # the value of the mixture scaled back to the simplex: the same optimum
    back = learn(task, steps).at(found.weights / found.weights.sum(), tol=1e-6)
    assert back.objective == pytest.approx(simplex.objective, rel=1e-3)


@EACH_BIAS
@pytest.mark.parametrize("sigma", [0.5, 5.0])
def test_prices_are_twice_sigma_where_there_is_weight(learn, steps, sigma):
    found, _ = solve_spectral_gradient(
        Descent(learn(steps=steps)), start_weights(5), Penalty(sigma), tol=1e-6
    )
    used = found.weights > 0.02 * found.weights.max()
    np.testing.assert_allclose(found.quadratics[used], 2 * sigma, rtol=0.03)
    assert found.quadratics.max() <= 2 * sigma * 1.03


def test_a_square_penalty_keeps_every_kernel_by_its_price(learn):
    found, _ = solve_spectral_gradient(
        Descent(learn()), start_weights(5), Penalty(2.0, 2.0), tol=1e-7
    )
    assert found.weights.min() > 0
    np.testing.assert_allclose(found.quadratics, 2 * 2.0 * found.weights, rtol=0.05, atol=0.02)


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_the_value_is_that_of_an_independent_optimum(learn, rows, p):
    X, y = rows
    signs, sigma = 2 * y - 1, 2.0
    grams = np.array([kernel(X) for kernel in KERNELS])

    def height(weights):
        gram = np.tensordot(weights, grams, 1)
        svc = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(gram, signs)
        coef = np.zeros(len(y))
        coef[svc.support_] = svc.dual_coef_[0]
        prices = np.einsum("i,mij,j->m", coef, grams, coef)
        value = np.abs(coef).sum() - 0.5 * weights @ prices + sigma * np.sum(weights**p) / p
        return value, -0.5 * prices + sigma * weights ** (p - 1)

    best = minimize(
        height, np.full(5, 0.5), jac=True, method="L-BFGS-B", bounds=[(1e-9, None)] * 5,
        options={"ftol": 1e-12, "gtol": 1e-8},
    )  # fmt: skip
    penalty = Penalty(sigma, p)
    found, _ = solve_spectral_gradient(Descent(learn()), start_weights(5), penalty, tol=1e-5)
    assert found.objective + penalty.value(found.weights) == pytest.approx(best.fun, rel=1e-4)


def test_a_solver_that_may_not_go_on_says_how_far_it_is(learn):
    penalty = Penalty(2.0)
    found, gap = solve_spectral_gradient(
        Descent(learn()), start_weights(5), penalty, tol=1e-6, max_iter=1
    )  # fmt: skip
    best, _ = solve_spectral_gradient(Descent(learn()), start_weights(5), penalty, tol=1e-6)
    height = found.objective + penalty.value(found.weights)
    lowest = best.objective + penalty.value(best.weights)
    assert gap > 1e-6 * height
    assert height - lowest <= gap


def test_every_step_is_told(learn):
    steps = []
    solve_spectral_gradient(
        Descent(learn()), start_weights(5), Penalty(2.0), tol=1e-4,
        watch=steps.append,
    )  # fmt: skip
    assert len(steps) >= 2
    np.testing.assert_array_equal(steps[0].state[0].weights, start_weights(5))


def test_the_natural_sigma_is_half_the_largest_price(learn):
    optimum = solve_newton(Descent(learn()), start_weights(5), tol=1e-6)
    wanted = 0.5 * optimum.quadratics.max()
    assert natural_sigma(Descent(learn()), start_weights(5)) == pytest.approx(wanted, rel=1e-3)
