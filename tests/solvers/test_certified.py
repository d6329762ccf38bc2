"""Machines in single precision, certified in double: against matrices from the formulas."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.kernels import Conformal, Gaussian, Polynomial
from nearlinear.kernels.candidates import ConformalBank
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.conformal_grams import ConformalGrams
from nearlinear.kernels.gated_grams import GatedGrams
from nearlinear.kernels.grams import Grams
from nearlinear.kernels.standard import Precomputed
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.exchange import Exchange
from nearlinear.solvers.machine.lasvm import fit_lasvm
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import KernelObjective
from reference.kernel_svm import dual_value, smallest_loss

N_ROWS, C = 90, 1e4
KERNELS = [Gaussian(0.5), Gaussian(4.0), Polynomial(2, 0.5)]
STEPS = {"free": FreeBias(), "penalized": FixedBias(1.0), "none": FixedBias(0.0)}


@pytest.fixture
def X(rng):
    return rng.standard_normal((N_ROWS, 3)).astype(np.float32)


@pytest.fixture
def problem(X, rng):
    signs = np.where(X[:, 0] + 0.7 * rng.standard_normal(N_ROWS) > 0, 1.0, -1.0)
    return DualProblem.of_signs(signs, np.full(N_ROWS, C))


def matrices(X):
    X = X.astype(np.float64)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    return [np.exp(-0.5 * squares), np.exp(-4.0 * squares), (0.5 * X @ X.T + 1.0) ** 2]


def gated(X, rng):
    owners, gates = [0, 1, 2, 0], rng.uniform(0.0, 1.0, (N_ROWS, 4))
    exact = [np.outer(g, g) * matrices(X)[m] for m, g in zip(owners, gates.T, strict=True)]
    return GatedGrams(Grams(KERNELS, X), owners, gates), exact


def conformal(X, rng):
    bank = ConformalBank.of_all(X[:4], np.array([0.3, 2.0]), PROFILES["gaussian"], False)
    bank.normalize(np.linspace(1.0, 3.0, 8), 0.5, 2.0)
    wide = X.astype(np.float64)
    exact = [
        Conformal(wide[place], float(gamma), "gaussian", False)(wide) / divisor
        for place, gamma, divisor in zip(bank.places, bank.gammas, bank.divisors, strict=True)
    ]
    return ConformalGrams(bank, X), exact


def precomputed(X, rng):
    stack = np.stack(matrices(X), axis=2).astype(np.float32)
    numbers = np.arange(N_ROWS)[:, None]
    grams = Grams([Precomputed(m) for m in range(3)], stack, landmarks=numbers)
    return grams, list(np.moveaxis(stack.astype(np.float64), 2, 0))


MAKERS = {
    "dense": lambda X, rng: (Grams(KERNELS, X), matrices(X)),
    "sparse": lambda X, rng: (Grams(KERNELS, csr_matrix(X)), matrices(X)),
    "gated": gated,
    "conformal": conformal,
    "precomputed": precomputed,
}


def check(found, exact, problem, steps):
    coef, machine = found.machine.dual_coef, found.machine
    np.testing.assert_allclose(found.quadratics, [coef @ gram @ coef for gram in exact], rtol=1e-9)
    total = steps.shift + sum(b * gram for b, gram in zip(found.weights, exact, strict=True))
    slack = problem.targets - total @ coef
    np.testing.assert_allclose(machine.slack, slack, atol=1e-9 * np.abs(slack).max())
    loss = smallest_loss(problem, slack) if steps.is_free else C * np.maximum(
        0.0, problem.targets * slack
    ).sum()  # fmt: skip
    primal = 0.5 * coef @ total @ coef + loss
    assert machine.objective == pytest.approx(primal, rel=1e-9)
    gap = primal - dual_value(total, problem, coef)
    assert machine.gap == pytest.approx(gap, abs=1e-8 * primal)


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("maker", MAKERS)
def test_value_gap_and_prices_are_those_of_double_precision(X, rng, problem, maker, steps):
    grams, exact = MAKERS[maker](X, rng)
    steps = STEPS[steps]
    learning = KernelObjective(grams, problem, steps)
    weights = np.linspace(0.0, 1.0, len(exact))  # one kernel has no weight, and a price
    found = learning.at(weights, tol=1e-2)
    check(learning.certified(found, tol=np.inf), exact, problem, steps)
    further = learning.certified(found, tol=1e-7)
    check(further, exact, problem, steps)
    assert further.machine.gap <= 1e-7 * further.objective


def test_in_double_precision_nothing_is_left_to_certify(X, problem):
    learning = KernelObjective(Grams(KERNELS, X.astype(np.float64)), problem, FreeBias())
    found = learning.at(np.ones(3), tol=1e-2)
    assert learning.certified(found, tol=1e-9) is found


def test_a_machine_from_columns_has_the_gap_of_its_squared_hinge(X, problem):
    learning = KernelObjective(Grams(KERNELS, X), problem, FreeBias(), Exchange())
    weights = np.array([0.5, 0.0, 1.0])
    machine = learning.certified_machine(learning.solve(weights, tol=0.1), weights, tol=np.inf)
    coef, gram = machine.dual_coef, 0.5 * matrices(X)[0] + matrices(X)[2]
    short = np.maximum(0.0, 1.0 - problem.targets * (gram @ coef + machine.bias))
    primal = 0.5 * coef @ gram @ coef + 0.5 * C * short @ short
    scale = np.linspace(0.5, 1.5, 20001)
    dual = scale * np.abs(coef).sum() - 0.5 * scale**2 * (coef @ gram @ coef + coef @ coef / C)
    assert machine.objective == pytest.approx(primal, rel=1e-8)
    assert machine.gap == pytest.approx(primal - dual.max(), abs=1e-6 * primal)


def test_an_online_machine_on_float32_rows_is_certified_in_double_precision(X, problem):
    signs, upper = problem.targets, np.full(N_ROWS, C)
    found = fit_lasvm(
        X, signs, upper, Gaussian(0.5), n_passes=1, tol=1e-2, max_iter=100,
        rng=np.random.RandomState(0),
    )  # fmt: skip
    coef, gram = np.zeros(N_ROWS), matrices(X)[0]
    coef[found.support] = found.dual_coef
    loss = C * np.maximum(0.0, 1.0 - signs * (gram @ coef + found.bias)).sum()
    primal = 0.5 * coef @ gram @ coef + loss
    assert found.objective == pytest.approx(primal, rel=1e-9)
    assert found.gap == pytest.approx(primal - dual_value(gram, problem, coef), abs=1e-7 * primal)
