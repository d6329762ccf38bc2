"""How much capacity the defaults choose, and how they choose it."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

from nearlinear import LDKLClassifier, LDKLRegressor, LLCSAPLClassifier
from nearlinear.estimators._base import capacity
from nearlinear.estimators._base.capacity import are_many, choose_setting
from nearlinear.solvers.minibatch import Parameter
from reference.training_rows import merge_rows

each_classifier = pytest.mark.parametrize("method", [LDKLClassifier, LLCSAPLClassifier])


def rows_of(n_rows, n_features=3, n_classes=2):
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    return merge_rows(X, np.arange(n_rows) % n_classes, np.ones(n_rows), n_classes)


def choose(rows, losses):
    """The setting chosen when each setting's losses are those of a function of held-out rows."""

    def held_out_losses(train, held_out, setting, seed):
        return losses[setting](held_out)

    return choose_setting(rows, list(losses), held_out_losses, np.random.RandomState(0))


def noise(rows):
    return np.sin(1e3 * rows.X[:, 0])


def test_the_lowest_held_out_loss_wins_and_all_are_reported():
    losses = {"simple": lambda rows: 1.2 - noise(rows), "rich": lambda rows: 1.0 + noise(rows)}
    chosen, tried = choose(rows_of(300), losses)
    assert chosen == "rich"
    assert [verdict.setting for verdict in tried] == ["simple", "rich"]
    assert tried[0].loss > tried[1].loss


def test_what_is_far_behind_on_the_first_part_is_tried_no_more():
    calls = []

    def losses(train, held_out, setting, seed):
        calls.append(setting)
        return (setting == "bad") + 0.1 * noise(held_out) * (setting == "good")

    chosen, _ = choose_setting(rows_of(300), ["bad", "good"], losses, np.random.RandomState(0))
    assert (chosen, calls) == ("good", ["bad", "good", "good", "good"])


@pytest.mark.parametrize(("lead", "chosen"), [(0.002, "simple"), (0.2, "rich")])
def test_a_simpler_setting_that_is_as_good_within_noise_is_taken(lead, chosen):
    losses = {"simple": lambda rows: noise(rows), "rich": lambda rows: 0.5 - lead + 0 * noise(rows)}
    losses["simple"] = lambda rows: 0.5 + noise(rows) - noise(rows).mean()
    assert choose(rows_of(300), losses)[0] == chosen


def test_a_setting_that_diverges_is_not_taken():
    losses = {"broken": lambda rows: np.full(len(rows.X), np.nan), "sound": noise}
    assert choose(rows_of(300), losses)[0] == "sound"


@pytest.mark.parametrize(("n_rows", "n_parts"), [(300, 3), (3000, 2), (7000, 1)])
def test_parts_are_disjoint_and_have_every_class_in_its_proportion(n_rows, n_parts):
    seen = []

    def losses(train, held_out, setting, seed):
        both = np.vstack([train.X, held_out.X])
        assert len(np.unique(both, axis=0)) == len(both) == n_rows
        assert np.mean(held_out.labels) == pytest.approx(0.5, abs=0.03)
        seen.append(held_out.X)
        return np.zeros(len(held_out.X))

    choose_setting(rows_of(n_rows), ["one", "other"], losses, np.random.RandomState(0))
    parts = np.vstack(seen[::2])  # both settings see the same ones
    assert len(seen) == 2 * n_parts
    assert len(np.unique(parts, axis=0)) == len(parts)


def test_rows_count_by_their_weight():
    rows = rows_of(300)
    heavy = rows.X[:, 0] > 0
    weighted = type(rows)(rows.X, rows.labels, rows.targets, np.where(heavy, 9.0, 1.0), 300)
    losses = {
        "right of zero": lambda part: np.where(part.X[:, 0] > 0, 0.0, 1.0),
        "left of zero": lambda part: np.where(part.X[:, 0] > 0, 1.0, 0.0),
    }
    assert choose(weighted, losses)[0] == "right of zero"
    assert choose(weighted, dict(reversed(losses.items())))[0] == "right of zero"


def test_with_too_few_rows_to_hold_some_out_the_simplest_is_taken():
    assert choose(rows_of(3, n_classes=3), {"simple": None, "rich": None}) == ("simple", [])


@pytest.mark.parametrize(
    ("shape", "many"),
    [((10_000, 5), False), ((10_001, 5), True), ((4000, 500), False), ((4001, 500), True)],
)
def test_many_rows_or_many_numbers_are_not_searched(shape, many):
    assert are_many(rows_of(*shape)) == many


def test_one_setting_is_taken_as_it_is_and_draws_nothing():
    rng, untouched = np.random.RandomState(0), np.random.RandomState(0)
    assert choose_setting(rows_of(50), ["only"], None, rng) == ("only", [])
    assert rng.randint(10**9) == untouched.randint(10**9)


