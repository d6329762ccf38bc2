"""Mini-batch Adam on anchors and local models."""

from dataclasses import replace

import numpy as np
import pytest

from nearlinear.losses import LOSSES
from nearlinear.solvers.anchors.adam import batch_gradients, relative_steps, train_by_adam
from nearlinear.solvers.watch import Watch
from reference.local_problem import N_NEIGHBORS, make_problem


def test_steps_follow_the_scale_of_the_features(rng):
    X = 100.0 * rng.standard_normal((50, 3))  # so large that the constant feature hardly counts
    small, large = relative_steps(X, 0.1), relative_steps(10 * X, 0.1)
    assert large.anchors == pytest.approx(10 * small.anchors)
    assert large.weights == pytest.approx(small.weights / 10, rel=1e-3)
    assert large.gate == small.gate


def train(problem, *, n_epochs=15, learning_rate=0.05, watch=None, **settings):
    X, targets, row_weight, start = problem
    watch = watch or Watch()
    settings = {
        "jitter": 0.0,
        "learn_metric": True,
        "batch_size": 10,
        **settings,
    }
    train_by_adam(
        X, targets, row_weight, start, watch, n_neighbors=N_NEIGHBORS,
        loss=LOSSES["log_loss"], C=1.0, n_epochs=n_epochs, learning_rate=learning_rate,
        rng=np.random.default_rng(3), **settings,
    )  # fmt: skip
    return watch


@pytest.mark.parametrize("local_model", ["affine", "constant"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_training_lowers_the_loss(n_outputs, local_model):
    problem = make_problem(n_outputs, local_model)
    model = train(problem, learning_rate=0.3).best
    X, targets, row_weight, start = problem
    before, after = (
        batch_gradients(X, targets, row_weight, each, N_NEIGHBORS, LOSSES["log_loss"])[0]
        for each in (start, model)
    )
    assert after < 0.9 * before


def test_every_epoch_is_recorded():
    watch = train(make_problem(1, "affine"), n_epochs=4)
    assert [progress.step for progress in watch.history] == [1, 2, 3, 4]
    assert np.all(np.isfinite([progress.objective for progress in watch.history]))


def test_training_does_not_write_to_its_start():
    problem = make_problem(1, "affine")
    before = [array.copy() for array in (problem[0], problem[3].anchors, problem[3].weights)]
    train(problem, jitter=0.2)
    for array, copy in zip((problem[0], problem[3].anchors, problem[3].weights), before):
        np.testing.assert_array_equal(array, copy)


def test_jitter_changes_the_model():
    problem = make_problem(1, "affine")
    plain, noisy = train(problem).best, train(problem, jitter=0.5).best
    assert np.abs(plain.weights - noisy.weights).max() > 1e-3


def test_one_seed_gives_one_model():
    first, second = (train(make_problem(3, "affine"), jitter=0.1).best for _ in range(2))
    np.testing.assert_array_equal(first.anchors, second.anchors)
    np.testing.assert_array_equal(first.weights, second.weights)


def test_a_tiny_step_stays_at_the_start():
    problem = make_problem(1, "affine")
    model = train(problem, learning_rate=1e-12).best
    np.testing.assert_allclose(model.weights, problem[3].weights, atol=1e-9)
    np.testing.assert_allclose(model.anchors, problem[3].anchors, atol=1e-9)


def test_training_stops_when_the_watch_has_waited_long_enough():
    watch = Watch(None, lambda model: 0.0, patience=3)
    train(make_problem(1, "affine"), watch=watch, n_epochs=50)
    assert watch.history[-1].step == 4  # the first is the best, three more are not better


def test_float32_stays_float32():
    X, targets, row_weight, model = make_problem(3, "affine")
    model = replace(
        model,
        anchors=model.anchors.astype(np.float32),
        weights=model.weights.astype(np.float32),
        biases=model.biases.astype(np.float32),
    )
    X, targets = X.astype(np.float32), targets.astype(np.float32)
    model = train((X, targets, row_weight, model), jitter=0.1).best
    assert model.anchors.dtype == model.weights.dtype == model.biases.dtype == np.float32


def test_a_metric_that_is_not_learned_stays():
    problem = make_problem(1, "affine")
    start = problem[3]
    model = train(problem, learn_metric=False).best
    np.testing.assert_allclose(model.metric, start.metric)
    assert np.abs(train(problem, learn_metric=True).best.metric - start.metric).max() > 1e-3


def test_a_plain_metric_that_is_not_learned_stays_plain():
    X, targets, row_weight, start = make_problem(1, "affine")
    problem = X, targets, row_weight, replace(start, metric=None)
    assert train(problem, learn_metric=False).best.metric is None
