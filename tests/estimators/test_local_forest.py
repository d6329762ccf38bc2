"""Local forests: what is grown, what the refit changes, and what it must keep."""

import importlib.util

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression

from nearlinear import LocalForestClassifier, LocalForestRegressor
from nearlinear.estimators._base.forests.taken import steepness_of
from nearlinear.estimators._base.forests.trials import benches
from nearlinear.losses import LogLoss
from nearlinear.solvers.forests.monotone import check_monotone
from reference.training_rows import merge_rows

needs_lightgbm = pytest.mark.skipif(
    importlib.util.find_spec("lightgbm") is None, reason="LightGBM is not installed"
)
GIVEN = {
    "n_trees": 8, "max_leaves": 6, "learning_rate": 0.3, "min_samples_leaf": 5, "pairs": 0,
    "linear_root": False, "leaf_model": "constant", "leaf_penalty": None, "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def table():
    """Rows, values that bend in two columns, and labels with noise."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 4)).astype(np.float32)
    values = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.2 * rng.standard_normal(400)
    labels = (values + 0.5 * rng.standard_normal(400) > 0).astype(int)
    return X, values, labels


@pytest.fixture(scope="module")
def holes():
    """Rows with missing values and a column of categories, and labels."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 4))
    X[:, 3] = rng.choice([0, 1, 2, 5, 40], 400)
    labels = (X[:, 0] + 2.0 * np.isin(X[:, 3], (1, 40)) + np.isnan(X[:, 1]) > 0.8).astype(int)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X.astype(np.float32), labels


def classifier(**settings):
    return LocalForestClassifier(**GIVEN | settings)


def regressor(**settings):
    return LocalForestRegressor(**GIVEN | settings)


def log_losses(scores, labels):
    return np.logaddexp(0.0, -(2 * labels - 1) * scores.astype(np.float64))


# --- trees and their refit ------------------------------------------------------------------------


def test_as_grown_it_is_histogram_boosting_with_categories_and_missing_values(holes):
    X, y = holes
    theirs = HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=6, learning_rate=0.3, min_samples_leaf=5, early_stopping=False,
        categorical_features=[3], max_features=0.6,
        random_state=np.random.RandomState(0).randint(np.iinfo(np.int32).max),
    ).fit(X, y)  # fmt: skip
    ours = classifier(categorical_features=[3], max_features=0.6).fit(X, y)
    new = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.2, np.nan, X)
    new[::7, 3] = 39  # never seen
    assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-6)
    assert len(ours.predictor_.gate.categories) > 0


@pytest.mark.parametrize("root", [False, True])
def test_the_refit_is_of_the_objective_that_is_stated(table, root):
    X, _, y = table
    grown = classifier(linear_root=root).fit(X, y)
    found = classifier(linear_root=root, leaf_penalty=2.0).fit(X, y)
    before, after = grown.predictor_, found.predictor_
    assert_array_equal(before.gate.thresholds, after.gate.thresholds)

    def objective(values):
        leaves = before.gate.plain(X)
        scores = before.before_trees(X)[:, 0] + values[leaves, 0].sum(axis=1)
        moved = values.astype(np.float64) - before.values
        return log_losses(scores, y).sum() + 0.5 * 2.0 * np.sum(moved**2)

    reached = objective(after.values)
    assert reached < objective(before.values) - 1.0
    assert 0 <= found.refit_gap_ < 0.01
    rng = np.random.default_rng(0)  # no way leads further down than the certificate says
    for size in (0.003, 0.03, 0.3):
        other = after.values + size * rng.standard_normal(after.values.shape)
        assert objective(other) > reached * (1.0 - found.refit_gap_) - 1e-6


def test_a_root_beside_the_trees_is_a_linear_model_of_its_own(table):
    X, values, y = table
    A = np.column_stack([X, np.ones(len(X))])
    for make, target in ((classifier, y), (regressor, values)):
        score = "decision_function" if make is classifier else "predict"
        both = getattr(make(linear_root="beside").fit(X, target), score)(X)
        alone = getattr(make().fit(X, target), score)(X)
        coef, residual = np.linalg.lstsq(A, 2 * both - alone, rcond=None)[:2]
        assert residual < 1e-6
        assert np.linalg.norm(coef[:-1]) > 0.1


