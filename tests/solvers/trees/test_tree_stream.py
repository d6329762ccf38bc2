"""Steps on the portions of a stream."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import hard_paths
from nearlinear.losses import LOSSES
from nearlinear.solvers.trees.adam import TreeStream
from nearlinear.solvers.trees.paths import path_scores
from nearlinear.solvers.trees.phases import Annealing
from nearlinear.solvers.trees.soft import SoftPass
from reference.tree_problem import make_projected, make_rows, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])


def feed(stream, rows, n_times=1, **settings):
    settings = {
        "loss": LOSSES["log_loss"],
        "ridge": 1e-3,
        "direction_ridges": (0.0, 0.0),
        "batch_size": 10,
        "jitter": 0.0,
        "n_jobs": None,
        **settings,
    }
    for seed in range(n_times):
        stream.train(*rows, rng=np.random.default_rng(seed), **settings)
    return stream


def make_stream(kind="tanh", n_outputs=1, learning_rate=0.1, **settings):
    start = make_tree(kind, settings.pop("depth", 2), n_outputs, **settings)
    return TreeStream(start, learning_rate, Annealing(2.0, 20.0, 0.0))


def hard_loss(model, rows):
    Z, targets, weight = rows
    scores = path_scores(model, Z, hard_paths(Z, model.splits, model.depth))
    return np.average(LOSSES["log_loss"].value(scores, targets), weights=weight)


@each_kind
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("depth", [0, 2])
def test_portions_lower_the_loss_of_hard_paths(kind, n_outputs, depth):
    rows, stream = make_rows(n_outputs, 60), make_stream(kind, n_outputs, depth=depth)
    before = hard_loss(stream.model(), rows)
    assert hard_loss(feed(stream, rows, 10).model(), rows) < 0.8 * before


def test_splits_sharpen_to_their_last_value_and_stay_there(monkeypatch):
    seen, gradients = [], SoftPass.gradients

    def note(self, model, Z, targets, row_weight, sharpness, *args, **more):
        seen.append(sharpness * self.mean_distance(model, Z))
        return gradients(self, model, Z, targets, row_weight, sharpness, *args, **more)

    monkeypatch.setattr(SoftPass, "gradients", note)
    feed(make_stream(), make_rows(n_rows=60), 100)  # 600 steps
    assert seen[0] == pytest.approx(2.0)
    assert np.all(np.diff(seen[:500]) > 0)
    np.testing.assert_allclose(seen[500:], 20.0)


def test_the_number_of_steps_is_counted_over_portions():
    Z, targets, weight = make_rows(n_rows=60)
    whole, pieces = make_stream(), make_stream()
    feed(whole, (Z[:10], targets[:10], weight[:10]), 6)
    for seed in range(6):
        pieces.train(
            Z[:10], targets[:10], weight[:10], loss=LOSSES["log_loss"], ridge=1e-3,
            direction_ridges=(0.0, 0.0), batch_size=10, jitter=0.0, rng=np.random.default_rng(seed),
            n_jobs=None,
        )  # fmt: skip
        pieces = pickle.loads(pickle.dumps(pieces))  # as between two sessions
    np.testing.assert_array_equal(pieces.model().weights, whole.model().weights)
    np.testing.assert_array_equal(pieces.model().splits, whole.model().splits)


def test_sparse_portions_teach_what_dense_ones_do():
    Z, *rest = make_rows(3, 60)
    dense = feed(make_stream(n_outputs=3), (Z, *rest), 3).model()
    sparse = feed(make_stream(n_outputs=3), (csr_matrix(Z), *rest), 3).model()
    # forty steps with sums in another order
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-6)


def test_a_model_does_not_change_with_the_next_portion():
    rows, stream = make_rows(n_rows=60), make_stream()
    model = feed(stream, rows).model()
    weights = model.weights.copy()
    feed(stream, rows)
    np.testing.assert_array_equal(model.weights, weights)
    assert np.abs(stream.model().weights - weights).max() > 1e-4


def test_steps_grow_shorter_in_a_long_stream():
    rows, stream = make_rows(n_rows=60), make_stream()
    lengths = []
    for _ in range(2):
        before = stream.model().weights
        feed(stream, rows, 5)
        lengths.append(np.abs(stream.model().weights - before).mean())
        feed(stream, rows, 200)
    assert lengths[1] < 0.5 * lengths[0]


def test_float32_stays_float32():
    rows = make_rows(3, 60, dtype=np.float32)
    model = feed(make_stream(n_outputs=3, dtype=np.float32), rows, jitter=0.1).model()
    assert model.splits.dtype == model.slopes.dtype == model.weights.dtype == np.float32


def test_the_projection_learns_with_the_tree():
    rows, start = make_rows(1, 60, n_features=5), make_projected("tanh")
    stream = feed(TreeStream(start, 0.1, Annealing(2.0, 20.0, 0.0)), rows, 10)
    model = stream.model()
    assert np.abs(model.projection - start.projection).max() > 1e-3
    before, after = (hard_loss(each, (each.rows(rows[0]), *rows[1:])) for each in (start, model))
    assert after < 0.8 * before
