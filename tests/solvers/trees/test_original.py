"""The original schedule, step by step."""

import numpy as np
import pytest

from nearlinear.losses import LOSSES
from nearlinear.solvers.minibatch import Batches
from nearlinear.solvers.trees.model import TreeModel
from nearlinear.solvers.trees.original import start_original, train_original
from nearlinear.solvers.trees.soft import SoftPass
from nearlinear.solvers.watch import Watch
from reference.tree_problem import SIGMA, make_feature, make_rows, make_tree

each_kind = pytest.mark.parametrize("kind", ["tanh", "compositional", "indicator"])


def train(rows, start, *, watch=None, n_epochs=3, rates=(10.0, 10.0, 10.0), **settings):
    watch = watch or Watch()
    train_original(
        *rows, start, watch, loss=LOSSES["hinge"], n_epochs=n_epochs, learning_rates=rates,
        rng=np.random.default_rng(3), **settings,
    )  # fmt: skip
    return watch


def steps_by_the_book(rows, start, n_epochs, rates):
    """θ ← (t − 1)/t θ − r/√t g: exact gradients, of splits and slopes without s and σ.

    The runs here are shorter than the hundred steps after which the sharpness is set anew.
    """
    Z, targets, weight = rows
    batches = Batches(Z, targets, weight / weight.mean(), 5, np.random.default_rng(3))
    splits, slopes, weights = start.splits, start.slopes, start.weights
    step, sharpness = 0, None
    for _ in range(n_epochs):
        for batch, targets_of, share in batches:
            if step == 0:
                sharpness = 0.1 / np.mean(np.abs(batch @ splits[:3].T))
            step += 1
            model = TreeModel(splits, slopes, weights, start.node_gate)
            _, gradient = SoftPass(model, len(batch)).gradients(
                model, batch, targets_of, share, sharpness, LOSSES["hinge"]
            )
            sigma = SIGMA if start.node_gate.name == "tanh" else 1.0
            decay, (of_splits, of_slopes, of_weights) = (step - 1) / step, rates / np.sqrt(step)
            splits = decay * splits - of_splits * gradient.splits / sharpness
            slopes = decay * slopes - of_slopes * gradient.slopes / sigma
            weights = decay * weights - of_weights * gradient.weights
    return splits, slopes, weights


@each_kind
def test_steps_are_those_of_the_published_schedule(kind):
    rows, start = make_rows(n_rows=30), make_tree(kind)  # batches of √30 rows
    rates = np.array([3.0, 7.0, 10.0])  # 1/λ of splits, slopes and weights
    model = train(rows, start, rates=rates).best
    expected = steps_by_the_book(rows, start, 3, rates)
    for found, wanted in zip((model.splits, model.slopes, model.weights), expected):
        np.testing.assert_allclose(found, wanted, atol=1e-10)


def test_sharpness_doubles_ten_times_from_a_tenth_of_its_unit(monkeypatch):
    seen, gradients = [], SoftPass.gradients

    def note(self, model, Z, targets, row_weight, sharpness, *args, **more):
        seen.append(sharpness * self.mean_distance(model, Z))
        return gradients(self, model, Z, targets, row_weight, sharpness, *args, **more)

    monkeypatch.setattr(SoftPass, "gradients", note)
    train(make_rows(n_rows=16), make_tree("tanh"), n_epochs=100)  # 400 steps of four rows
    np.testing.assert_allclose(seen[::100], 0.1 * 2.0 ** (10.0 * np.arange(4) / 4))


@each_kind
def test_all_parameters_start_between_minus_one_and_one(kind):
    Z, rng = make_rows()[0], np.random.default_rng(0)
    model, like = start_original(Z, 4, 3, make_feature(kind), rng), make_tree(kind, 4, 3)
    for name in ("splits", "slopes", "weights"):
        array = getattr(model, name)
        assert array.shape == getattr(like, name).shape
        assert np.all(np.abs(array) < 1.0)
    assert np.abs(model.weights).max() > 0.9
    assert model.weights.mean() == pytest.approx(0.0, abs=0.1)  # 372 numbers of deviation 0.58


def test_every_epoch_is_recorded_with_its_mean_loss():
    watch = train(make_rows(n_rows=9), make_tree("tanh"), compare=lambda *_: {"soft": 0.5})
    assert [line.step for line in watch.history] == [1, 2, 3]
    assert [line.figures for line in watch.history] == [{"soft": 0.5}] * 3
    assert np.all(np.isfinite([line.objective for line in watch.history]))


def test_models_already_offered_do_not_change():
    class Offers(Watch):
        def __call__(self, progress):
            copies.append((progress.state, progress.state.weights.copy()))
            return super().__call__(progress)

    copies = []
    train(make_rows(n_rows=9), make_tree("tanh"), watch=Offers())
    for model, weights in copies:
        np.testing.assert_array_equal(model.weights, weights)


def test_training_does_not_write_to_its_start():
    start = make_tree("tanh")
    train(make_rows(n_rows=9), start)
    np.testing.assert_array_equal(start.weights, make_tree("tanh").weights)


def test_float32_stays_float32():
    rows = make_rows(n_rows=9, dtype=np.float32)
    model = train(rows, make_tree("tanh", dtype=np.float32)).best
    assert model.splits.dtype == model.slopes.dtype == model.weights.dtype == np.float32