def test_weight_k_is_k_copies_and_threads_change_no_bit(table, rng):
    X, values, y = table
    weight = rng.integers(0, 4, len(y))
    settings = {"pairs": 3, "linear_root": True, "leaf_model": "linear", "leaf_penalty": 1.0}
    for make, target in ((classifier, y), (regressor, values)):
        weighted = make(**settings, n_jobs=2).fit(X, target, sample_weight=weight)
        copied = make(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(target, weight))
        assert_array_equal(weighted.predict(X), copied.predict(X))
        assert_array_equal(weighted.predictor_.slopes, copied.predictor_.slopes)


@pytest.mark.parametrize("grower", ["hist", pytest.param("lightgbm", marks=needs_lightgbm)])
def test_monotone_columns_stay_so_after_the_refit(table, grower):
    X, values, _ = table
    signs = [1, -1, 0, 0]
    settings = {"monotonic_cst": signs, "grower": grower}
    model = regressor(**settings, leaf_penalty=0.3).fit(X, values)
    assert check_monotone(model.predictor_.gate, model.predictor_.values, np.array(signs))
    grown = regressor(**settings).fit(X, values)
    assert model.score(X, values) > grown.score(X, values)
    # nothing that is chosen gets around it: linear models, linear leaves, pairs
    free = LocalForestRegressor(monotonic_cst=signs, random_state=0).fit(X, -values)
    assert not free.predictor_.root.size and not free.predictor_.slopes.size
    assert check_monotone(free.predictor_.gate, free.predictor_.values, np.array(signs))


@pytest.mark.parametrize("grower", ["hist", pytest.param("lightgbm", marks=needs_lightgbm)])
def test_no_path_mixes_groups_of_columns(table, grower):
    X, values, _ = table
    model = regressor(interaction_cst=[[0, 1], [2, 3]], grower=grower, leaf_penalty=1.0)
    gate = model.set_params(pairs="auto", leaf_model="auto").fit(X, values).predictor_.gate
    assert len(model.pairs_) == 0 and not model.predictor_.slopes.size
    above = [set() for _ in gate.columns]
    for node in np.flatnonzero(gate.columns >= 0):
        here = above[node] | {gate.columns[node]}
        assert here <= {0, 1} or here <= {2, 3}
        above[gate.children[node]] = above[gate.children[node] + 1] = here


def test_pairs_of_ones_own_are_split_on(table):
    X, _, _ = table
    y = (X[:, 0] - 0.5 * X[:, 1] > 0).astype(int)
    plain = classifier(n_trees=1).fit(X, y)
    model = classifier(n_trees=1, pairs=[[0, 1, 1.0, -0.5]]).fit(X, y)
    assert_array_equal(model.pairs_, [[0, 1, 1.0, -0.5]])
    assert model.plan_["pairs"] == 1
    assert model.score(X, y) == 1.0 > plain.score(X, y)
    assert_allclose(model.feature_importances_[[2, 3]], 0.0, atol=1e-3)
    assert len(classifier(n_trees=1, pairs=np.int64(2)).fit(X, y).pairs_) == 2


@pytest.mark.parametrize("grower", ["tree", "extra_trees"])
def test_trees_side_by_side(table, blobs, grower):
    X, values, y = table
    settings = {"grower": grower, "learning_rate": "auto", "max_leaves": 30, "leaf_penalty": 1.0}
    model = classifier(**settings).fit(X, y)
    assert model.predictor_.gate.n_trees == (1 if grower == "tree" else 8)
    assert model.score(X, y) > 0.8
    assert regressor(**settings).fit(X, values).score(X, values) > 0.7
    three = classifier(**settings).fit(*blobs)
    assert three.predictor_.values.shape[1] == 3  # one structure, a value for each class
    assert three.score(*blobs) > 0.8


