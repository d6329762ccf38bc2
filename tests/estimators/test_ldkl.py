"""LDKL: what its trees learn, and what its options do."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_moons
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from nearlinear import LDKLClassifier, LDKLRegressor
from nearlinear.losses import LOSSES
from nearlinear.predictors.tree_path import TreePath
from nearlinear.solvers.trees.soft import SoftPass

each_solver = pytest.mark.parametrize("solver", ["adam", "sgd"])
each_kind = pytest.mark.parametrize("node_gate", ["tanh", "compositional", "indicator"])
each_loss = pytest.mark.parametrize("loss", LOSSES)
each_data = pytest.mark.parametrize("data", ["moons", "blobs"])
STEPS = 13  # of an epoch of 200 rows, 16 at a time
QUICK = {"depth": 2, "max_iter": 15, "random_state": 0}


@pytest.fixture(scope="module")
def more_moons():
    """Rows that were not trained on."""
    X, y = make_moons(300, noise=0.15, random_state=1)
    return StandardScaler().fit_transform(X), y


# --- what is learned ---------------------------------------------------------------------------


@each_kind
@each_loss
def test_each_feature_and_loss_learns_moons(moons, more_moons, node_gate, loss):
    model = LDKLClassifier(3, node_gate=node_gate, loss=loss, max_iter=60, random_state=0).fit(
        *moons
    )
    line = LinearSVC().fit(*moons).score(*more_moons)
    assert model.score(*more_moons) > line + 0.05


@each_kind
@each_loss
def test_each_feature_and_loss_learns_three_classes(blobs, node_gate, loss):
    model = LDKLClassifier(2, node_gate=node_gate, loss=loss, max_iter=30, random_state=0)
    assert model.fit(*blobs).score(*blobs) > 0.9


@each_kind
def test_the_original_schedule_learns_moons(moons, more_moons, node_gate):
    model = LDKLClassifier(
        3, node_gate=node_gate, loss="hinge", solver="sgd", max_iter=150, random_state=0
    ).fit(*moons)
    assert model.score(*more_moons) > LinearSVC().fit(*moons).score(*more_moons) + 0.03


def test_the_original_schedule_learns_three_classes(blobs):
    model = LDKLClassifier(2, loss="hinge", solver="sgd", max_iter=100, random_state=0)
    assert model.fit(*blobs).score(*blobs) > 0.9


@pytest.mark.parametrize(("splits", "is_even"), [("top_down", True), ("random", False)])
def test_splits_start_at_the_middle_of_their_rows_or_anywhere(moons, splits, is_even):
    X, y = moons
    model = LDKLClassifier(3, splits=splits, learning_rate=1e-9, max_iter=1, random_state=0)
    at_node = np.bincount(model.fit(X, y).predictor_.paths(X).ravel(), minlength=15)
    differences = [abs(at_node[2 * k + 1] - at_node[2 * k + 2]) for k in range(7)]
    assert (max(differences) <= 1) == is_even


def test_random_splits_are_a_start(moons, more_moons):
    model = LDKLClassifier(3, splits="random", max_iter=60, random_state=0).fit(*moons)
    assert model.score(*more_moons) > 0.9


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@each_data
def test_a_single_indicator_node_is_a_linear_svm(loss, data, request):
    X, y = request.getfixturevalue(data)  # standardized, so that the tree sees the same numbers
    C = 0.1
    model = LDKLClassifier(
        0, node_gate="indicator", loss=loss, C=C, jitter=0.0, max_iter=300, random_state=0
    ).fit(X, y)
    svm = LinearSVC(loss=loss, C=C, tol=1e-6, max_iter=100_000).fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))])
    if data == "moons":
        targets = np.where(y == 1, 1.0, -1.0)[:, None]
    else:
        targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)

    def objective(W):
        return 0.5 * np.sum(W**2) + C * LOSSES[loss].value(Z @ W.T, targets).sum()

    best = objective(np.column_stack([svm.coef_, svm.intercept_]))
    # steps of finite size end near the optimum
    assert objective(model.predictor_.weights[0]) == pytest.approx(best, rel=1e-2)


@pytest.mark.parametrize(
    ("offset", "unit"), [(0.0, 1e-7), (1e3, 1e-3), (1.6e9, 1e4)], ids=["tiny", "far", "seconds"]
)
def test_neither_origin_nor_unit_of_the_rows_matter(moons, more_moons, offset, unit):
    X, y = moons
    model = LDKLClassifier(3, random_state=0).fit(unit * X + offset, y)
    assert model.score(unit * more_moons[0] + offset, more_moons[1]) > 0.93


def mean_size(X, y, **settings):
    """Of the scores after training."""
    model = LDKLClassifier(random_state=0, **settings).fit(X, y)
    return np.abs(model.decision_function(X)).mean()


def test_the_noise_on_training_rows_makes_smoother_models(moons):
    sizes = [mean_size(*moons, depth=3, jitter=jitter) for jitter in (0.0, 0.6)]
    assert sizes[1] < 0.7 * sizes[0]


def test_a_small_c_makes_small_scores(moons):
    sizes = [mean_size(*moons, depth=2, C=C, max_iter=30) for C in (1e-3, 10.0)]
    assert sizes[0] < 0.2 * sizes[1]


def test_sigma_is_the_steepness_of_the_feature(moons):
    model = LDKLClassifier(sigma=0.3, **QUICK).fit(*moons)
    assert model.predictor_.node_gate.sigma == 0.3


def test_a_direction_penalty_makes_short_slopes(moons):
    lengths = [
        np.linalg.norm(
            LDKLClassifier(direction_penalty=penalty, **QUICK).fit(*moons).predictor_.slopes
        )
        for penalty in (0.0, 1.0)
    ]
    assert lengths[1] < 0.5 * lengths[0]


# --- the record and the choice of the tree -----------------------------------------------------


@each_data
def test_the_objective_falls(data, request):
    model = LDKLClassifier(2, max_iter=30, jitter=0.0, random_state=0)
    objectives = [line.objective for line in model.fit(*request.getfixturevalue(data)).history_]
    assert objectives[-1] < 0.5 * objectives[0]


def test_soft_and_hard_scores_are_recorded_while_splits_are_soft(moons):
    model = LDKLClassifier(2, max_iter=10, hard_fraction=0.4, random_state=0).fit(*moons)
    noted = [set(line.figures) for line in model.history_]
    assert noted == [{"soft splits", "hard splits"}] * 6 + [set()] * 4


def interrupt_after(monkeypatch, n_calls):
    calls, gradients = [], SoftPass.gradients

    def interrupted(self, *args, **settings):
        calls.append(1)
        if len(calls) > n_calls:
            raise KeyboardInterrupt
        return gradients(self, *args, **settings)

    monkeypatch.setattr(SoftPass, "gradients", interrupted)


def test_an_interrupt_leaves_the_tree_of_the_last_epoch(moons, monkeypatch):
    interrupt_after(monkeypatch, 3 * STEPS + 1)
    model = LDKLClassifier(2, batch_size=16, random_state=3)
    with pytest.raises(KeyboardInterrupt, match="Interrupted: the model trained so far is kept"):
        model.fit(*moons)
    assert model.n_iter_ == 3
    assert model.score(*moons) > 0.8


def test_an_interrupt_before_the_first_epoch_ends_is_passed_on(moons, monkeypatch):
    interrupt_after(monkeypatch, 1)
    with pytest.raises(KeyboardInterrupt):
        LDKLClassifier(2, batch_size=16).fit(*moons)


# --- size --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "n_nodes"), [(0, 1), (1, 3), (3, 15)])
def test_the_tree_is_as_deep_as_asked(moons, depth, n_nodes):
    model = LDKLClassifier(depth, max_iter=2, random_state=0).fit(*moons)
    assert len(model.predictor_.weights) == n_nodes


def test_more_leaves_than_rows_give_a_warning_and_a_tree():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    with pytest.warns(UserWarning, match=r"depth=4 gives .* leaves for 12 distinct rows") as caught:
        model = LDKLClassifier(4, max_iter=5).fit(X, y)
    assert caught[0].filename == __file__
    assert model.predictor_.depth == 4


@pytest.mark.filterwarnings("ignore:depth=")
@pytest.mark.parametrize("size", [{"depth": 30}, {"depth": 2, "n_trees": 10**9}])
def test_trees_beyond_the_machine_are_refused_by_their_size(moons, size):
    with pytest.raises(MemoryError, match="lower depth, n_trees"):
        LDKLClassifier(**size).fit(*moons)


def test_batches_of_any_size_are_taken(moons):
    for batch_size in (1, 50, 10_000):
        model = LDKLClassifier(2, batch_size=batch_size, max_iter=20, random_state=0)
        assert model.fit(*moons).score(*moons) > 0.8


@each_kind
def test_compiled_scores_are_the_plain_ones(blobs, node_gate):
    X, y = blobs
    model = LDKLClassifier(node_gate=node_gate, **QUICK).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), model.predictor_.plain(X), atol=1e-10)


def test_each_leaf_of_the_indicator_has_one_linear_model(blobs):
    model = LDKLClassifier(node_gate="indicator", **QUICK).fit(*blobs)
    assert model.predictor_.weights.shape == (4, 3, 5)
    assert model.cost_.multiply_adds == 4 * (2 + 3)


@each_solver
def test_verbose_prints_a_line_for_every_epoch(moons, solver, capsys):
    LDKLClassifier(2, solver=solver, max_iter=3, verbose=1).fit(*moons)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("LDKLClassifier: epoch 1, ")
    assert "objective" in lines[0]
    assert "soft splits" in lines[0]


# --- projection --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide():
    """Moons in two of 120 directions, small noise in the others."""
    X, y = make_moons(200, noise=0.1, random_state=0)
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((120, 120)))[0]
    noise = 0.05 * rng.standard_normal((200, 118))
    return np.hstack([StandardScaler().fit_transform(X), noise]) @ basis, y


def test_wide_rows_are_projected_by_default(wide):
    assert LDKLClassifier(**QUICK).fit(*wide).predictor_.map.matrix.shape == (32, 121)


def test_sparse_rows_are_projected_if_asked(wide):
    X, y = csr_matrix(wide[0]), wide[1]
    model = LDKLClassifier(n_components=3, **QUICK).fit(X, y)
    assert model.predictor_.map.matrix.shape == (3, 121)


@each_kind
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_a_few_components_are_enough_for_moons_in_many_features(wide, node_gate, form):
    X, y = wide
    model = LDKLClassifier(3, n_components=2, node_gate=node_gate, max_iter=60, random_state=0)
    assert model.fit(form(X[:150]), y[:150]).score(form(X[150:]), y[150:]) > 0.93


def test_a_projected_tree_costs_less_than_one_on_all_features(wide):
    costs = [
        LDKLClassifier(3, n_components=n, max_iter=1).fit(*wide).cost_.multiply_adds
        for n in (4, None)
    ]
    assert costs == [4 * 120 + 11 * 4, 11 * 120]


def test_the_projection_is_learned(wide):
    X, y = wide
    still, moved = (
        LDKLClassifier(2, n_components=2, learning_rate=rate, max_iter=20, random_state=0)
        .fit(X, y)
        .predictor_.map.matrix
        for rate in (1e-12, 0.1)
    )
    assert np.abs(moved - still).max() > 0.01


@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_projected_rows_score_as_the_plain_ones(wide, form):
    X, y = wide
    model = LDKLClassifier(n_components=3, **QUICK).fit(form(X), y)
    np.testing.assert_allclose(model.predictor_(form(X)), model.predictor_.plain(X), atol=1e-10)


@pytest.mark.parametrize(
    "settings", [{"depth": 0}, {"depth": 1, "max_iter": 3, "hard_fraction": 0.9}], ids=str
)
def test_training_without_soft_epochs_has_a_projection_too(wide, settings):
    settings = {"n_components": 3, "node_gate": "indicator", "random_state": 0, **settings}
    model = LDKLClassifier(**settings).fit(*wide)
    assert model.score(*wide) > 0.8


def test_more_components_than_features_are_all_of_them(moons):
    model = LDKLClassifier(n_components=50, **QUICK).fit(*moons)
    assert model.predictor_.map.matrix.shape == (2, 3)


def test_fewer_rows_than_components_are_enough(wide):
    X, y = wide[0][:12], wide[1][:12]
    assert LDKLClassifier(1, max_iter=30, random_state=0).fit(X, y).score(X, y) > 0.9


def test_a_projected_tree_learns_from_a_stream(wide):
    X, y = wide
    model = LDKLClassifier(2, n_components=2, random_state=0)
    for _ in range(10):
        for start in range(0, 200, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    assert model.score(X, y) > 0.92


def test_the_original_schedule_has_no_projection(wide):
    with pytest.raises(ValueError, match="n_components needs solver='adam'"):
        LDKLClassifier(solver="sgd", n_components=3).fit(*wide)
    assert isinstance(LDKLClassifier(solver="sgd", **QUICK).fit(*wide).predictor_, TreePath)


# --- forests -----------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])
def test_the_scores_of_several_trees_are_averaged(blobs, node_gate, form):
    X, y = form(blobs[0]), blobs[1]
    model = LDKLClassifier(node_gate=node_gate, n_trees=3, **QUICK).fit(X, y)
    scores = [tree(X) for tree in model.predictor_.members]
    assert np.abs(scores[0] - scores[1]).max() > 0.1
    np.testing.assert_allclose(model.decision_function(X), np.mean(scores, axis=0), atol=1e-12)


def test_the_first_tree_of_several_is_the_only_one_of_one(moons):
    X, y = moons
    one, three = (LDKLClassifier(n_trees=n, **QUICK).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one.predictor_(X), three.predictor_.members[0](X))
    assert [a.objective for a in one.history_] == [b.objective for b in three.history_]


def test_several_trees_cost_as_much_as_all_of_them(moons):
    one, three = (LDKLClassifier(n_trees=n, **QUICK).fit(*moons).cost_ for n in (1, 3))
    assert three.multiply_adds == 3 * one.multiply_adds
    assert three.n_bytes == 3 * one.n_bytes


def test_several_trees_have_probabilities(blobs):
    X, y = blobs
    probabilities = LDKLClassifier(n_trees=2, **QUICK).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_several_trees_survive_pickling_and_threads(moons, n_jobs):
    X, y = moons
    model = LDKLClassifier(n_trees=2, n_jobs=n_jobs, **QUICK).fit(X, y)
    usual = LDKLClassifier(n_trees=2, **QUICK).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), usual.decision_function(X))


def test_an_interrupt_leaves_the_trees_that_are_done(moons, monkeypatch):
    settings = {"batch_size": 16, "hard_fraction": 0.0, "max_iter": 3, "random_state": 0}
    alone = LDKLClassifier(2, **settings).fit(*moons)
    interrupt_after(monkeypatch, 3 * STEPS + 2)
    model = LDKLClassifier(2, n_trees=3, **settings)
    with pytest.raises(KeyboardInterrupt, match="Interrupted"):
        model.fit(*moons)
    np.testing.assert_array_equal(
        model.decision_function(moons[0]), alone.decision_function(moons[0])
    )


def test_several_trees_do_not_learn_from_a_stream(moons):
    with pytest.raises(ValueError, match="partial_fit trains one tree; n_trees must be 1"):
        LDKLClassifier(2, n_trees=2).partial_fit(*moons, classes=[0, 1])


def test_a_stream_does_not_go_on_from_several_trees(moons):
    model = LDKLClassifier(n_trees=2, **QUICK).fit(*moons).set_params(n_trees=1)
    with pytest.raises(ValueError, match="one tree"):
        model.partial_fit(*moons)


# --- streams -----------------------------------------------------------------------------------


@each_kind
def test_each_feature_learns_from_a_stream(moons, node_gate):
    X, y = moons
    model = LDKLClassifier(3, node_gate=node_gate, random_state=0)
    for _ in range(30):
        for start in range(0, 200, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50], classes=[0, 1])
    assert model.score(X, y) > 0.93


def test_the_original_schedule_has_no_stream(moons):
    with pytest.raises(ValueError, match="partial_fit needs solver='adam'"):
        LDKLClassifier(solver="sgd").partial_fit(*moons, classes=[0, 1])


def test_a_small_c_makes_small_scores_in_a_stream(moons):
    X, y = moons
    sizes = []
    for C in (1e-3, 10.0):
        model = LDKLClassifier(2, C=C, random_state=0)
        for _ in range(10):
            model.partial_fit(X, y, classes=[0, 1])
        sizes.append(np.abs(model.decision_function(X)).mean())
    assert sizes[0] < 0.5 * sizes[1]


def test_a_row_from_far_away_does_not_upset_a_fitted_tree(moons):
    X, y = moons
    model = LDKLClassifier(**QUICK).fit(X, y)
    before = model.predict(X)
    model.partial_fit(1e4 * X[:1], y[:1])
    assert np.mean(model.predict(X) == before) > 0.9


def test_a_first_portion_with_few_rows_gives_a_warning_and_a_tree(moons):
    X, y = moons
    with pytest.warns(UserWarning, match="depth=3 gives"):
        model = LDKLClassifier(3, random_state=0).partial_fit(X[:4], y[:4], classes=[0, 1])
    for _ in range(30):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.85


# --- regression --------------------------------------------------------------------------------


def explained_by_a_line(X, y):
    return LinearRegression().fit(X, y).score(X, y)


@each_kind
@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_each_feature_and_loss_learns_a_wave(wave, node_gate, loss):
    model = LDKLRegressor(3, node_gate=node_gate, loss=loss, random_state=0).fit(*wave)
    left, by_a_line = 1.0 - model.score(*wave), 1.0 - explained_by_a_line(*wave)
    assert left < 0.3 * by_a_line


def test_the_original_schedule_learns_a_wave(wave):
    model = LDKLRegressor(3, solver="sgd", max_iter=200, random_state=0).fit(*wave)
    assert model.score(*wave) > explained_by_a_line(*wave) + 0.1


def test_one_feature_is_enough(rng):
    x = np.linspace(-3.0, 3.0, 200)[:, None]
    y = np.sin(2.0 * x[:, 0])
    model = LDKLRegressor(3, C=10.0, max_iter=200, random_state=0)
    assert model.fit(x, y).score(x, y) > 0.95


@pytest.mark.parametrize("value", [0.0, 0.1, -7.0, 1e6 / 3.0])
def test_a_constant_is_learned_under_the_epsilon_insensitive_error(wave, value):
    X = wave[0]
    weight = np.linspace(0.1, 3.0, 200)
    model = LDKLRegressor(2, loss="epsilon_insensitive", max_iter=100, random_state=0)
    model.fit(X, np.full(200, value), sample_weight=weight)
    # the weights shrink toward zero and do not get there
    np.testing.assert_allclose(model.predict(X), value, atol=0.1, rtol=1e-6)


@each_solver
@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_predictions_follow_the_unit_and_the_origin_of_the_values(wave, solver, loss):
    X, y = wave
    settings = {"depth": 2, "max_iter": 30, "loss": loss, "solver": solver, "random_state": 0}
    plain = LDKLRegressor(**settings).fit(X, y)
    other = LDKLRegressor(**settings).fit(X, 1000.0 * y - 5000.0)
    # rounding grows in the course of a few hundred steps
    np.testing.assert_allclose(other.predict(X), 1000.0 * plain.predict(X) - 5000.0, atol=1e-3)


def test_values_far_from_zero_keep_their_digits(wave):
    X, y = wave
    model = LDKLRegressor(2, max_iter=60, random_state=0)
    near, far = model.fit(X, y).score(X, y), model.fit(X, y + 1e8).score(X, y + 1e8)
    assert far == pytest.approx(near, abs=1e-3)  # y is known to 1e-8 there


@pytest.mark.parametrize(("offset", "unit"), [(1e3, 1e-3), (1.6e9, 1e4)])
def test_rows_far_from_the_origin_are_learned(wave, offset, unit):
    X, y = wave
    model = LDKLRegressor(3, random_state=0).fit(unit * X + offset, y)
    assert model.score(unit * X + offset, y) > 0.9


def test_residuals_below_epsilon_cost_nothing(wave):
    X, y = wave
    # all values lie within the tube around their mean: nothing but the penalty is left
    model = LDKLRegressor(
        2, loss="epsilon_insensitive", epsilon=3.0, C=1e-3, jitter=0.0, random_state=0
    ).fit(X, y)
    assert np.ptp(model.predict(X)) < 0.1 * np.ptp(y)


@pytest.mark.parametrize("loss", ["squared_error", "epsilon_insensitive"])
def test_a_wave_is_learned_portion_by_portion(wave, loss):
    X, y = wave
    model = LDKLRegressor(3, loss=loss, random_state=0)
    for _ in range(30):
        for start in range(0, 200, 50):
            model.partial_fit(X[start : start + 50], y[start : start + 50])
    assert 1.0 - model.score(X, y) < 0.5 * (1.0 - explained_by_a_line(X, y))


def test_one_row_does_not_upset_a_fitted_regression(wave):
    X, y = wave
    model = LDKLRegressor(2, max_iter=40, random_state=0).fit(X, y)
    before = model.predict(X)
    model.partial_fit([[0.0, 0.0]], [10.0])
    assert np.abs(model.predict(X) - before).mean() < 0.5  # values have a deviation of 0.9


def test_a_pickled_stream_goes_on_to_the_same_end(wave):
    X, y = wave
    model = LDKLRegressor(2, random_state=0).partial_fit(X[:100], y[:100])
    copy = pickle.loads(pickle.dumps(model))
    ends = [each.partial_fit(X[100:], y[100:]).predict(X) for each in (model, copy)]
    np.testing.assert_array_equal(*ends)
