"""Compiled steps of Algorithm 1, run by their trainer, against a dense version of them."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear import losses
from nearlinear.gates.anchors import InverseDistance, SoftAssignment
from nearlinear.solvers.anchors.sgd import PrintedSteps, RowTrainer
from nearlinear.solvers.solution import LocalModels
from reference.codes import inverse
from reference.descent import train_rows

N_ANCHORS, N_NEIGHBORS, N_FEATURES = 5, 3, 4
pytestmark = pytest.mark.passes
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
        as_rows(X), targets, row_weight, gate or soft_gate(model),
        loss=losses.LOSSES[loss], ridge=ridge,
        rng=InOrder(),
    )  # fmt: skip
    return trainer


def run_reference(problem, trainer, *, loss="hinge", anchor_rate=0.5, ridge=0.05, codes=None):
    X, targets, row_weight, model = problem
    first = trainer.rule.first_step
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


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])
@pytest.mark.parametrize("local_model", ["affine", "constant"])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_steps_are_those_of_the_dense_algorithm(loss, n_outputs, local_model, as_rows):
    problem = make_problem(n_outputs, local_model)
    trainer = run(problem, loss=loss, as_rows=as_rows)
    assert_same_model(trainer, run_reference(problem, trainer, loss=loss))


@pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])
@pytest.mark.parametrize("local_model", ["affine", "constant"])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_printed_steps_are_those_of_the_paper(n_outputs, local_model, as_rows):
    problem = make_problem(n_outputs, local_model)
    X, targets, row_weight, model = problem
    t0, ridge = 32.0, 0.05
    trainer = RowTrainer.start_from(model, as_rows(X), 10.0, 1.0, PrintedSteps(t0))
    trainer.train(
        as_rows(X), targets, row_weight, soft_gate(model), loss=losses.LOSSES["hinge"], ridge=ridge,
        rng=InOrder(),
    )  # fmt: skip
    expected = train_rows(
        X, targets, row_weight, (model.anchors, model.sharpness, model.weights, model.biases),
        loss="hinge", n_neighbors=N_NEIGHBORS, steps=1.0 / (ridge * (np.arange(len(X)) + t0)),
        ridge=ridge, anchor_rate=1.0, skip=16,
    )  # fmt: skip
    assert_same_model(trainer, expected)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("anchor_rate", [50.0])
def test_an_anchor_moves_at_most_a_tenth_of_its_way_to_the_row(loss, anchor_rate):
    problem = make_problem()
    trainer = run(problem, loss=loss, anchor_rate=anchor_rate)
    capped = run_reference(problem, trainer, loss=loss, anchor_rate=anchor_rate)
    assert_same_model(trainer, capped)
    assert np.abs(capped[0] - problem[3].anchors).max() > 0.3  # the cap was at work


@pytest.mark.parametrize("loss", LOSSES)
def test_anchors_at_rate_zero_stand_still(loss):
    problem = make_problem(3)
    trainer = run(problem, loss=loss, anchor_rate=0.0)
    np.testing.assert_array_equal(trainer.model(np.float64).anchors, problem[3].anchors)
    assert_same_model(trainer, run_reference(problem, trainer, loss=loss, anchor_rate=0.0))


def test_where_anchors_stand_still_the_codes_are_the_gates():
    problem = make_problem()
    gate = InverseDistance(problem[3].anchors, N_NEIGHBORS)
    trainer = run(problem, anchor_rate=0.0, gate=gate)
    codes = inverse(problem[0], problem[3].anchors, N_NEIGHBORS)
    assert_same_model(trainer, run_reference(problem, trainer, anchor_rate=0.0, codes=codes))


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_strong_shrinking_does_not_underflow(loss):
    # half is taken off every sixteen rows: the common scale passes 1e-6 and is folded back
    problem = make_problem(n_rows=400)
    trainer = run(problem, loss=loss, ridge=10.0)
    assert 1e-6 < trainer.state.model_scale[0] <= 1.0
    assert_same_model(trainer, run_reference(problem, trainer, loss=loss, ridge=10.0))


def test_norms_follow_the_moving_anchors():
    trainer = run(make_problem(), anchor_rate=5.0)
    anchors = trainer.model(np.float64).anchors
    np.testing.assert_allclose(trainer.state.half_norms, 0.5 * (anchors**2).sum(axis=1))