# --- what the defaults make of data --------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy_line():
    """Twenty features, a linear rule, and every fourth label wrong."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1400, 20))
    y = (X @ rng.standard_normal(20) > 0) ^ (rng.random(1400) < 0.25)
    return X[:400], y[:400], X[400:], y[400:]


@each_classifier
def test_where_a_line_is_all_there_is_the_default_is_as_good_as_one(method, noisy_line):
    X, y, X_test, y_test = noisy_line
    model, line = method(loss="log_loss", random_state=0), LogisticRegression().fit(X, y)
    model.fit(X, y)
    assert model.score(X_test, y_test) > line.score(X_test, y_test) - 0.01
    ours, theirs = (log_loss(y_test, one.predict_proba(X_test)) for one in (model, line))
    assert ours < theirs + 0.02


@each_classifier
def test_where_there_is_more_than_a_line_the_default_finds_it(method):
    X, y = make_moons(600, noise=0.15, random_state=0)
    model = method(random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.96
    losses = {verdict.setting: verdict.loss for verdict in model.settings_tried_}
    assert losses[model.setting_] < 0.6 * model.settings_tried_[0].loss


def test_a_noisy_regression_is_as_good_as_ridge():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 15))
    y = 1e6 * (X @ rng.standard_normal(15) + 4.0 * rng.standard_normal(900))
    model = LDKLRegressor(random_state=0).fit(X[:300], y[:300])
    line = Ridge().fit(X[:300], y[:300]).score(X[300:], y[300:])
    assert model.score(X[300:], y[300:]) > line - 0.02


@each_classifier
def test_the_linear_setting_is_a_linear_model(method, monkeypatch):
    module = __import__(method.__module__, fromlist=["choose_setting"])
    if method is LDKLClassifier:
        module = __import__("nearlinear.estimators._base.trees", fromlist=["choose_setting"])
    monkeypatch.setattr(module, "choose_setting", lambda rows, settings, *_: (settings[0], []))
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = method(random_state=0).fit(X, y)
    scores = model.decision_function(X)
    plane = np.column_stack([X, np.ones(len(X))])
    fitted = plane @ np.linalg.lstsq(plane, scores, rcond=None)[0]
    np.testing.assert_allclose(scores, fitted, atol=1e-8)


@each_classifier
def test_what_the_user_sets_is_the_same_in_all_settings(method):
    X, y = make_moons(120, noise=0.2, random_state=0)
    model = method(C=0.7, jitter=0.05, random_state=0).fit(X, y)
    rich = [v.setting for v in model.settings_tried_ if v.setting.jitter]
    assert rich
    assert all((setting.C, setting.jitter) == (0.7, 0.05) for setting in rich)


@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_the_linear_root_keeps_its_feature_at_one(moons, penalty):
    X, y = moons
    model = LDKLClassifier(
        2, linear_root=True, direction_penalty=penalty, max_iter=10, random_state=0
    ).fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))])
    np.testing.assert_array_equal(np.tanh(Z @ model.predictor_.slopes[0]), 1.0)


def test_strong_shrinkage_leaves_the_linear_root_alone(moons):
    X, y = moons
    model = LDKLClassifier(2, linear_root=True, C=1e-6, random_state=0).fit(X, y)
    line = LogisticRegression().fit(X, y)
    assert model.score(X, y) == pytest.approx(line.score(X, y), abs=0.02)
    correlation = np.corrcoef(model.decision_function(X), line.decision_function(X))[0, 1]
    assert correlation > 0.99


def test_the_ridge_pulls_a_parameter_to_its_center():
    center = np.array([1.0, -2.0])
    parameter = Parameter(np.zeros(2), center)
    for count in range(1, 3000):
        parameter.step(np.zeros(2), 0.01, 1.0, count)
    np.testing.assert_allclose(parameter.value, center, atol=0.02)


@each_classifier
@pytest.mark.parametrize("has_more_than_a_line", [False, True])
def test_many_rows_are_not_searched_but_compared_with_a_line(
    method, has_more_than_a_line, noisy_line, monkeypatch
):
    monkeypatch.setattr(capacity, "_MOST_ROWS", 100)
    X, y = make_moons(400, noise=0.15, random_state=0) if has_more_than_a_line else noisy_line[:2]
    model = method(random_state=0).fit(X, y)
    line, full = model.settings_tried_
    assert (full.loss < line.loss) == has_more_than_a_line
    assert model.setting_ == (full if has_more_than_a_line else line).setting


def test_errors_are_of_the_highest_score_or_of_the_sign():
    scores, targets = np.array([[0.1, 0.3], [2.0, 1.0], [0.0, -1.0]]), np.array([[-1, 1]] * 3)
    np.testing.assert_array_equal(capacity.errors(scores, targets), [0.0, 1.0, 1.0])
    signs = np.array([[1.0], [-1.0], [1.0]])
    np.testing.assert_array_equal(
        capacity.errors(np.array([[0.2], [0.2], [-3.0]]), signs), [0, 1, 1]
    )


@pytest.mark.parametrize(("share_of_full", "chosen"), [(0.0, 1.0), (0.3, 0.1)])
def test_rows_that_are_many_choose_between_more_and_less_shrinkage(
    share_of_full, chosen, monkeypatch
):
    """By errors on a part of a sample; of about equal settings the fullest is taken."""
    sizes = set()

    def errors_of(model, train, held_out, setting, seed):
        sizes.add(len(train.X) + len(held_out.X))
        return (np.arange(len(held_out.X)) < share_of_full * setting.C * len(held_out.X)) * 1.0

    monkeypatch.setattr(capacity, "_MOST_ROWS", 1000)
    monkeypatch.setattr(LLCSAPLClassifier, "_held_out_errors", errors_of)
    X, y = make_moons(2000, noise=0.1, random_state=0)
    setting = LLCSAPLClassifier(max_iter=2, random_state=0).fit(X, y).setting_
    assert (setting.n_anchors, setting.C) == (100, chosen)
    assert sizes == {1000}