def test_trees_side_by_side_tell_the_mean_of_their_shares(table):
    X, values, y = table
    for labels in (y, np.digitize(values, [-0.5, 0.7])):
        settings = {"grower": "extra_trees", "n_trees": 20, "max_leaves": "auto"}
        model = classifier(**settings, min_samples_leaf="auto").fit(X[:300], labels[:300])
        of_leaves = 20 * model.predictor_.values.astype(np.float64)
        steepness = of_leaves.max()
        shares = of_leaves / steepness
        if shares.shape[1] == 1:
            shares = np.hstack([1 - shares, 1 + shares]) / 2
        assert_allclose(shares.sum(axis=1), 1.0, atol=1e-5)
        assert shares.min() > -1e-5


def test_the_steepness_of_shares_is_the_best_one(rng):
    shares = rng.dirichlet([1.0, 1.0, 1.0], 200)
    labels, weight = shares.argmax(axis=1), rng.integers(1, 4, 200).astype(float)
    labels[::4] = 0

    def objective(s):
        odds = s * shares
        told = odds[np.arange(200), labels] - np.logaddexp.reduce(odds, axis=1)
        return s * weight.mean() - weight @ told

    best = minimize_scalar(objective, bounds=(0.0, 100.0), method="bounded").x
    assert_allclose(steepness_of(shares, labels, weight), best, rtol=2e-3)
    sure = steepness_of(np.eye(3)[labels], labels, weight)
    assert 3.0 < sure < 30.0  # no row is wrong: it stays finite


def test_a_fitted_forest_is_a_grower(table):
    X, values, y = table
    y = np.array(["no", "yes"])[y]
    theirs = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=8).fit(X, y)
    kept = classifier(grower=theirs).fit(X, y)
    assert_allclose(kept.decision_function(X), theirs.decision_function(X), atol=1e-6)
    moved = classifier(grower=theirs, leaf_penalty=1.0).fit(X, y)
    assert moved.score(X, y) >= theirs.score(X, y)
    shares = RandomForestClassifier(5, max_leaf_nodes=16, random_state=0).fit(X, y)
    model = classifier(grower=shares, leaf_penalty="auto").fit(X, y)
    assert model.score(X, y) > 0.8
    proba = model.predict_proba(X)[np.arange(len(y)), (y == "yes").astype(int)]
    assert -np.log(proba).mean() < 0.5
    with pytest.raises(ValueError, match="fitted to classes"):
        classifier(grower=theirs).fit(X, y == "yes")
    with pytest.raises(ValueError, match="fitted to labels"):
        regressor(grower=theirs).fit(X, values)


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "poisson"])
def test_each_loss_falls(table, loss):
    X, values, _ = table
    y = np.exp(values).round() if loss == "poisson" else values
    errors = {
        "absolute_error": lambda told: np.abs(y - told).mean(),
        "quantile": lambda told: np.maximum(0.8 * (y - told), -0.2 * (y - told)).mean(),
        "poisson": lambda told: np.mean(told - y * np.log(told)),
    }
    settings = {"loss": loss, "quantile": 0.8}
    grown = errors[loss](regressor(**settings).fit(X, y).predict(X))
    model = regressor(**settings, leaf_penalty=1.0).fit(X, y)
    assert errors[loss](model.predict(X)) < grown
    assert grown < errors[loss](np.full(len(y), np.quantile(y, 0.8 if loss == "quantile" else 0.5)))
    assert (model.predict(X) > 0).all() or loss != "poisson"


# --- what is chosen -------------------------------------------------------------------------------


def test_a_line_is_learned_by_a_linear_model(table):
    X, _, _ = table
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * np.random.default_rng(0).standard_normal(len(X))
    model = LocalForestRegressor(random_state=0).fit(X, y)
    assert model.plan_["n_trees"] == 0 and model.plan_["linear_root"]
    assert_allclose(model.predictor_.root[0], [1.0, -2.0, 0.5, 0.0], atol=0.1)
    assert len(model.settings_tried_) > 5
    told = {str(verdict.setting): verdict.loss for verdict in model.settings_tried_}
    assert min(told.values()) > 0.03  # half the variance of the noise is 0.045


