"""Annealed Adam on trees: soft epochs, hard epochs, what is offered in between."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.losses import LOSSES
from nearlinear.solvers.minibatch import one_cycle
from nearlinear.solvers.trees import phases as tree_phases
from nearlinear.solvers.trees.adam import TreeInTraining, train_tree
from nearlinear.solvers.trees.paths import path_scores
from nearlinear.solvers.trees.phases import Annealing
from nearlinear.solvers.trees.soft import SoftPass, TreeGradients
from nearlinear.solvers.watch import Watch
from reference.tree_problem import make_projected, make_rows, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])
HALF_HARD = Annealing(2.0, 20.0, 0.5)


@pytest.fixture
def data(rng):
    """Sixty rows with an XOR of signs; weights of one."""
    Z = np.column_stack([rng.standard_normal((60, 3)), np.ones(60)])
    return Z, np.where(Z[:, :1] * Z[:, 1:2] > 0, 1.0, -1.0), np.ones(60)


def train(data, start, *, watch=None, **settings):
    watch = watch or Offers()
    settings = {
        "loss": LOSSES["log_loss"],
        "C": 10.0,
        "direction_ridges": (0.0, 0.0),
        "annealing": HALF_HARD,
        "n_epochs": 8,
        "batch_size": 20,
        "learning_rate": 0.2,
        "jitter": 0.0,
        **settings,
    }
    train_tree(*data, start, watch, rng=np.random.default_rng(3), **settings)
    return watch


def gradients_like(model, value=1.0):
    arrays = model.splits, model.slopes, model.weights
    return TreeGradients(*(np.full_like(array, value) for array in arrays))


class Offers(Watch):
    """Remembers every model that is offered."""

    def __init__(self):
        super().__init__()
        self.models = []

    def __call__(self, progress):
        self.models.append(progress.state)
        return super().__call__(progress)


# --- sharpness ---------------------------------------------------------------------------------


@pytest.fixture
def sharpness_seen(monkeypatch):
    """Sharpness of every soft step, in units of one over the mean distance."""
    seen, gradients = [], SoftPass.gradients

    def note(self, model, Z, targets, row_weight, sharpness, *args, **more):
        seen.append(sharpness * self.mean_distance(model, Z))
        return gradients(self, model, Z, targets, row_weight, sharpness, *args, **more)

    monkeypatch.setattr(SoftPass, "gradients", note)
    return seen


def test_soft_steps_take_the_sharpness_from_its_first_value_to_its_last(data, sharpness_seen):
    # steps without size leave the unit as it was
    train(data, make_tree("tanh"), batch_size=60, n_epochs=100, learning_rate=1e-12)
    assert len(sharpness_seen) == 50
    np.testing.assert_allclose(
        sharpness_seen, 2.0 * 10.0 ** (np.arange(50) / 50), rtol=1e-6
    )  # steps of 1e-12, a hundred of them


def test_the_unit_of_the_sharpness_follows_the_splits_every_twenty_steps(data, sharpness_seen):
    train(data, make_tree("tanh"), batch_size=60, n_epochs=100)
    expected = 2.0 * 10.0 ** (np.arange(50) / 50)
    np.testing.assert_allclose(sharpness_seen[::20], expected[::20])
    assert np.abs(sharpness_seen / expected - 1.0).max() > 0.01  # in between it lags behind


# --- phases ------------------------------------------------------------------------------------


@each_kind
def test_soft_epochs_move_the_splits_and_hard_ones_leave_them(data, kind):
    models = train(data, make_tree(kind)).models
    for before, after in pairwise(models[:4]):
        assert np.abs(after.splits - before.splits).max() > 1e-4
    for model in models[4:]:
        np.testing.assert_array_equal(model.splits, models[3].splits)


@each_kind
def test_hard_epochs_follow_the_splits_that_were_offered(data, kind, monkeypatch):
    seen, hard_paths = [], tree_phases.hard_paths

    def note(Z, splits, depth):
        seen.append(splits.copy())
        return hard_paths(Z, splits, depth)

    monkeypatch.setattr(tree_phases, "hard_paths", note)
    models = train(data, make_tree(kind)).models
    assert len(seen) == 4 * 3
    for splits in seen:
        np.testing.assert_array_equal(splits, models[3].splits)


@each_kind
def test_hard_epochs_go_on_with_the_weights(data, kind):
    models = train(data, make_tree(kind)).models
    assert np.abs(models[-1].weights - models[3].weights).max() > 1e-3


@each_kind
def test_a_tree_without_splits_has_hard_epochs_only(data, kind, sharpness_seen):
    watch = train(data, make_tree(kind, 0))
    assert sharpness_seen == []
    assert len(watch.history) == 8


def test_steps_have_the_sizes_of_one_cycle_over_both_phases(data, monkeypatch):
    sizes, step = [], TreeInTraining.step

    def note(self, gradients, factor, *, move_splits):
        sizes.append(factor)
        step(self, gradients, factor, move_splits=move_splits)

    monkeypatch.setattr(TreeInTraining, "step", note)
    train(data, make_tree("tanh"))
    expected = [one_cycle(number, 8 * 3) for number in range(8 * 3)]
    np.testing.assert_allclose(sizes, expected, atol=1e-12)


def test_no_hard_fraction_means_soft_epochs_to_the_end(data, sharpness_seen):
    train(data, make_tree("tanh"), annealing=Annealing(2.0, 20.0, 0.0))
    assert len(sharpness_seen) == 8 * 3


def test_soft_and_hard_scores_are_noted_in_soft_epochs(data):
    watch = train(data, make_tree("tanh"), compare=lambda model, sharpness: {"soft": 0.25})
    assert [line.figures for line in watch.history] == [{"soft": 0.25}] * 4 + [{}] * 4


@each_kind
def test_splits_that_part_nothing_are_put_elsewhere(data, kind):
    start = make_tree(kind)
    start.splits[0] = [0.0, 0.0, 0.0, 3.0]
    still = {"learning_rate": 1e-12, "n_epochs": 20}
    model = train(data, start, **still).best
    share = np.mean(data[0] @ model.splits[0] > 0)
    assert 0.4 < share < 0.6


# --- projection --------------------------------------------------------------------------------


def test_the_projection_moves_in_soft_epochs_only():
    models = train(make_rows(1, 60, n_features=5), make_projected("tanh")).models
    for before, after in pairwise(models[:4]):
        assert np.abs(after.projection - before.projection).max() > 1e-5
    for model in models[4:]:
        np.testing.assert_array_equal(model.projection, models[3].projection)


def test_a_projected_tree_lowers_the_loss_of_hard_paths():
    rows, start = make_rows(3, 60, n_features=5), make_projected("tanh", 3)
    model = train(rows, start, n_epochs=20).best
    before, after = (
        hard_loss(each, (each.rows(rows[0]), *rows[1:]), LOSSES["log_loss"])
        for each in (start, model)
    )
    assert after < 0.8 * before


def test_a_projected_tree_of_float32_stays_float32():
    rows = make_rows(3, 60, n_features=5, dtype=np.float32)
    model = train(rows, make_projected("tanh", 3, dtype=np.float32), jitter=0.1).best
    assert model.projection.dtype == model.weights.dtype == np.float32


# --- what is learned ---------------------------------------------------------------------------


def hard_loss(model, data, loss):
    Z, targets, weight = data
    paths = hard_paths(Z, model.splits, model.depth)
    return np.average(loss.value(path_scores(model, Z, paths), targets), weights=weight)


@each_kind
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_training_lowers_the_loss_of_hard_paths(kind, loss, n_outputs):
    start, rows = make_tree(kind, 2, n_outputs), make_rows(n_outputs, 60)
    model = train(rows, start, n_epochs=20, loss=LOSSES[loss]).best
    assert hard_loss(model, rows, LOSSES[loss]) < 0.8 * hard_loss(start, rows, LOSSES[loss])


def test_an_xor_is_learned(data):
    model = train(data, make_tree("tanh"), n_epochs=60).best
    assert hard_loss(model, data, LOSSES["log_loss"]) < 0.3 * np.log(2)


def test_sparse_rows_teach_what_dense_ones_do(data):
    Z, targets, weight = data
    Z = np.where(np.abs(Z) < 0.2, 0.0, Z)
    dense = train((Z, targets, weight), make_tree("tanh")).best
    sparse = train((csr_matrix(Z), targets, weight), make_tree("tanh")).best
    # two dozen steps with sums in another order
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-6)


def test_the_penalty_is_that_of_the_total_weight(data):
    # λ = 1 / (C Σ w): ten times the weight and a tenth of C are the same problem
    Z, targets, weight = data
    one = train((Z, targets, weight), make_tree("tanh"), C=1.0).best
    other = train((Z, targets, 10.0 * weight), make_tree("tanh"), C=0.1).best
    np.testing.assert_allclose(other.weights, one.weights, atol=1e-9)


def test_the_objective_is_the_mean_loss_and_the_penalty(data):
    start = make_tree("tanh")
    watch = train(data, start, batch_size=60, n_epochs=1, learning_rate=1e-12, C=0.2)
    Z, targets, _ = data
    sharpness = 2.0 / SoftPass(start, 60).mean_distance(start, Z)
    scores = SoftPass(start, 60).scores(start, Z, sharpness)
    expected = LOSSES["log_loss"].value(scores, targets).mean()
    expected += 0.5 * np.sum(start.weights**2) / (0.2 * 60)
    assert watch.history[0].objective == pytest.approx(expected)


@pytest.mark.parametrize("which", ["weights", "splits", "slopes"])
def test_a_penalty_shrinks_what_it_is_for(which):
    start = make_tree("tanh")
    tree = TreeInTraining(start, 0.1, 0.0, (0.0, 0.0))
    tree.set_penalties(float(which == "weights"), (which == "splits", which == "slopes"))
    tree.step(gradients_like(start, 0.0), 1.0, move_splits=True)
    shrunk = [
        name
        for name in ("splits", "slopes", "weights")
        if np.abs(getattr(tree.now(), name)).sum() < np.abs(getattr(start, name)).sum()
    ]
    assert shrunk == [which]


@each_kind
def test_training_does_not_write_to_its_start(data, kind):
    start, fresh = make_tree(kind), make_tree(kind)
    Z = data[0].copy()
    train(data, start, jitter=0.2)
    for name in ("splits", "slopes", "weights"):
        np.testing.assert_array_equal(getattr(start, name), getattr(fresh, name))
    np.testing.assert_array_equal(data[0], Z)


def test_models_already_offered_do_not_change(data):
    models = train(data, make_tree("tanh")).models
    weights = [model.weights for model in models]
    assert all(np.abs(a - b).max() > 1e-6 for a, b in pairwise(weights))


@each_kind
def test_a_tiny_step_stays_at_the_start(data, kind):
    start = make_tree(kind)
    model = train(data, start, learning_rate=1e-12).best
    for name in ("splits", "slopes", "weights"):
        np.testing.assert_allclose(getattr(model, name), getattr(start, name), atol=1e-9)


def test_jitter_changes_the_model(data):
    plain, noisy = (train(data, make_tree("tanh"), jitter=jitter).best for jitter in (0.0, 0.5))
    assert np.abs(plain.weights - noisy.weights).max() > 1e-3


def test_one_seed_gives_one_model(data):
    first, second = (train(data, make_tree("tanh"), jitter=0.1).best for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    np.testing.assert_array_equal(first.splits, second.splits)


def test_the_number_of_threads_does_not_change_a_bit():
    rows = make_rows(3, 700)  # two chunks
    one, two = (
        train(rows, make_tree("tanh", 2, 3), batch_size=700, n_jobs=n_jobs).best
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.weights, two.weights)


def test_float32_stays_float32():
    rows = make_rows(3, 60, dtype=np.float32)
    model = train(rows, make_tree("tanh", 2, 3, dtype=np.float32), jitter=0.1).best
    assert model.splits.dtype == model.slopes.dtype == model.weights.dtype == np.float32


# --- the parameters ----------------------------------------------------------------------------


def test_the_first_step_moves_a_projection_by_about_the_learning_rate():
    start = make_tree("tanh")
    tree = TreeInTraining(start, 0.1, 0.0, (0.0, 0.0))
    tree.step(gradients_like(start), 1.0, move_splits=True)
    moved = np.linalg.norm(tree.now().weights - start.weights, axis=2)
    np.testing.assert_allclose(moved, 0.1, rtol=1e-6)  # Adam's 1e-8 in the denominator


def test_splits_move_only_when_told():
    start = make_tree("tanh")
    tree = TreeInTraining(start, 0.1, 0.0, (0.0, 0.0))
    tree.step(gradients_like(start), 1.0, move_splits=False)
    np.testing.assert_array_equal(tree.now().splits, start.splits)
    assert np.all(tree.now().weights < start.weights)


def test_a_settled_tree_is_its_average():
    start = make_tree("tanh")
    tree = TreeInTraining(start, 0.1, 0.0, (0.0, 0.0))
    for _ in range(5):
        tree.step(gradients_like(start), 1.0, move_splits=True)
    average = tree.averaged()
    assert np.abs(average.weights - tree.now().weights).max() > 1e-3
    tree.settle()
    for name in ("splits", "slopes", "weights"):
        np.testing.assert_array_equal(getattr(tree.now(), name), getattr(average, name))
