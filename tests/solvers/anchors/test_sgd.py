"""The row-by-row trainer: portions, step sizes, and what it learns."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.anchors import SoftAssignment
from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors.sgd import RowTrainer, _as_csr, train_by_sgd
from nearlinear.solvers.solution import LocalModels
from nearlinear.solvers.watch import Watch

N_ANCHORS, N_NEIGHBORS, N_FEATURES = 5, 3, 4


class InOrder:
    """Stands for a random state that leaves the rows in their order."""

    def permutation(self, n):
        return np.arange(n)


@pytest.fixture
def start(rng):
    return LocalModels(
        rng.standard_normal((N_ANCHORS, N_FEATURES)),
        0.6,
        np.zeros((N_ANCHORS, N_FEATURES, 1)),
        np.zeros((N_ANCHORS, 1)),
    )


@pytest.fixture
def problem(rng):
    """Rows and targets that no single line tells apart."""
    X = rng.standard_normal((200, N_FEATURES))
    return X, np.where(X[:, :1] * X[:, 1:2] > 0, 1.0, -1.0)


def soft_gate(model):
    return SoftAssignment(model.anchors, N_NEIGHBORS, model.sharpness)


def feed(trainer, X, targets, gate, portion, **settings):
    """Train on rows in their order, ``portion`` at a time."""
    settings = {"loss": LOSSES["hinge"], "ridge": 0.01, **settings}
    for first in range(0, X.shape[0], portion):
        rows = slice(first, first + portion)
        weight = np.ones(X[rows].shape[0])
        trainer.train(X[rows], targets[rows], weight, gate, rng=InOrder(), **settings)
    return trainer.model(np.float64)


@pytest.mark.parametrize("portion", [1, 7, 16, 50])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("anchor_rate", [0.0, 0.1])
def test_the_size_of_the_portions_does_not_matter(start, problem, loss, portion, anchor_rate):
    X, targets = problem
    models = []
    for size in (portion, 200):
        trainer = RowTrainer.start_from(start, X, 10.0, anchor_rate)
        models.append(feed(trainer, X, targets, soft_gate(start), size, loss=LOSSES[loss]))
    for name in ("anchors", "weights", "biases"):
        np.testing.assert_allclose(*(getattr(m, name) for m in models), atol=1e-10)


@pytest.mark.parametrize("local_model", ["affine", "constant"])
def test_many_dense_rows_are_trained_in_portions(start, rng, local_model):
    X = rng.standard_normal((2100, N_FEATURES))
    targets = np.sign(X[:, :1])
    if local_model == "constant":
        start = LocalModels(start.anchors, 0.6, np.zeros((N_ANCHORS, 0, 1)), start.biases)
    models = []
    for rows in (X, csr_matrix(X)):
        trainer = RowTrainer.start_from(start, rows, 10.0, 0.1)
        models.append(feed(trainer, rows, targets, soft_gate(start), 2100))
        assert trainer.n_steps == 2100
    for name in ("anchors", "weights", "biases"):
        np.testing.assert_allclose(*(getattr(m, name) for m in models), atol=1e-10)


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_the_first_step_shrinks_with_the_squared_length_of_the_rows(start, problem, as_rows):
    def step_times_length(X):
        step = RowTrainer.start_from(start, as_rows(X), 1e6, 0.0).rule.first_step
        return step * (1.0 + (X**2).sum(axis=1).mean())

    assert step_times_length(10 * problem[0]) == pytest.approx(step_times_length(problem[0]))
    assert step_times_length(problem[0]) <= 1.0  # a longer step would overshoot a row


def test_the_first_step_shrinks_with_the_cost(start, problem):
    steps = [RowTrainer.start_from(start, problem[0], C, 0.0).rule.first_step for C in (1e-4, 1e-3)]
    assert steps[1] == pytest.approx(10 * steps[0])


def test_steps_fade_to_nothing_at_the_end_of_the_run(start, problem):
    X, targets = problem
    trainer = RowTrainer.start_from(start, X, 10.0, 0.1)
    gate = soft_gate(start)
    before = feed(trainer, X[:199], targets[:199], gate, 199, n_total=200)
    after = feed(trainer, X[199:], targets[199:], gate, 1, n_total=200)
    # the last of 200 steps has a two-hundredth of its usual size of at most 0.2
    assert np.abs(after.biases - before.biases).max() < 0.2 / 200
    beyond = feed(trainer, X, targets, gate, 200, n_total=200)
    np.testing.assert_array_equal(beyond.biases, after.biases)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_training_learns_what_no_line_can(start, problem, loss, as_rows):
    X, targets = problem
    watch = Watch()
    train_by_sgd(
        as_rows(X), targets, np.ones(200), start, watch, n_neighbors=N_NEIGHBORS, loss=LOSSES[loss],
        C=10.0, n_epochs=10, anchor_rate=0.1, rng=np.random.RandomState(0),
    )  # fmt: skip
    gamma = soft_gate(watch.best)(X)
    scores = np.einsum("im,id,mdc->ic", gamma, X, watch.best.weights) + gamma @ watch.best.biases
    assert np.mean(targets * scores > 0) > 0.7  # a line gets 0.5
    assert [progress.step for progress in watch.history] == list(range(1, 11))


def test_every_epoch_is_recorded_with_its_objective(start, problem):
    X, targets = problem
    watch = Watch()
    train_by_sgd(
        X, targets, np.ones(200), start, watch, n_neighbors=N_NEIGHBORS,
        loss=LOSSES["hinge"], C=10.0,
        n_epochs=5, anchor_rate=0.1, rng=np.random.RandomState(0),
    )  # fmt: skip
    objectives = [progress.objective for progress in watch.history]
    assert objectives[-1] < objectives[0] < 1.0  # saying nothing costs one


def test_training_stops_when_the_watch_has_waited_long_enough(start, problem):
    X, targets = problem
    watch = Watch(None, lambda model: 0.0, patience=2)
    train_by_sgd(
        X, targets, np.ones(200), start, watch, n_neighbors=N_NEIGHBORS,
        loss=LOSSES["hinge"], C=10.0,
        n_epochs=50, anchor_rate=0.1, rng=np.random.RandomState(0),
    )  # fmt: skip
    assert watch.history[-1].step == 3  # the first is the best, two more are not better


def test_dense_rows_keep_their_zeros_as_sparse_ones():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    rows = _as_csr(X)
    assert rows.nnz == 4
    np.testing.assert_array_equal(rows.toarray(), X)
