"""Local models of several outputs, each by the solver that fits the loss."""

import numpy as np
import pytest

from nearlinear.gates.anchors import SoftAssignment
from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors.fixed_gate import solve_local_models

# Those of the estimators with local models; the others are only trained step by step.
each_loss = pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((50, 3))
    labels = rng.integers(3, size=50)
    targets = np.where(labels[:, None] == np.arange(3), 1.0, -1.0)
    return X, *SoftAssignment(X[:4].copy(), 2, 1.0).codes(X), targets


def solve(problem, loss, *, C=1.0, tol=1e-6, seed=0, n_jobs=None, outputs=slice(None)):
    X, indices, codes, targets = problem
    return solve_local_models(
        X, indices, codes, targets[:, outputs], loss=LOSSES[loss], C=np.full(50, C), n_components=4,
        tol=tol, max_iter=20_000, rng=np.random.RandomState(seed), n_jobs=n_jobs,
    )  # fmt: skip


def objective(problem, loss, solution, C=1.0):
    """½ Σ‖·‖² + C Σ loss, with every local model evaluated."""
    X, indices, codes, targets = problem
    gamma = np.zeros((50, 4))
    np.put_along_axis(gamma, indices.astype(int), codes, axis=1)
    scores = np.einsum("im,id,mdc->ic", gamma, X, solution.weights) + gamma @ solution.biases
    norm = np.sum(solution.weights**2) + np.sum(solution.biases**2)
    return 0.5 * norm + C * LOSSES[loss].value(scores, targets).sum()


@each_loss
def test_objective_is_the_sum_over_outputs(problem, loss):
    solution, _ = solve(problem, loss, C=2.0)
    assert solution.objective == pytest.approx(objective(problem, loss, solution, C=2.0))


@each_loss
def test_no_nearby_model_is_better(problem, loss, rng):
    solution, _ = solve(problem, loss)
    best = objective(problem, loss, solution)
    for _ in range(20):
        nearby = type(solution)(
            solution.weights + 0.03 * rng.standard_normal(solution.weights.shape),
            solution.biases + 0.03 * rng.standard_normal(solution.biases.shape),
            0.0, 0.0, 0,
        )  # fmt: skip
        assert objective(problem, loss, nearby) > best


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_margin_losses_are_solved_one_output_at_a_time(problem, loss):
    together, certificates = solve(problem, loss)
    assert len(certificates) == 3
    for c in range(3):
        alone, _ = solve(problem, loss, outputs=slice(c, c + 1))
        # two seeds, two ends inside a gap of 1e-6 of an objective of about 30
        np.testing.assert_allclose(together.weights[:, :, c], alone.weights[:, :, 0], atol=0.02)
        assert certificates[c].objective == pytest.approx(alone.objective, rel=2e-6)


def test_the_gap_of_all_outputs_is_the_sum_of_theirs(problem):
    solution, certificates = solve(problem, "hinge")
    assert solution.gap == pytest.approx(sum(part.gap for part in certificates))
    assert solution.n_iter == max(part.n_iter for part in certificates)


def test_the_log_loss_has_one_certificate(problem):
    solution, certificates = solve(problem, "log_loss")
    assert certificates == [solution]


@each_loss
def test_the_number_of_threads_does_not_change_a_bit(problem, loss):
    one, _ = solve(problem, loss)
    two, _ = solve(problem, loss, n_jobs=2)
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.biases, two.biases)
