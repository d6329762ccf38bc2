"""Scale and bias of a machine along a given direction, against a general optimizer."""

import numpy as np
import pytest
from scipy.optimize import minimize

from nearlinear.solvers.machine.exchange import fit_scale_and_bias


class Problem:
    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.y = np.where(rng.random(50) < 0.3, 1.0, -1.0)
        scores = 3.0 * self.y + 4.0 * rng.standard_normal(50) + 2.0
        self.features = np.column_stack([self.y * scores, self.y])
        self.norm, self.ridge = 7.0, rng.uniform(0.1, 2.0, 50)

    def objective(self, machine):
        slack = np.maximum(1.0 - self.features @ machine, 0.0)
        return machine[0] ** 2 * self.norm + np.sum(slack**2 / self.ridge)

    def fit(self, *starts, **options):
        return fit_scale_and_bias(self.features, self.norm, self.ridge, starts, **options)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("start", [(0.0, 0.0), (5.0, -3.0), (-1.0, 10.0)])
def test_the_fit_is_the_optimum_of_a_general_optimizer(seed, start):
    problem = Problem(seed)
    machine, objective = problem.fit(np.array(start), n_steps=30)
    expected = minimize(problem.objective, np.zeros(2), tol=1e-10)
    assert objective == pytest.approx(problem.objective(machine))
    assert objective == pytest.approx(expected.fun, rel=1e-9)
    np.testing.assert_allclose(machine, expected.x, atol=1e-4)


def test_a_fit_cut_short_is_no_worse_than_its_best_start():
    problem = Problem()
    good, bad = np.array([0.1, -0.2]), np.array([40.0, 0.0])
    machine, objective = problem.fit(bad, good, n_steps=0)
    assert objective == pytest.approx(problem.objective(good))
    np.testing.assert_array_equal(machine, good)


def test_a_direction_that_says_nothing_leaves_the_bias():
    problem = Problem()
    problem.features[:, 0] = 0.0
    problem.norm = 0.0
    machine, _ = problem.fit(np.zeros(2))
    weights = 1.0 / problem.ridge
    assert machine[0] == 0.0
    assert machine[1] == pytest.approx(np.average(problem.y, weights=weights))