def test_copies_of_a_row_are_dealt_to_different_parts():
    X, labels = np.arange(60.0)[:, None], np.arange(60) % 2
    weight = np.where(labels == 1, 5.0, 1.0)  # a weight of a class makes no copies
    weight[:4] *= 3
    rows = merge_rows(X, labels, weight, 2)
    parts = benches(rows, None, LogLoss(), np.random.RandomState(0))
    total = np.zeros(60)
    for part in parts:
        np.add.at(total, part.held.X[:, 0].astype(int), part.held.weight)
        copied = np.isin(part.held.X[:, 0], part.train.X[:, 0])
        assert_array_equal(np.sort(part.held.X[copied, 0]), np.intersect1d(part.held.X, X[:4]))
        assert part.train.weight.sum() + part.held.weight.sum() == weight.sum()
    assert_array_equal(total, weight)


def test_a_plan_can_be_given_as_settings(table):
    X, values, _ = table
    chosen = LocalForestRegressor(n_trees=5, max_leaves=8, random_state=0).fit(X, values)
    again = LocalForestRegressor(**chosen.plan_, random_state=0).fit(X, values)
    assert again.plan_ == chosen.plan_ and again.settings_tried_ == []


@pytest.mark.parametrize("leaf_model", ["auto", "constant", "linear"])
def test_a_penalty_that_is_given_stays_whatever_else_is_chosen(table, leaf_model):
    X, values, _ = table
    model = regressor(leaf_penalty=3.0, leaf_model=leaf_model, pairs="auto").fit(X, values)
    assert model.plan_["leaf_penalty"] == 3.0 and model.refit_gap_ > 0
    assert (model.predictor_.slopes.shape[2] > 0) == (model.plan_["leaf_model"] == "linear")


def test_sparse_rows_are_scored_as_dense_ones(table):
    X, _, y = table
    X = np.where(X > 0.3, X, 0.0)
    settings = {"pairs": 2, "linear_root": True, "leaf_model": "linear", "leaf_penalty": 1.0}
    model = classifier(**settings).fit(X, y)
    scores = model.decision_function(X)
    assert_allclose(model.decision_function(csr_matrix(X)), scores, rtol=1e-5, atol=1e-5)
    assert_allclose(model.explain(csr_matrix(X[:5])).scores[:, 0], scores[:5], rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        classifier().fit(csr_matrix(X), y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"grower": "forest"}, "grower='forest' is unknown: give 'auto', 'hist'"),
        ({"grower": ["hist"]}, "grower=.'hist'. is unknown: give 'auto', 'hist'"),
        ({"pairs": [[0, 9, 1.0, 1.0]]}, "pairs names a column beyond the 4 of X"),
        ({"pairs": [[0, 0.5, 1.0, 1.0]]}, "pairs must have i, j, a and b"),
        ({"pairs": {}}, "pairs must have i, j, a and b"),
        ({"pairs": [[0, 1, 1.0]]}, "pairs must have i, j, a and b"),
        ({"categorical_features": [0]}, "Column 0 is named in categorical_features and has values"),
        ({"categorical_features": ["a"]}, "names the column 'a', which X has not"),
        ({"categorical_features": {"a": 1}}, "names the column .'a': 1., which X has not"),
        ({"categorical_features": [True]}, "has the shape .1,., but X has 4 columns"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst must have −1, 0 or 1 for each of 4 columns"),
        ({"monotonic_cst": [1, 0, 0, 0], "leaf_model": "linear"}, "give leaf_model='constant'"),
        ({"monotonic_cst": [1, 0, 0, 0], "linear_root": True}, "give linear_root=False"),
        ({"interaction_cst": [1, 2]}, "give a list of groups"),
        ({"interaction_cst": [[0], [99]]}, "each a list of columns from 0 to"),
        ({"interaction_cst": [[0], [1]], "pairs": [[0, 1, 1.0, 1.0]]}, "give pairs=0"),
        ({"grower": "tree", "linear_root": True}, "has no linear root"),
        ({"grower": "extra_trees", "monotonic_cst": [1, 0, 0, 0]}, "knows neither categories"),
        ({"grower": RandomForestClassifier()}, "not fitted yet|fit it first"),
        ({"grower": LogisticRegression()}, "is no forest that is read"),
    ],
)
def test_settings_that_cannot_be_had_are_refused_in_a_sentence(table, settings, words):
    X, _, y = table
    with pytest.raises(ValueError, match=words) as caught:
        classifier(**settings).fit(X, y)
    assert "\n" not in str(caught.value)


