"""Trees on a device against the NumPy solver."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch, of the extra gpu, is not installed")

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.gates.trees.node_gates import CompositionalNode, IndicatorNode, TanhNode
from nearlinear.gpu.trees.adam import TreeTraining, layout_of, matrix_of, models_in
from nearlinear.gpu.trees.step import hard_scores
from nearlinear.losses import LOSSES, SquaredError
from nearlinear.solvers.trees import paths
from nearlinear.solvers.trees.phases import Annealing
from nearlinear.solvers.trees.soft import SoftPass
from nearlinear.solvers.trees.start import start_tree
from nearlinear.solvers.watch import Watch

N_ROWS, DEPTH = 40, 3


def make(n_outputs, gate, n_trees=2):
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.standard_normal((N_ROWS, 5)), np.ones(N_ROWS)])
    labels = rng.integers(max(2, n_outputs), size=N_ROWS)
    targets = np.where(labels[:, None] == np.arange(n_outputs) + (n_outputs == 1), 1.0, -1.0)
    starts = [start_tree(Z, DEPTH, n_outputs, gate, rng) for _ in range(n_trees)]
    return Z, targets, rng.uniform(0.5, 1.5, N_ROWS), starts


@pytest.mark.parametrize("is_hard", [False, True], ids=["soft", "hard"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("gate", [TanhNode(1.3), IndicatorNode()], ids=["tanh", "indicator"])
@pytest.mark.parametrize("loss", [LOSSES["log_loss"], SquaredError()], ids=["log", "squared"])
def test_first_moments_are_the_gradients_of_each_tree(loss, gate, n_outputs, is_hard, place):
    Z, targets, weight, starts = make(n_outputs, gate)
    found = TreeTraining(
        starts, Z, n_rows=N_ROWS, n_batches=1, loss=loss, ridge=0.0, direction_ridges=(0.0, 0.0),
        annealing=Annealing(2.0, 20.0, 1.0 if is_hard else 0.0), n_epochs=2, batch_size=N_ROWS,
        learning_rate=0.1, jitter=0.0, rng=np.random.default_rng(0), device=place[0], form=place[1],
        dtype=torch.float32,
    )  # fmt: skip
    found.take(Z, targets, weight)
    moments = models_in(found.layout, 10.0 * found._state.mean, gate, np.float64)
    for start, moment in zip(starts, moments):
        share = weight / N_ROWS
        if is_hard:
            path = hard_paths(Z, start.splits, DEPTH)
            _, wanted = paths.path_gradients(start, Z, path, targets, share, loss)
        else:
            sharpness = 2.0 / np.abs(Z @ start.splits[: 2**DEPTH - 1].T).mean()
            _, wanted = SoftPass(start, N_ROWS).gradients(start, Z, targets, share, sharpness, loss)
            np.testing.assert_allclose(moment.splits, wanted.splits, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(moment.weights, wanted.weights, rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(moment.slopes, wanted.slopes, rtol=1e-3, atol=1e-5)


def test_hard_scores_are_those_of_the_numpy_solver():
    Z, _, _, starts = make(3, TanhNode())
    layout = layout_of(starts)
    found = hard_scores(layout, matrix_of(layout, starts, "cpu"), torch.tensor(Z).float())
    for number, start in enumerate(starts):
        wanted = paths.hard_scores(start, Z)
        np.testing.assert_allclose(found[:, number], wanted, rtol=1e-4, atol=1e-4)


def test_several_labels_a_row_are_refused_in_a_sentence():
    Z, targets, weight, starts = make(3, TanhNode())
    training = TreeTraining(
        starts, Z, n_rows=N_ROWS, n_batches=1, loss=LOSSES["hinge"], ridge=0.0,
        direction_ridges=(0.0, 0.0), annealing=Annealing(2.0, 20.0, 0.0), n_epochs=2,
        batch_size=N_ROWS, learning_rate=0.1, jitter=0.0, rng=np.random.default_rng(0),
        device="cpu",
    )  # fmt: skip
    training.take(Z, targets, weight)
    for labels in ([1.0, 1.0, -1.0], [-1.0, -1.0, -1.0]):
        several = np.vstack([targets[:-1], labels])
        with pytest.raises(ValueError, match=r"Hinge of several labels a row .* leave device out"):
            training.take(Z.copy(), several, weight)


def test_a_gate_that_is_not_there_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="'tanh' or 'indicator'"):
        layout_of(make(1, CompositionalNode())[3])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("form", ["compiled", "triton"])
def test_the_same_seed_gives_the_same_bits_where_programs_are_many(form):
    """Races between programs do not show on a few rows."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((32_768, 200)).astype(np.float32)
    targets = np.where(Z[:, 0] * Z[:, 1] > 0, 1.0, -1.0)[:, None]
    starts, found = [start_tree(Z[:2000], 6, 1, TanhNode(), rng) for _ in range(8)], []
    for _ in range(2):
        training = TreeTraining(
            starts, Z, n_rows=len(Z), n_batches=8, loss=LOSSES["log_loss"], ridge=1e-6,
            direction_ridges=(1e-6, 1e-6), annealing=Annealing(2.0, 20.0, 0.5), n_epochs=4,
            batch_size=4096, learning_rate=0.1, jitter=0.1, rng=np.random.default_rng(0), form=form,
        )  # fmt: skip
        while not training.is_over:
            training.take(Z, targets, np.ones(len(Z)))
            training.end_epoch(Watch())
        found.append(training._state.values.clone())
    assert torch.equal(*found) and bool(found[0].isfinite().all())
