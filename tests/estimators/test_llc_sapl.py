"""LLC-SAPL: its start and its two engines."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_circles

import nearlinear.estimators.llc_sapl as learned_anchors
import nearlinear.solvers.anchors.adam as local_adam
from nearlinear import LCCSVMClassifier, LLCSAPLClassifier, LLSVMClassifier
from nearlinear.estimators._base.anchor_settings import AnchorSetting
from reference.training_rows import merge_rows

each_solver = pytest.mark.parametrize("solver", ["adam", "sgd"])
each_loss = pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
each_model = pytest.mark.parametrize("local_model", ["affine", "constant"])


@each_model
@each_loss
@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_steps_of_no_size_leave_the_solution_for_fixed_anchors(local_model, loss, data, request):
    X, y = request.getfixturevalue(data)
    shared = {"n_anchors": 6, "n_neighbors": 3, "C": 2.0, "loss": loss, "random_state": 0}
    learned = LLCSAPLClassifier(
        local_model=local_model, learning_rate=1e-13, jitter=0.0, max_iter=2,
        **shared,
    ).fit(X, y)  # fmt: skip
    method = LLSVMClassifier if local_model == "affine" else LCCSVMClassifier
    # the start is solved to its own, looser tolerance
    fixed = method(coding="soft", tol=1e-2, max_iter=30, **shared).fit(X, y)
    np.testing.assert_allclose(learned.decision_function(X), fixed.decision_function(X), atol=1e-8)


@each_loss
def test_rows_by_rows_with_frozen_anchors_stays_near_the_fixed_solution(moons, loss, monkeypatch):
    monkeypatch.setattr(learned_anchors, "usual_anchor_rate", lambda X: 0.0)
    X, y = moons
    shared = {"n_anchors": 6, "n_neighbors": 3, "C": 2.0, "loss": loss, "random_state": 0}
    learned = LLCSAPLClassifier(solver="sgd", max_iter=30, **shared)
    learned.fit(X, y)
    fixed = LLSVMClassifier(tol=1e-5, max_iter=5000, **shared).fit(X, y)
    np.testing.assert_array_equal(learned.anchors_, fixed.anchors_)
    # stochastic steps end near the optimum, not at it; scores have a size of about 2
    difference = np.abs(learned.decision_function(X) - fixed.decision_function(X))
    assert difference.mean() < 0.1


@each_solver
@each_model
def test_learned_anchors_beat_the_same_number_of_fixed_ones(moons, solver, local_model):
    X, y = moons
    settings = {"n_anchors": 3, "n_neighbors": 3, "C": 10.0, "random_state": 0}
    method = LLSVMClassifier if local_model == "affine" else LCCSVMClassifier
    fixed = method(coding="soft", **settings).fit(X, y)
    learned = LLCSAPLClassifier(
        local_model=local_model, solver=solver, max_iter=60, **settings
    ).fit(X, y)
    assert learned.score(X, y) > fixed.score(X, y) + 0.02
    assert np.abs(learned.anchors_ - fixed.anchors_).max() > 0.1


@each_solver
@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_the_objective_falls(solver, data, request):
    X, y = request.getfixturevalue(data)
    model = LLCSAPLClassifier(5, 3, solver=solver, jitter=0.0, max_iter=40, random_state=0).fit(
        X, y
    )
    objectives = [progress.objective for progress in model.history_]
    assert objectives[-1] < 0.9 * objectives[0]


def test_the_history_has_the_start_and_every_epoch(moons):
    model = LLCSAPLClassifier(4, 3, max_iter=5, random_state=0).fit(*moons)
    assert [progress.step for progress in model.history_] == list(range(6))


def test_an_interrupt_leaves_the_model_of_the_last_epoch(moons, monkeypatch):
    calls, steps_of_an_epoch = [], 13

    def interrupted(*args):
        calls.append(1)
        if len(calls) > 3 * steps_of_an_epoch:
            raise KeyboardInterrupt
        return batch_gradients(*args)

    batch_gradients = local_adam.batch_gradients
    monkeypatch.setattr(local_adam, "batch_gradients", interrupted)
    X, y = moons
    model = LLCSAPLClassifier(4, 3, batch_size=16, max_iter=50, random_state=3)
    with pytest.raises(KeyboardInterrupt, match="Interrupted: the last model is kept"):
        model.fit(X, y)
    assert model.n_iter_ == 3
    assert model.score(X, y) > 0.8


def test_a_cold_start_forgets_the_previous_model(moons, blobs):
    X, y = moons
    twice = LLCSAPLClassifier(4, 3, max_iter=5, random_state=0).fit(X, 1 - y).fit(X, y)
    once = LLCSAPLClassifier(4, 3, max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(twice.decision_function(X), once.decision_function(X))


def test_the_sharpness_is_learned(moons):
    X, y = moons
    settings = {"n_anchors": 5, "n_neighbors": 3, "random_state": 0}
    start = LLSVMClassifier(**settings).fit(X, y).sharpness_
    learned = LLCSAPLClassifier(max_iter=20, **settings).fit(X, y).sharpness_
    assert learned != pytest.approx(start, rel=0.01)


def test_dense_rows_are_trained_by_adam_and_sparse_ones_by_steps(moons):
    X, y = moons
    settings = {"n_anchors": 4, "n_neighbors": 3, "max_iter": 3, "random_state": 0}
    for rows, solver in ((X, "adam"), (csr_matrix(X), "sgd")):
        usual = LLCSAPLClassifier(**settings).fit(rows, y)
        named = LLCSAPLClassifier(solver=solver, **settings).fit(rows, y)
        np.testing.assert_array_equal(usual.decision_function(X), named.decision_function(X))


def test_adam_refuses_sparse_rows_and_names_the_other_solver(moons):
    X, y = moons
    with pytest.raises(ValueError, match="solver='adam' needs dense rows; use solver='sgd'"):
        LLCSAPLClassifier(solver="adam").fit(csr_matrix(X), y)


@each_solver
@each_model
@each_loss
def test_each_loss_and_model_learns_three_classes(blobs, solver, local_model, loss):
    model = LLCSAPLClassifier(
        10, 3, solver=solver, local_model=local_model, loss=loss, max_iter=15, random_state=0
    ).fit(*blobs)
    assert model.score(*blobs) > 0.75


def test_constant_models_have_no_weights(blobs):
    model = LLCSAPLClassifier(6, local_model="constant", max_iter=3, random_state=0).fit(*blobs)
    assert model.predictor_.weights.shape == (6, 0, 3)


@each_model
def test_compiled_scores_are_the_plain_ones(blobs, local_model):
    X, y = blobs
    model = LLCSAPLClassifier(6, local_model=local_model, max_iter=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.predictor_.plain(X), atol=1e-9)


def test_batches_of_any_size_are_taken(moons):
    for batch_size in (1, 50, 10_000):
        model = LLCSAPLClassifier(4, batch_size=batch_size, max_iter=10, random_state=0)
        assert model.fit(*moons).score(*moons) > 0.8


@each_solver
def test_verbose_prints_a_line_for_every_epoch(moons, solver, capsys):
    model = LLCSAPLClassifier(4, solver=solver, max_iter=3, verbose=1, random_state=0)
    model.fit(*moons)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4  # the start, and three epochs
    assert lines[2].startswith("LLCSAPLClassifier: epoch 2, ")
    assert " s, objective " in lines[2]


# --- Algorithm 1 as printed --------------------------------------------------------------------


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_the_printed_algorithm_improves_on_its_start(moons, as_rows):
    X, y = moons
    model = LLCSAPLClassifier(4, 2, solver="printed", max_iter=20, random_state=0)
    model.fit(as_rows(X), y)
    assert model.loss_ == "hinge"
    assert model.history_[-1].objective < 0.9 * model.history_[0].objective
    assert model.score(as_rows(X), y) > 0.95


def test_the_unit_of_weights_does_not_matter_to_a_search(moons):
    X, y = moons
    model = LLCSAPLClassifier(random_state=0).fit(X, y, np.full(len(y), 1.0 / len(y)))
    assert model.score(X, y) > 0.97


def test_fewer_errors_beat_a_lower_hinge(rng):
    """Rows of a wrong label have large hinges where scores are large; a line at zero has none."""
    X, y = make_circles(400, noise=0.05, factor=0.5, random_state=0)
    labels = np.where(rng.random(400) < 0.1, 1 - y, y)
    rows = merge_rows(X, labels, np.ones(400), 2)
    model = LLCSAPLClassifier(random_state=0)
    found = LLCSAPLClassifier(16, random_state=0).fit(X, y).predictor_
    loud = replace(found, weights=30.0 * found.weights, biases=30.0 * found.biases)
    setting = AnchorSetting(16, 1.0, 0.1)
    held_out = rows.take(np.arange(0, 400, 4))
    kept, predictor, tried = model._or_linear(setting, loud, rows, rows, held_out, rng)
    assert tried[1].loss > tried[0].loss
    assert kept == setting and predictor is loud
