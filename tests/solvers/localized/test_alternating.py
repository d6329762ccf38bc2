"""A gate learned by plain gradient steps: downhill to a point that no step improves."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from nearlinear.gates.learned import GATES, Columns, Viewing, random_start
from nearlinear.kernels import Gaussian, Polynomial
from nearlinear.kernels.grams import Grams
from nearlinear.solvers.localized.alternating import learn_gate_by_steps
from nearlinear.solvers.localized.gate import GateObjective
from nearlinear.solvers.machine.bias import FreeBias
from nearlinear.solvers.machine.problem import DualProblem
from nearlinear.solvers.mixture.objective import KernelObjective

KERNELS = [Gaussian(1.0), Polynomial(1, gamma=0.5)]
OWNERS = np.array([0, 1, 1])
each_gate = pytest.mark.parametrize("name", GATES)


@pytest.fixture(scope="module")
def X():
    return make_moons(48, noise=0.25, random_state=0)[0]


@pytest.fixture
def objective(X):
    y = make_moons(48, noise=0.25, random_state=0)[1]
    grams = Grams(KERNELS, X, max_bytes=1e9)
    problem = DualProblem.of_signs(2 * y - 1, np.full(48, 2.0))
    return GateObjective(KernelObjective(grams, problem, FreeBias()), OWNERS, X, 0.1)


def begin(name, X, seed=0):
    return random_start(GATES[name], X, 3, np.random.RandomState(seed))


@each_gate
def test_steps_go_down_to_a_gate_that_no_step_improves(X, objective, name):
    gate = begin(name, X)
    first, _, _ = objective(gate, 1e-8)
    found = learn_gate_by_steps(objective, gate, tol=1e-7, max_iter=400, inner_tol=1e-8, margin=0.0)
    path = np.array([first, *found.path])
    assert len(path) > 3
    assert np.all(np.diff(path) < 0.0)
    assert found.machine.gap <= 1e-7 * found.machine.objective
    learned = found.gate.gate
    value, gradient, _ = objective(learned, 1e-8)
    assert value == pytest.approx(path[-1], rel=1e-6)
    along = gradient / np.linalg.norm(gradient)
    for length in (0.1, 0.01):
        trial = learned.with_parameters(learned.parameters - length * along)
        assert objective(trial, 1e-8)[0] > value * (1.0 - 1e-4)


@each_gate
def test_the_random_start_leaves_components_all_but_tied_in_any_unit(X, name):
    gate = begin(name, X)
    values = gate(X)
    assert not np.array_equal(values, begin(name, X, 1)(X))
    np.testing.assert_allclose(begin(name, 1000.0 * X)(1000.0 * X), values, atol=0.02)
    if name == "gaussian":
        assert all((center == X).all(axis=1).any() for center in gate.centers)
        assert gate.scale == pytest.approx(X.var(axis=0).sum())
    else:
        share = 0.5 if name == "sigmoid" else 1 / 3
        np.testing.assert_allclose(values, share, atol=0.02)


def test_a_gate_that_sees_some_columns_starts_on_these(X):
    gate = random_start(Viewing(GATES["gaussian"], Columns((1,))), X, 3, np.random.RandomState(0))
    assert gate.gate.centers.shape == (3, 1)
