"""LLC-SAPL: its start, its guard, its two engines."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_circles

import nearlinear.estimators.llc_sapl as learned_anchors
import nearlinear.solvers.anchors.adam as local_adam
from nearlinear import LCCSVMClassifier, LLCSAPLClassifier, LLSVMClassifier
from nearlinear.estimators._base.anchor_settings import AnchorSetting
from nearlinear.solvers.watch import Progress
from reference.training_rows import merge_rows

each_solver = pytest.mark.parametrize("solver", ["adam", "sgd"])
each_loss = pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
each_model = pytest.mark.parametrize("local_model", ["affine", "constant"])
# A fifth of the rows is held out and the best model kept, but all epochs are run.
GUARDED = {"early_stopping": True, "n_iter_no_change": 1000, "validation_fraction": 0.2}


def held_out_part(X, y, random_state, n_classes=2):
    """The rows that fit holds out: the first thing it draws."""
    rows = merge_rows(X, y, np.ones(len(y)), n_classes)
    return rows.split(0.2, np.random.RandomState(random_state))[1]


@each_model
@each_loss
@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_steps_of_no_size_leave_the_solution_for_fixed_anchors(local_model, loss, data, request):
    X, y = request.getfixturevalue(data)
    shared = {"anchors": X[:6].copy(), "n_neighbors": 3, "C": 2.0, "loss": loss, "random_state": 0}
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
    shared = {"anchors": X[:6].copy(), "n_neighbors": 3, "C": 2.0, "loss": loss, "random_state": 0}
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


@each_solver
@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_the_model_kept_is_the_best_on_held_out_rows(solver, data, request):
    X, y = request.getfixturevalue(data)
    model = LLCSAPLClassifier(5, 3, solver=solver, max_iter=15, random_state=3, **GUARDED).fit(X, y)
    scores = [progress.score for progress in model.history_]
    held_out = held_out_part(X, y, 3, len(np.unique(y)))
    assert model.score(held_out.X, held_out.labels) == pytest.approx(max(scores))
    assert [progress.step for progress in model.history_] == list(range(16))


def test_training_that_goes_astray_ends_at_its_start(moons, monkeypatch):
    def sabotage(X, targets, sample_weight, start, watch, **_):
        wrong = replace(start, weights=-start.weights, biases=-start.biases)
        for epoch in (1, 2):
            watch(Progress(epoch, 0.0, state=wrong))

    monkeypatch.setattr(learned_anchors, "train_by_adam", sabotage)
    X, y = moons
    model = LLCSAPLClassifier(6, random_state=3, **GUARDED).fit(X, y)
    scores = [progress.score for progress in model.history_]
    assert max(scores[1:]) < scores[0]
    held_out = held_out_part(X, y, 3)
    assert model.score(held_out.X, held_out.labels) == pytest.approx(scores[0])


def test_without_held_out_rows_the_last_model_is_kept(moons):
    model = LLCSAPLClassifier(4, 3, max_iter=5, random_state=0).fit(*moons)
    assert [progress.score for progress in model.history_] == [None] * 6


@each_solver
def test_held_out_rows_are_not_trained_on(moons, solver):
    X, y = moons
    held_out = held_out_part(X, y, 3)
    out = np.array([(x == held_out.X).all(axis=1).any() for x in X])
    assert out.sum() == 40
    settings = {"solver": solver, "max_iter": 5, "random_state": 3, **GUARDED}
    right = LLCSAPLClassifier(5, 3, **settings).fit(X, y).history_
    wrong = LLCSAPLClassifier(5, 3, **settings).fit(X, np.where(out, 1 - y, y)).history_
    # with their labels turned round, training goes the same way and the verdicts turn round
    assert [p.objective for p in right] == [p.objective for p in wrong]
    for one, other in zip(right, wrong):
        assert one.score == pytest.approx(1.0 - other.score)


@each_solver
def test_early_stopping_stops_early(moons, solver):
    settings = {"max_iter": 200, "validation_fraction": 0.2, "solver": solver, "random_state": 0}
    model = LLCSAPLClassifier(4, 3, early_stopping=True, n_iter_no_change=5, **settings)
    model.fit(*moons)
    scores = [progress.score for progress in model.history_]
    assert model.n_iter_ == len(scores) - 1 < 200
    assert np.argmax(scores) == len(scores) - 6  # five epochs after the best


def test_an_interrupt_leaves_the_best_model_so_far(moons, monkeypatch):
    calls, steps_of_an_epoch = [], 10

    def interrupted(*args):
        calls.append(1)
        if len(calls) > 3 * steps_of_an_epoch:
            raise KeyboardInterrupt
        return batch_gradients(*args)

    batch_gradients = local_adam.batch_gradients
    monkeypatch.setattr(local_adam, "batch_gradients", interrupted)
    X, y = moons
    model = LLCSAPLClassifier(4, 3, batch_size=16, max_iter=50, random_state=3, **GUARDED)
    with pytest.raises(KeyboardInterrupt, match="Interrupted: the best model so far is kept"):
        model.fit(X, y)
    scores = [progress.score for progress in model.history_]
    assert model.n_iter_ == 3
    held_out = held_out_part(X, y, 3)
    assert model.score(held_out.X, held_out.labels) == pytest.approx(max(scores))


@each_solver
def test_a_warm_start_goes_on_from_the_previous_model(moons, solver):
    X, y = moons
    model = LLCSAPLClassifier(
        4, 3, solver=solver, warm_start=True, max_iter=20, jitter=0.0, random_state=0
    ).fit(X, y)
    end = model.decision_function(X)
    model.set_params(learning_rate=1e-13, solver="adam", max_iter=1).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), end, atol=1e-8)


def test_a_warm_start_takes_other_features_and_other_classes(moons, blobs):
    model = LLCSAPLClassifier(6, 3, warm_start=True, max_iter=20, random_state=0)
    assert model.fit(*moons).fit(*blobs).score(*blobs) > 0.75


def test_a_cold_start_forgets_the_previous_model(moons, blobs):
    X, y = moons
    twice = LLCSAPLClassifier(4, 3, max_iter=5, random_state=0).fit(X, 1 - y).fit(X, y)
    once = LLCSAPLClassifier(4, 3, max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(twice.decision_function(X), once.decision_function(X))


def test_sharpness_is_learned_if_asked(moons):
    X, y = moons
    start = LLSVMClassifier(anchors=X[:5].copy(), n_neighbors=3).fit(X, y).sharpness_
    settings = {"anchors": X[:5].copy(), "n_neighbors": 3, "max_iter": 20, "random_state": 0}
    fixed = LLCSAPLClassifier(learn_sharpness=False, **settings).fit(X, y).sharpness_
    learned = LLCSAPLClassifier(**settings).fit(X, y).sharpness_
    assert fixed == pytest.approx(start, rel=1e-12)
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
    model = LLCSAPLClassifier(4, solver=solver, max_iter=3, verbose=1, random_state=0, **GUARDED)
    model.fit(*moons)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4  # the start, and three epochs
    assert lines[2].startswith("LLCSAPLClassifier: epoch 2, ")
    assert " s, objective " in lines[2]
    assert "held-out accuracy" in lines[2]


def test_class_balanced_anchors_are_a_start(blobs):
    model = LLCSAPLClassifier(6, anchors="class_balanced", max_iter=5, random_state=0).fit(*blobs)
    assert model.anchors_.shape == (6, 4)
    assert model.score(*blobs) > 0.75


# --- Algorithm 1 as printed --------------------------------------------------------------------


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_the_printed_algorithm_improves_on_its_start(moons, as_rows):
    X, y = moons
    model = LLCSAPLClassifier(4, 2, solver="printed", max_iter=20, random_state=0)
    model.fit(as_rows(X), y)
    assert model.loss_ == "hinge"
    assert model.history_[-1].objective < 0.9 * model.history_[0].objective
    assert model.score(as_rows(X), y) > 0.95


def test_a_later_first_step_of_the_printed_algorithm_stays_nearer_to_the_start(moons):
    X, y = moons
    shared = {"anchors": X[:6].copy(), "n_neighbors": 3, "solver": "printed", "random_state": 0}
    fixed = LLSVMClassifier(
        anchors=X[:6].copy(), n_neighbors=3, tol=1e-2, max_iter=30, random_state=0
    ).fit(X, y)
    apart = [
        np.abs(
            LLCSAPLClassifier(t0=t0, max_iter=1, **shared).fit(X, y).decision_function(X)
            - fixed.decision_function(X)
        ).max()
        for t0 in (1e9, 1e4)
    ]
    assert apart[0] < 1e-3 < apart[1]


def test_shrinking_may_not_take_all(moons):
    with pytest.raises(ValueError, match="t0=20 must be at least twice skip=16"):
        LLCSAPLClassifier(4, solver="printed", t0=20).fit(*moons)


# --- anchors pruned ----------------------------------------------------------------------------

PRUNED = {"n_anchors": "pruned", "n_neighbors": 3, "max_iter": 24, "random_state": 0}


def test_pruning_keeps_few_anchors_where_few_will_do(rng):
    X = rng.standard_normal((400, 2))
    bent = (X[:, 1] > np.abs(X[:, 0]) - 0.7).astype(int)  # two lines
    model = LLCSAPLClassifier(**PRUNED).fit(X, bent)
    counts = [verdict.setting.n_anchors for verdict in model.settings_tried_]
    assert counts[:3] == [32, 16, 8]  # at first one anchor for ten of the rows not held out
    assert len(model.anchors_) == model.setting_.n_anchors < 20
    losses = {v.setting.n_anchors: v.loss for v in model.settings_tried_}
    assert losses[len(model.anchors_)] < 1.5 * min(losses.values())
    assert model.score(X, bent) > 0.93


@pytest.mark.parametrize("solver", ["adam", "sgd", "printed"])
def test_pruning_knows_no_copies_and_no_threads(moons, rng, solver):
    X, y = moons
    weight = rng.integers(1, 3, len(y))
    one = LLCSAPLClassifier(solver=solver, n_jobs=2, **PRUNED).fit(X, y, sample_weight=weight)
    two = LLCSAPLClassifier(solver=solver, **PRUNED)
    two.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("method", [LLSVMClassifier, LCCSVMClassifier])
def test_fixed_anchors_are_pruned_to_their_certificate(moons, method):
    X, y = moons
    model = method(n_anchors="pruned", n_neighbors=3, random_state=0).fit(X, y)
    assert 1 <= len(model.anchors_) <= 20
    again = method(anchors=model.anchors_, n_neighbors=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=0.1)
    assert model.score(X, y) > 0.95


def test_too_few_rows_to_hold_some_out_are_not_pruned(moons):
    X, y = moons[0][:20], moons[1][:20]
    for method in (LLCSAPLClassifier, LLSVMClassifier):
        assert len(method(n_anchors="pruned").fit(X, y).anchors_) == 2


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
