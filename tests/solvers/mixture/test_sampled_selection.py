"""Kernels chosen on some rows, weighed and certified on all."""

import numpy as np
import pytest

from nearlinear.kernels.candidates import ConformalScales
from nearlinear.kernels.conformal import PROFILES
from nearlinear.kernels.conformal_grams import ConformalGrams
from nearlinear.solvers.machine.bias import FixedBias, FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.active_set import solve_on_sample, solve_sequential
from nearlinear.solvers.mixture.objective import Descent, KernelObjective

N_ROWS = 240


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (N_ROWS, 2))
    return X, np.where(np.sin(2.0 * X[:, 0]) > X[:, 1], 1.0, -1.0)


@pytest.fixture(params=[FreeBias(), FixedBias(1.0)], ids=["free", "penalized"])
def learn(request, rows):
    """Makes a KernelObjective of some of the rows."""
    X, y = rows
    scales = ConformalScales.of_rows(
        X, np.ones(N_ROWS), PROFILES["gaussian"], False, (0.1, 1.0, 10.0), 0.5
    )
    bank = scales.bank(X[::6])

    def make(some=slice(None)):
        problem = DualProblem.of_signs(y[some], np.full(len(y[some]), 5.0))
        return KernelObjective(ConformalGrams(bank, X[some]), problem, request.param)

    return make


def test_the_certificate_is_that_of_all_rows(learn):
    found = solve_on_sample(Descent(learn()), Descent(learn(slice(None, None, 3))), tol=1e-3)
    optimum = solve_sequential(Descent(learn()), tol=1e-5)
    assert found.objective >= optimum.objective * (1 - 1e-4)
    assert found.objective - found.gap <= optimum.objective * (1 + 1e-9)
    assert found.objective <= 1.3 * optimum.objective  # the sample chose well


def test_all_rows_have_their_say_in_the_weights(learn):
    found = solve_on_sample(Descent(learn()), Descent(learn(slice(None, None, 3))), tol=1e-3)
    assert len(found.evaluation.machine.dual_coef) == N_ROWS
    assert found.weights.sum() == pytest.approx(1.0)
    kept = np.flatnonzero(found.weights)
    np.testing.assert_array_equal(found.evaluation.weights, found.weights[kept])
    other = learn().at(found.weights[kept], tol=1e-6, which=kept)
    assert found.objective == pytest.approx(other.objective, rel=2e-3)


def test_only_kernels_of_the_sample_are_used(learn):
    sample = learn(slice(None, None, 3))
    chosen = solve_sequential(Descent(sample), tol=0.05).weights > 0
    found = solve_on_sample(Descent(learn()), Descent(learn(slice(None, None, 3))), tol=1e-3)
    assert not np.any(found.weights[~chosen])
