"""Machines from Gram columns: the squared-hinge optimum of scikit-learn, and its derivatives."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.kernels.gated_grams import GatedGrams
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.exchange import AVERAGING, Exchange
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import Descent, KernelObjective
from nearlinear.solvers.mixture.simplex import solve_newton, start_weights

KERNELS = [Gaussian(0.3), Gaussian(3.0), Linear(), Polynomial(2, gamma=0.5)]
WEIGHTS = np.array([0.2, 0.4, 0.1, 0.3])
N_ROWS = 40
FINE = Exchange(finest=1e-10)  # as tests of derivatives need


@pytest.fixture(scope="module")
def rows():
    X, y = make_moons(N_ROWS, noise=0.3, random_state=0)
    return X, 2.0 * y - 1.0


@pytest.fixture
def learn(rows):
    X, y = rows

    def make(kernels=KERNELS, C=2.0, gates=None, machine=FINE):
        grams = Grams(kernels, X)
        if gates is not None:
            owners = np.arange(gates.shape[1]) % len(kernels)
            grams = GatedGrams(grams, owners, gates)
        problem = DualProblem.of_signs(y, C * np.ones(N_ROWS))
        return KernelObjective(grams, problem, FreeBias(), machine)

    return make


def soft_margin(gram, y, C):
    """Scores of the machine whose slacks are squared: a hard margin on K + I/C."""
    ridge = np.diag(1.0 / (C * np.ones(len(y))))
    svc = SVC(kernel="precomputed", C=1e8, tol=1e-8).fit(gram + ridge, y)
    coef = np.zeros(len(y))
    coef[svc.support_] = svc.dual_coef_[0]
    return gram @ coef + svc.intercept_[0], coef


def objective(gram, y, C, coef, bias):
    slack = np.maximum(0.0, 1.0 - y * (gram @ coef + bias))
    return 0.5 * coef @ gram @ coef + 0.5 * np.sum(C * slack**2)


def differences(function, at, step):
    """Central differences of a function of the weights, one row per weight."""
    units = step * np.eye(len(at))
    return np.array([(function(at + e) - function(at - e)) / (2 * step) for e in units])


def random_gates(rng, n_components):
    gates = rng.random((N_ROWS, n_components))
    return gates / gates.sum(axis=1, keepdims=True)


# --- one machine -------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=["wide", "narrow", "linear", "quadratic"])
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_one_kernel_gives_the_optimum_of_the_squared_hinge(learn, rows, kernel, C):
    X, y = rows
    machine = learn([kernel], C).solve(np.ones(1), tol=1e-9)
    scores, coef = soft_margin(kernel(X), y, C)
    np.testing.assert_allclose(y - machine.slack + machine.bias, scores, atol=2e-3)
    np.testing.assert_allclose(machine.dual_coef, coef, atol=2e-3 * np.abs(coef).max())


def test_rows_weigh_as_much_as_their_c(learn, rows, rng):
    X, y = rows
    C = rng.uniform(0.2, 4.0, N_ROWS)
    machine = learn([KERNELS[1]], C).solve(np.ones(1), tol=1e-9)
    scores, _ = soft_margin(KERNELS[1](X), y, C)
    np.testing.assert_allclose(y - machine.slack + machine.bias, scores, atol=2e-3)


def test_a_row_of_no_weight_has_no_say(learn, rows):
    X, y = rows
    C = np.full(N_ROWS, 2.0)
    C[:5] = 0.0
    machine = learn([KERNELS[1]], C).solve(np.ones(1), tol=1e-9)
    gram = KERNELS[1](X)
    _, coef = soft_margin(gram[5:, 5:], y[5:], C[5:])
    np.testing.assert_allclose(machine.dual_coef[:5], 0.0, atol=1e-6)
    np.testing.assert_allclose(machine.dual_coef[5:], coef, atol=2e-3 * np.abs(coef).max())


def test_the_machine_is_that_of_the_weighted_kernel(learn, rows):
    X, y = rows
    machine = learn().solve(WEIGHTS, tol=1e-9)
    gram = sum(weight * kernel(X) for weight, kernel in zip(WEIGHTS, KERNELS, strict=True))
    scores, _ = soft_margin(gram, y, 2.0)
    np.testing.assert_allclose(y - machine.slack + machine.bias, scores, atol=2e-3)


def test_some_kernels_alone_are_as_if_there_were_no_others(learn):
    some = learn().solve(np.array([0.7, 0.3]), tol=1e-9, which=np.array([1, 3]))
    alone = learn([KERNELS[1], KERNELS[3]]).solve(np.array([0.7, 0.3]), tol=1e-9)
    np.testing.assert_allclose(some.dual_coef, alone.dual_coef, atol=1e-6)
    np.testing.assert_allclose(some.slack, alone.slack, atol=1e-6)


# --- its certificate ---------------------------------------------------------------------------


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_the_objective_is_that_of_the_machine(learn, rows, tol):
    X, y = rows
    machine = learn([KERNELS[1]]).solve(np.ones(1), tol=tol)
    by_hand = objective(KERNELS[1](X), y, 2.0, machine.dual_coef, machine.bias)
    assert machine.objective == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-4])
def test_the_gap_bounds_the_distance_to_the_optimum(learn, rows, tol):
    X, y = rows
    machine = learn([KERNELS[1]]).solve(np.ones(1), tol=tol)
    gram = KERNELS[1](X)
    scores, coef = soft_margin(gram, y, 2.0)
    best = 0.5 * coef @ gram @ coef + np.sum(np.maximum(0.0, 1.0 - y * scores) ** 2)
    assert 0.0 <= machine.gap <= tol * machine.objective
    assert machine.dual_objective <= best * (1 + 1e-6)
    assert best <= machine.objective * (1 + 1e-6)


def test_no_machine_is_asked_to_be_finer_than_it_can(learn):
    machine = learn(machine=Exchange()).solve(WEIGHTS, tol=1e-12)
    assert 0.0 <= machine.gap <= Exchange().finest * machine.objective


def test_slacks_are_those_of_the_machine(learn, rows):
    X, y = rows
    machine = learn().solve(WEIGHTS, tol=1e-2)
    gram = sum(weight * kernel(X) for weight, kernel in zip(WEIGHTS, KERNELS, strict=True))
    np.testing.assert_allclose(machine.slack, y - gram @ machine.dual_coef, atol=1e-10)


def test_coefficients_have_the_sign_of_their_row_and_sum_to_zero(learn, rows):
    machine = learn().solve(WEIGHTS, tol=1e-6)
    assert np.all(machine.dual_coef * rows[1] >= 0.0)
    assert machine.dual_coef.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("C", [1.0, "various"])
def test_a_bias_is_fitted_by_the_squared_hinge(learn, rows, rng, C):
    _, y = rows
    C = rng.uniform(0.2, 4.0, N_ROWS) if C == "various" else np.full(N_ROWS, C)
    slack = y - rng.standard_normal(N_ROWS)
    bias, loss = FINE.fit_bias(learn(C=C).problem, slack)

    def loss_at(b):
        return 0.5 * C @ np.maximum(0.0, y * (slack - b)) ** 2

    assert loss == pytest.approx(loss_at(bias))
    assert bias == pytest.approx(minimize_scalar(loss_at).x, abs=1e-6)


def test_a_bias_for_slacks_that_are_all_alike_is_that_slack(learn):
    bias, loss = FINE.fit_bias(learn().problem, np.full(N_ROWS, 0.3))
    assert bias == pytest.approx(0.3)
    assert loss == pytest.approx(0.0)


# --- derivatives in the weights ----------------------------------------------------------------


@pytest.mark.parametrize("C", [0.5, 2.0, 10.0])
def test_the_gradient_is_that_of_the_value(learn, C):
    learning = learn(C=C)
    slopes = differences(lambda b: learning.solve(b, tol=1e-9).dual_objective, WEIGHTS, 1e-3)
    found = learning.at(WEIGHTS, tol=1e-9)
    # machines are as exact as the root of their gap
    np.testing.assert_allclose(found.gradient, slopes, rtol=1e-3)


def test_quadratics_are_those_of_every_kernel(learn, rows):
    found = learn().at(WEIGHTS, tol=1e-4)
    coef = found.machine.dual_coef
    np.testing.assert_allclose(
        found.quadratics, [coef @ kernel(rows[0]) @ coef for kernel in KERNELS]
    )


def test_the_curvature_is_that_of_the_gradient(learn):
    learning = learn()
    bends = differences(lambda b: learning.at(b, tol=1e-10).gradient, WEIGHTS, 1e-2)
    found = learning.at(WEIGHTS, tol=1e-10)
    curvature = learning.curvature(found, learning.all_kernels)
    np.testing.assert_allclose(curvature, bends, atol=0.05 * np.abs(bends).max())


def test_weights_can_be_learned(learn):
    found = solve_newton(Descent(learn()), start_weights(4), tol=1e-3)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.gap <= 1e-3 * found.objective
    singles = [learn([kernel]).solve(np.ones(1), tol=1e-4).objective for kernel in KERNELS]
    assert found.objective <= min(singles) * (1 + 1e-3)


# --- gated kernels -----------------------------------------------------------------------------


def test_gated_kernels_give_the_machine_of_their_sum(learn, rows, rng):
    X, y = rows
    gates = random_gates(rng, 4)
    machine = learn(gates=gates).solve(WEIGHTS, tol=1e-9)
    gram = sum(
        weight * np.outer(gate, gate) * kernel(X)
        for weight, gate, kernel in zip(WEIGHTS, gates.T, KERNELS, strict=True)
    )
    scores, _ = soft_margin(gram, y, 2.0)
    np.testing.assert_allclose(y - machine.slack + machine.bias, scores, atol=2e-3)


def test_gates_may_share_a_kernel(learn, rows, rng):
    X, y = rows
    gates = random_gates(rng, 3)
    machine = learn([KERNELS[1]], gates=gates).solve(np.ones(3), tol=1e-9)
    scores, _ = soft_margin(gates @ gates.T * KERNELS[1](X), y, 2.0)
    np.testing.assert_allclose(y - machine.slack + machine.bias, scores, atol=2e-3)


def test_the_gradient_of_gated_kernels_is_that_of_the_value(learn, rng):
    learning = learn(gates=random_gates(rng, 4))
    slopes = differences(lambda b: learning.solve(b, tol=1e-9).dual_objective, WEIGHTS, 1e-3)
    found = learning.at(WEIGHTS, tol=1e-9)
    np.testing.assert_allclose(found.gradient, slopes, rtol=1e-3)


def test_open_gates_change_nothing(learn):
    gated = learn(gates=np.ones((N_ROWS, 4))).solve(WEIGHTS, tol=1e-8)
    plain = learn().solve(WEIGHTS, tol=1e-8)
    np.testing.assert_allclose(gated.dual_coef, plain.dual_coef, rtol=1e-6, atol=1e-9)


def test_no_matrix_is_ever_made(learn, monkeypatch, rng):
    def refuse(*args, **kwargs):
        raise AssertionError("a whole Gram matrix")

    monkeypatch.setattr(Grams, "weighted", refuse)
    monkeypatch.setattr(Grams, "modulated", refuse)
    monkeypatch.setattr(Grams, "rows", refuse)
    learn().at(WEIGHTS, tol=1e-2)
    learn(gates=random_gates(rng, 4)).at(WEIGHTS, tol=1e-2)


def test_published_averages_come_within_their_gap_of_the_optimum(rows, learn):
    y = rows[1]
    weights = np.full(len(KERNELS), 0.25)
    problem = learn(machine=AVERAGING)
    found = problem.solve(weights, 1e-6)  # finer than averages ever get
    gram = np.tensordot(weights, np.stack([kernel(rows[0]) for kernel in KERNELS]), axes=1)
    scores, coef = soft_margin(gram, y, 2.0)
    bias = (scores - gram @ coef)[0]
    best = objective(gram, y, 2.0, coef, bias)
    assert found.objective == pytest.approx(
        objective(gram, y, 2.0, found.dual_coef, found.bias), rel=1e-6
    )
    assert best * (1.0 - 1e-6) <= found.objective <= best + found.gap
    assert found.gap <= 0.0101 * found.objective