def test_counts_below_zero_and_roots_of_other_losses_are_refused(table):
    X, values, _ = table
    with pytest.raises(ValueError, match="needs counts"):
        regressor(loss="poisson").fit(X, values)
    with pytest.raises(ValueError, match="linear_root=True needs loss='squared_error'"):
        regressor(loss="absolute_error", linear_root=True).fit(X, values)


# --- a fitted forest learns on --------------------------------------------------------------------


def test_partial_fit_moves_leaves_toward_new_rows(table):
    X, values, y = table
    for make, target, more in ((classifier, y, {"classes": [0, 1]}), (regressor, values, {})):
        model = make().partial_fit(X[:200], target[:200], **more)
        fitted = make().fit(X[:200], target[:200])
        assert_array_equal(model.predict(X), fitted.predict(X))
        before, answers = model.predictor_, model.predict(X)
        turned = 1 - target if make is classifier else -target
        told = model.score(X[200:], turned[200:])
        model.partial_fit(X[200:], turned[200:])
        assert model.score(X[200:], turned[200:]) > told + 0.05
        assert_array_equal(model.predictor_.gate.thresholds, before.gate.thresholds)
        assert_array_equal(make().fit(X[:200], target[:200]).predict(X), answers)
        assert_allclose(before(X)[:, 0], fitted.predictor_(X)[:, 0])  # not written over


def test_the_first_rows_of_a_stream_must_have_every_class(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match="has no row of the class 7: give it rows of every class"):
        classifier().partial_fit(X, y, classes=[0, 1, 2, 7])
    model = classifier().partial_fit(X, y, classes=[0, 1, 2])
    assert model.partial_fit(X[y < 2], y[y < 2]).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("leaf_model", ["constant", "linear"])
def test_refit_improves_leaves_on_rows_of_another_kind(table, leaf_model):
    X, values, _ = table
    settings = {"linear_root": True, "leaf_model": leaf_model, "leaf_penalty": 3.0}
    model = regressor(**settings).fit(X[:100], values[:100])
    before, kept = model.predictor_, model.predictor_(X)
    other = values + np.where(X[:, 0] > 0, 1.0, -1.0)
    told = model.score(X[300:], other[300:])
    same = clone(model).fit(X[:100], values[:100]).refit(X[100:], other[100:], leaf_penalty=None)
    assert_array_equal(same.predictor_(X), kept)
    model.refit(X[100:300], other[100:300])
    assert model.score(X[300:], other[300:]) > told + 0.1
    assert model.plan_["leaf_penalty"] in (100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
    assert_array_equal(before(X), kept)
    assert_array_equal(model.predictor_.slopes, before.slopes)
    weight = np.arange(100) % 3
    one, two = (clone(model).fit(X[:100], values[:100]) for _ in range(2))
    one.refit(X[100:200], other[100:200], sample_weight=weight)
    two.refit(np.repeat(X[100:200], weight, axis=0), np.repeat(other[100:200], weight))
    assert_array_equal(one.predict(X), two.predict(X))


def test_refit_keeps_what_is_monotone(table):
    X, values, _ = table
    signs = np.array([1, 0, 0, 0])
    model = regressor(monotonic_cst=signs).fit(X, values).refit(X, -values, leaf_penalty=1.0)
    assert check_monotone(model.predictor_.gate, model.predictor_.values, signs)


def test_refit_refuses_in_a_sentence(table):
    X, _, y = table
    model = classifier().fit(X, y)
    with pytest.raises(ValueError, match="leaf_penalty=0 must be a number above 0, None or 'auto'"):
        model.refit(X, y, leaf_penalty=0)
    with pytest.raises(ValueError, match="label 5"):
        model.refit(X, np.where(y == 1, 5, 0))
    with pytest.raises(ValueError, match="3 features, but LocalForestClassifier is expecting 4"):
        model.refit(X[:, :3], y)
