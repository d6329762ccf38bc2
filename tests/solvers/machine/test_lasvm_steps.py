"""Steps of LaSVM against the same on a full matrix, gradients always fresh."""

import numpy as np
import pytest

from nearlinear.solvers.machine.lasvm import _pair_step, process_pass
from reference import lasvm as reference

TOL = 1e-3
N_ROWS = 40


class Problem:
    """Forty noisy rows of two classes and their Gaussian Gram matrix, in a larger array."""

    def __init__(self, dtype=np.float64):
        rng = np.random.default_rng(3)
        X = rng.standard_normal((N_ROWS, 2))
        self.y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(N_ROWS) > 0, 1.0, -1.0)
        self.C = rng.uniform(0.5, 3.0, N_ROWS)
        self.gram = np.full((N_ROWS + 9, N_ROWS + 9), np.nan, dtype=dtype)
        self.gram[:N_ROWS, :N_ROWS] = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
        self.exact = self.gram[:N_ROWS, :N_ROWS].astype(np.float64)
        self.dual, self.gradient = np.zeros(N_ROWS), self.y.copy()

    def run(self, first, n_rows, n_more):
        """The pass over the first ``n_rows``, of which those from ``first`` on are new."""
        process_pass(
            self.gram, np.diag(self.exact)[:n_rows].copy(), (self.C * self.y)[:n_rows],
            self.dual[:n_rows], self.gradient[:n_rows], first, n_more, TOL,
        )  # fmt: skip
        # the rows left out of the arrays hear of the change, as they do when they are appended
        self.gradient[n_rows:] = (self.y - self.exact @ self.dual)[n_rows:]


@pytest.fixture
def problem():
    return Problem()


def assert_among(found, outcomes):
    """The outcome that a step of the pass has come to is one of the reference's."""
    distance = min(np.abs(found - outcome).max() for outcome in outcomes)
    assert distance < 1e-10  # a step divides by the curvature


@pytest.mark.passes
@pytest.mark.parametrize("block", [1, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_rows_make_the_steps_of_the_reference(dtype, block):
    problem = Problem(dtype)
    gram, y, C = problem.exact, problem.y, problem.C
    for k in range(0, N_ROWS, block):
        new = range(k, k + block)
        outcomes = reference.take_rows(gram, y, C, problem.dual.copy(), range(k), new, TOL)
        problem.run(k, k + block, 0)
        assert_among(problem.dual, outcomes)
        np.testing.assert_allclose(problem.gradient, y - gram @ problem.dual, atol=1e-12)
    assert np.count_nonzero(problem.dual) > 20


@pytest.mark.passes
def test_every_further_step_is_that_of_the_reference(problem):
    gram, y, C = problem.exact, problem.y, problem.C
    values = [0.0]
    for _ in range(60):
        outcomes = reference.reprocess(gram, y, C, problem.dual.copy(), range(N_ROWS), TOL)
        problem.run(N_ROWS, N_ROWS, 1)
        assert_among(problem.dual, outcomes)
        values.append(y @ problem.dual - 0.5 * problem.dual @ gram @ problem.dual)
    assert np.all(np.diff(values) > 0)


@pytest.mark.passes
def test_steps_stay_in_the_box_and_keep_the_sum(problem):
    for k in range(N_ROWS):
        problem.run(k, k + 1, 2)
        assert np.all(problem.dual * problem.y >= 0)
        assert np.all(problem.dual * problem.y <= problem.C)
        assert problem.dual.sum() == pytest.approx(0.0, abs=1e-13)
    assert np.any(problem.dual * problem.y == problem.C)


@pytest.mark.passes
def test_steps_end_when_no_pair_violates(problem):
    problem.run(N_ROWS, N_ROWS, 10_000)
    grows = reference.can_grow(problem.y, problem.C, problem.dual)
    shrinks = reference.can_shrink(problem.y, problem.C, problem.dual)
    gradient = problem.y - problem.exact @ problem.dual
    assert gradient[grows].max() - gradient[shrinks].min() <= TOL * (1 + 1e-9)
    before = problem.dual.copy()
    problem.run(N_ROWS, N_ROWS, 1)
    np.testing.assert_array_equal(problem.dual, before)


def step(dual, gradient, i, j, gram=((2.0, 0.0), (0.0, 2.0))):
    """The step between two rows of either class with C = 1, from ``dual``."""
    dual, gradient, gram = np.array(dual), np.array(gradient), np.array(gram)
    diagonal = np.diag(gram).copy()
    _pair_step(gram, diagonal, np.array([1.0, -1.0]), dual, gradient, i, j, TOL)
    return dual, gradient


@pytest.mark.passes
def test_a_free_step_makes_the_gradients_equal():
    dual, gradient = step([0.0, 0.0], [1.0, -1.0], 0, 1)
    np.testing.assert_allclose(dual, [0.5, -0.5])
    np.testing.assert_allclose(gradient, [0.0, 0.0], atol=1e-15)


@pytest.mark.passes
@pytest.mark.parametrize(
    ("dual", "gradient", "i", "j"),
    [
        ([0.0, 0.0], [1.0, -1.0], -1, 1),  # nobody can grow
        ([0.0, 0.0], [1.0, -1.0], 0, -1),  # nobody can shrink
        ([0.5, -0.5], [0.1, 0.1], 0, 1),  # no violation
        ([0.5, -0.5], [0.0, 1.0], 0, 1),  # the step would go back
        ([1.0, -0.5], [1.0, -1.0], 0, 1),  # no room above
        ([0.5, -1.0], [1.0, -1.0], 0, 1),  # nothing to take
    ],
)
def test_a_pair_that_cannot_gain_is_left_alone(dual, gradient, i, j):
    after, slopes = step(dual, gradient, i, j)
    np.testing.assert_array_equal(after, dual)
    np.testing.assert_array_equal(slopes, gradient)


@pytest.mark.passes
@pytest.mark.parametrize("gram", [np.zeros((2, 2)), np.ones((2, 2))])
def test_a_pair_without_curvature_goes_to_its_bound(gram):
    dual, gradient = step([0.0, 0.0], [1.0, -1.0], 0, 1, gram)
    np.testing.assert_array_equal(dual, [1.0, -1.0])
    np.testing.assert_array_equal(gradient, [1.0, -1.0])
