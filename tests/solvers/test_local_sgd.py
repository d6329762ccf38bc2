"""Algorithm 1 row by row, against a dense version of the same steps."""

import numpy as np
import pytest
from reference.codes import inverse
from reference.descent import train_rows
from scipy.sparse import csr_matrix

from nearlinear.gates.anchors import InverseDistance, SoftAssignment
from nearlinear.solvers.local_sgd import RowTrainer, _as_csr, train_by_sgd
from nearlinear.solvers.solution import BestIterate, LocalModels

N_ANCHORS, N_NEIGHBORS, N_FEATURES = 5, 3, 4
LOSSES = ["hinge", "squared_hinge", "log_loss"]


class InOrder:
    """Stands for a random state that leaves the rows in their order."""

    def permutation(self, n):
        return np.arange(n)


def make_problem(n_outputs=1, local_model="affine", n_rows=40):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n_rows, N_FEATURES))
    X[X < -0.8] = 0.0
    if n_outputs == 1:
        targets = np.where(X[:, :1] * X[:, 1:2] > 0, 1.0, -1.0)
    else:
        labels = rng.integers(n_outputs, size=n_rows)
        targets = np.where(labels[:, None] == np.arange(n_outputs), 1.0, -1.0)
    width = N_FEATURES if local_model == "affine" else 0
    model = LocalModels(
        rng.standard_normal((N_ANCHORS, N_FEATURES)),
        0.6,
        0.3 * rng.standard_normal((N_ANCHORS, width, n_outputs)),
        0.3 * rng.standard_normal((N_ANCHORS, n_outputs)),
    )
    return X, targets, rng.uniform(0.5, 2.0, n_rows), model


def soft_gate(model):
    return SoftAssignment(model.anchors, N_NEIGHBORS, model.sharpness)


def run(problem, *, loss="hinge", anchor_rate=0.5, ridge=0.05, as_rows=np.asarray, gate=None):
    X, targets, row_weight, model = problem
    trainer = RowTrainer.start_from(model, as_rows(X), 10.0, anchor_rate)
    trainer.train(
        as_rows(X), targets, row_weight, gate or soft_gate(model), loss=loss, ridge=ridge,
        rng=InOrder(),
    )  # fmt: skip
    return trainer


def run_reference(problem, trainer, *, loss="hinge", anchor_rate=0.5, ridge=0.05, codes=None):
    X, targets, row_weight, model = problem
    first = trainer.first_step
    steps = first / (1.0 + first * ridge * np.arange(len(X)))
    return train_rows(
        X, targets, row_weight, (model.anchors, model.sharpness, model.weights, model.biases),
        loss=loss, n_neighbors=N_NEIGHBORS, steps=steps, ridge=ridge, anchor_rate=anchor_rate,
        codes=codes,
    )  # fmt: skip


def assert_same_model(trainer, expected):
    model = trainer.model(np.float64)
    for found, wanted in zip((model.anchors, model.weights, model.biases), expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.passes
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])
@pytest.mark.parametrize("local_model", ["affine", "constant"])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_steps_are_those_of_the_dense_algorithm(loss, n_outputs, local_model, as_rows):
    problem = make_problem(n_outputs, local_model)
    trainer = run(problem, loss=loss, as_rows=as_rows)
    assert_same_model(trainer, run_reference(problem, trainer, loss=loss))


@pytest.mark.passes
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("anchor_rate", [50.0])
def test_an_anchor_moves_at_most_a_tenth_of_its_way_to_the_row(loss, anchor_rate):
    problem = make_problem()
    trainer = run(problem, loss=loss, anchor_rate=anchor_rate)
    capped = run_reference(problem, trainer, loss=loss, anchor_rate=anchor_rate)
    assert_same_model(trainer, capped)
    assert np.abs(capped[0] - problem[3].anchors).max() > 0.3  # the cap was at work


@pytest.mark.passes
@pytest.mark.parametrize("loss", LOSSES)
def test_anchors_at_rate_zero_stand_still(loss):
    problem = make_problem(3)
    trainer = run(problem, loss=loss, anchor_rate=0.0)
    np.testing.assert_array_equal(trainer.model(np.float64).anchors, problem[3].anchors)
    assert_same_model(trainer, run_reference(problem, trainer, loss=loss, anchor_rate=0.0))


