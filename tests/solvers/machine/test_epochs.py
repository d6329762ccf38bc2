"""Epochs of coordinate ascent: the printed algorithm with its misprints mended, and its optimum."""

import numpy as np
import pytest

from nearlinear.kernels.rows import GramRows
from nearlinear.solvers.machine import epochs
from nearlinear.solvers.machine.bias import FixedBias
from nearlinear.solvers.machine.epochs import ascend_by_epochs
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.machine.working_sets import solve_kernel_machine
from reference import kernel_svm as reference

N_ROWS, C = 40, 3.0
each_shift = pytest.mark.parametrize("shift", [0.0, 1.5], ids=["no bias", "penalized bias"])


@pytest.fixture(scope="module")
def machine():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((N_ROWS, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(N_ROWS) > 0, 1.0, -1.0)
    return reference.gram("gaussian", X), y


def printed(gram, y, n_epochs, seed):
    """Algorithm 1 of the paper; outputs of all rows follow, by the label of the row stepped on."""
    rng, alpha, outputs = np.random.RandomState(seed), np.zeros(len(y)), np.zeros(len(y))
    for _ in range(n_epochs):
        for i in rng.permutation(len(y)):
            g = 1.0 - y[i] * outputs[i]
            if g == 0 or (g > 0 and alpha[i] == C) or (g < 0 and alpha[i] == 0):
                continue
            new = max(0.0, min(alpha[i] + g / gram[i, i], C))
            outputs += (new - alpha[i]) * y[i] * gram[i]
            alpha[i] = new
    return alpha * y


@pytest.mark.passes
@each_shift
@pytest.mark.parametrize("together", [7, 256])
def test_epochs_are_those_of_the_printed_algorithm(machine, monkeypatch, shift, together):
    gram, y = machine
    monkeypatch.setattr(epochs, "_TOGETHER", together)
    problem = DualProblem.of_signs(y, np.full(N_ROWS, C))
    found = ascend_by_epochs(GramRows(gram), problem, FixedBias(shift), n_epochs=3, seed=5)
    np.testing.assert_allclose(found.dual_coef, printed(gram + shift, y, 3, 5), atol=1e-10)
    assert found.bias == pytest.approx(shift * found.dual_coef.sum())
    value = reference.dual_value(gram + shift, problem, found.dual_coef)
    assert found.dual_objective == pytest.approx(value)
    assert found.n_iter == 3


@each_shift
def test_the_gap_closes_with_the_epochs(machine, shift):
    gram, y = machine
    problem, bias = DualProblem.of_signs(y, np.full(N_ROWS, C)), FixedBias(shift)
    early, late = (
        ascend_by_epochs(GramRows(gram), problem, bias, n_epochs=n, seed=5) for n in (1, 500)
    )
    best = solve_kernel_machine(GramRows(gram), problem, bias, tol=1e-9)
    assert early.gap > 0.01 * early.objective
    assert early.dual_objective < best.dual_objective <= early.objective
    assert late.objective == pytest.approx(best.objective, rel=1e-5)


def test_epochs_end_when_nothing_moves():
    problem = DualProblem.of_signs(np.array([1.0, -1.0]), np.full(2, C))
    found = ascend_by_epochs(GramRows(np.eye(2)), problem, FixedBias(), n_epochs=100, seed=0)
    assert found.n_iter == 2
    np.testing.assert_array_equal(found.dual_coef, [1.0, -1.0])