@pytest.mark.passes
def test_where_anchors_stand_still_the_codes_are_the_gates():
    problem = make_problem()
    gate = InverseDistance(problem[3].anchors, N_NEIGHBORS)
    trainer = run(problem, anchor_rate=0.0, gate=gate)
    codes = inverse(problem[0], problem[3].anchors, N_NEIGHBORS)
    assert_same_model(trainer, run_reference(problem, trainer, anchor_rate=0.0, codes=codes))


@pytest.mark.passes
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_strong_shrinking_does_not_underflow(loss):
    # half is taken off every sixteen rows: the common scale passes 1e-6 and is folded back
    problem = make_problem(n_rows=400)
    trainer = run(problem, loss=loss, ridge=10.0)
    assert 1e-6 < trainer.state.model_scale[0] <= 1.0
    assert_same_model(trainer, run_reference(problem, trainer, loss=loss, ridge=10.0))


@pytest.mark.passes
def test_norms_follow_the_moving_anchors():
    trainer = run(make_problem(), anchor_rate=5.0)
    anchors = trainer.model(np.float64).anchors
    np.testing.assert_allclose(trainer.state.half_norms, 0.5 * (anchors**2).sum(axis=1))


@pytest.mark.passes
@pytest.mark.parametrize("portion", [1, 7, 16, 48])
@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_weights_shrink_by_the_row_whatever_the_size_of_the_portions(loss, portion):
    X, targets, _, model = make_problem(n_rows=96)
    model.biases[:] = 1000.0  # nobody is in doubt, so the loss has no slope and nothing else moves
    model.weights[:] = 0.0
    trainer = RowTrainer.start_from(model, X, 10.0, 0.0)
    for start in range(0, 96, portion):
        rows = slice(start, start + portion)
        trainer.train(
            X[rows], np.ones_like(targets[rows]), np.ones(len(X[rows])), soft_gate(model),
            loss=loss, ridge=0.01, rng=InOrder(),
        )  # fmt: skip
    steps = trainer.first_step / (1.0 + trainer.first_step * 0.01 * np.arange(96))
    # decay comes in steps of sixteen rows, so it may be one such step ahead
    ahead = 16 * 0.01 * trainer.first_step
    expected = np.exp(-0.01 * steps.sum())
    assert trainer.model(np.float64).biases.max() / 1000.0 == pytest.approx(expected, rel=ahead)


@pytest.mark.parametrize("local_model", ["affine", "constant"])
def test_many_dense_rows_are_trained_in_portions(local_model):
    problem = make_problem(local_model=local_model, n_rows=2100)
    dense, sparse = run(problem), run(problem, as_rows=csr_matrix)
    assert dense.n_steps == 2100
    np.testing.assert_allclose(
        dense.model(np.float64).biases, sparse.model(np.float64).biases, atol=1e-9
    )


def test_an_anchor_that_nobody_has_among_its_nearest_stays():
    problem = make_problem()
    problem[3].anchors[2] = 100.0
    model = run(problem).model(np.float64)
    np.testing.assert_allclose(model.anchors[2], 100.0)


def test_the_first_step_is_small_for_long_rows():
    X, _, _, model = make_problem()
    mean_square = (X**2).sum(axis=1).mean()
    assert RowTrainer.start_from(model, X, 1e6, 0.0).first_step == pytest.approx(
        1 / (1 + mean_square)
    )
    assert RowTrainer.start_from(model, csr_matrix(X), 1e6, 0.0).first_step == pytest.approx(
        1 / (1 + mean_square)
    )


def test_the_first_step_is_small_for_small_costs():
    X, _, _, model = make_problem()
    assert RowTrainer.start_from(model, X, 1e-3, 0.0).first_step == pytest.approx(2e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_training_classifies_rows_better_than_its_start(loss):
    X, targets, row_weight, start = make_problem(n_rows=200)
    keeper = BestIterate(None)
    train_by_sgd(
        X, targets, row_weight, start, keeper, n_neighbors=N_NEIGHBORS, loss=loss, C=10.0,
        n_epochs=10, anchor_rate=0.1, rng=np.random.RandomState(0),
    )  # fmt: skip

    def accuracy(model):
        gamma = soft_gate(model)(X)
        scores = np.einsum("im,id,mdc->ic", gamma, X, model.weights) + gamma @ model.biases
        return np.mean(targets * scores > 0)

    assert accuracy(keeper.model) > accuracy(start) + 0.1
    assert [progress.epoch for progress in keeper.history] == list(range(1, 11))


def test_dense_rows_keep_their_zeros_as_sparse_ones():
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    rows = _as_csr(X)
    assert rows.nnz == 4
    np.testing.assert_array_equal(rows.toarray(), X)
