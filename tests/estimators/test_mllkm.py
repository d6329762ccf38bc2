"""MLLKM: the optimum over all candidates, its certificate, and what is left of it."""

import tracemalloc
from itertools import cycle, product

import numpy as np
import pandas as pd
import pytest
from grids import in_one_test
from scipy.sparse import csr_matrix
from scipy.spatial.distance import pdist
from sklearn.datasets import make_circles
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

from nearlinear import (
    MLLKMClassifier,
    MLLKMRegressor,
    SequentialMKLClassifier,
    SequentialMKLRegressor,
    config_context,
)
from nearlinear.estimators._base import conformal
from nearlinear.kernels import candidates as conformal_bank
from nearlinear.predictors import conformal_linear
from nearlinear.solvers.conformal import local_kernels
from reference import mllkm as reference

PROFILES = ["exponential", "gaussian", "linear", "square"]
EACH_PROFILE = pytest.mark.parametrize("profile", PROFILES)
EACH_REACH = pytest.mark.parametrize("per_feature", [False, True], ids=["whole", "per feature"])
EACH_BIAS = pytest.mark.parametrize("bias", ["none", "penalized", "free"])
EACH_TASK = pytest.mark.parametrize("data", ["moons", "blobs", "wave"])


def maps_in_turn(data, profiles=PROFILES):
    """Every profile and reach, each with one of the data sets."""
    maps = product(profiles, [False, True])
    cases = [(name, *one) for name, one in zip(cycle(data), maps, strict=False)]
    names = [f"{name}-{profile}-{'per feature' if p else 'whole'}" for name, profile, p in cases]
    return pytest.mark.parametrize(("data", "profile", "per_feature"), cases, ids=names)


EACH_MAP = maps_in_turn(["moons", "blobs", "wave"])
EACH_MAP_OF_TWO = maps_in_turn(["moons", "wave", "wave", "moons"])


@pytest.fixture(scope="module")
def circles():
    """A ring around a disc: no line is better than chance, a sum of two squares is."""
    return make_circles(120, noise=0.1, factor=0.4, random_state=0)


@pytest.fixture
def rows(data, request):
    """Rows and targets of the data set named ``data``."""
    return request.getfixturevalue(data)


def classify(**settings):
    return MLLKMClassifier(**{"n_anchors": 30, "C": 1.0, "random_state": 0} | settings)


def regress(**settings):
    return MLLKMRegressor(**{"n_anchors": 30, "C": 1.0, "random_state": 0} | settings)


def make(y, **settings):
    """A classifier or a regressor, as the targets ask."""
    return (classify if y.dtype.kind == "i" else regress)(**settings)


def score(model, X):
    return getattr(model, "decision_function", model.predict)(X)


# --- what is learned ---------------------------------------------------------------------------


@EACH_PROFILE
@EACH_REACH
def test_a_ring_is_told_from_a_disc(circles, profile, per_feature):
    X, y = circles
    assert LinearSVC().fit(X, y).score(X, y) < 0.7
    assert classify(profile=profile, per_feature=per_feature).fit(X, y).score(X, y) > 0.97


@EACH_PROFILE
@EACH_REACH
def test_a_wave_is_learned_by_every_map(wave, profile, per_feature):
    line = LinearRegression().fit(*wave).score(*wave)
    model = regress(profile=profile, per_feature=per_feature).fit(*wave)
    assert model.score(*wave) > line + 0.3


@EACH_MAP
def test_scores_are_those_of_the_dual_expansion(rows, profile, per_feature):
    X, y = rows
    model = make(y, profile=profile, per_feature=per_feature, max_support=1000).fit(X, y)
    expected = reference.dual_scores(model, X)
    if y.dtype.kind == "f":
        expected = y.std() * expected + y.mean()
    np.testing.assert_allclose(score(model, X), expected, atol=1e-10)


@EACH_BIAS
def test_the_dual_expansion_has_its_bias(moons, bias):
    X, y = moons
    model = classify(bias=bias, max_support=1000).fit(X, y)
    np.testing.assert_allclose(score(model, X), reference.dual_scores(model, X), atol=1e-10)
    coef = model._state.stream.dual_coef
    expected = {"none": 0.0, "penalized": coef.sum()}.get(bias, model.predictor_.biases[0])
    assert model.predictor_.biases[0] == pytest.approx(expected)
    if bias == "free":
        assert coef.sum() == pytest.approx(0.0, abs=1e-9)


def test_support_rows_are_counted_and_prediction_needs_none(moons):
    X, y = moons
    model = classify(max_support=1000).fit(X, y)
    assert 0 < model.n_support_ < 200
    assert model.n_support_ == np.count_nonzero(model._state.stream.dual_coef)
    assert model.cost_.multiply_adds == 5 * model.n_kernels_  # two products and a profile


# --- the optimum -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "bias"),
    [(profile, "free") for profile in PROFILES] + [("gaussian", "penalized"), ("square", "none")],
)
def test_the_objective_is_that_of_sequential_mkl_on_these_kernels(moons, bias, profile):
    X, y = moons
    settings = {"C": 1.0, "bias": bias, "tol": 1e-4}
    kernels = reference.candidates(X, X[:12], profile)
    known = SequentialMKLClassifier(kernels, normalization=None, **settings).fit(X, y)
    model = classify(profile=profile, anchors=X[:12], **settings).fit(X, y)
    assert model.objective_ == pytest.approx(known.objective_, rel=1e-4)
    np.testing.assert_allclose(score(model, X), score(known, X), atol=0.1)  # as free as the gap is


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0])
@EACH_REACH
def test_kernels_are_divided_by_a_power_of_their_length(moons, power, per_feature):
    X, y = moons
    kernels = reference.candidates(X, X[:20], per_feature=per_feature, power=power)
    settings = {"C": 1.0, "bias": "penalized", "tol": 1e-4}
    known = SequentialMKLClassifier(kernels, normalization=None, **settings).fit(X, y)
    model = classify(
        length_exponent=power, per_feature=per_feature, anchors=X[:20], **settings
    ).fit(X, y)  # fmt: skip
    assert model.objective_ == pytest.approx(known.objective_, rel=1e-4)


@EACH_BIAS
@EACH_REACH
def test_the_regression_objective_is_that_of_sequential_mkl(wave, bias, per_feature):
    X, y = wave
    kernels = reference.candidates(X, X[:15], per_feature=per_feature)
    settings = {"C": 1.0, "bias": bias, "epsilon": 0.2, "tol": 1e-4}
    known = SequentialMKLRegressor(kernels, normalization=None, **settings)
    known.fit(X, (y - y.mean()) / y.std())
    model = regress(per_feature=per_feature, anchors=X[:15], **settings).fit(X, y)
    assert model.objective_ == pytest.approx(known.objective_, rel=1e-4)


@EACH_BIAS
def test_the_objective_is_that_of_the_model(moons, bias):
    X, y = moons
    model = classify(length_exponent=0.0, bias=bias).fit(X, y)
    typical = np.median(pdist(X, "sqeuclidean"))
    assert model.objective_ == pytest.approx(reference.primal(model, X, y, typical), rel=1e-6)


@EACH_TASK
def test_the_gap_bounds_the_distance_to_the_optimum(rows):
    X, y = rows
    tight = make(y, tol=1e-5).fit(X, y)
    assert tight.duality_gap_ <= 1e-5 * tight.objective_
    for settings in ({"tol": 0.3}, {"tol": 0.03}, {"max_iter": 1}, {"max_iter": 2}):
        loose = make(y, **settings).fit(X, y)
        assert loose.objective_ >= tight.objective_ * (1 - 1e-5), settings
        assert loose.objective_ - loose.duality_gap_ <= tight.objective_, settings


@pytest.mark.parametrize("data", ["moons", "wave"])
@EACH_PROFILE
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_the_gap_asked_for_is_reached(rows, profile, tol):
    X, y = rows
    model = make(y, profile=profile, anchors=X[::10], tol=tol).fit(X, y)
    assert 0.0 <= model.duality_gap_ <= tol * model.objective_
    assert model.n_iter_ < 20


@pytest.mark.parametrize(("seed", "profile"), [(0, "square"), (24, "linear")])
def test_rows_that_no_kernel_feels_do_no_harm(seed, profile):
    """A kernel is zero at its anchor, and a bounded one at most other rows of a line."""
    X = np.random.default_rng(seed).standard_normal((40, 1))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    model = classify(profile=profile, n_anchors=None).fit(X, y)
    assert 0.0 <= model.duality_gap_ <= 1e-2 * model.objective_
    assert model.n_iter_ < 20


@EACH_TASK
def test_weights_are_shares(rows):
    X, y = rows
    model = make(y).fit(X, y)
    n_outputs = len(model.predictor_.biases)
    shape = (n_outputs, model.n_kernels_) if n_outputs > 1 else (model.n_kernels_,)
    assert model.kernel_weights_.shape == shape
    assert model.kernel_weights_.min() >= 0.0
    np.testing.assert_allclose(model.kernel_weights_.sum(axis=-1), 1.0)
    assert np.all(np.atleast_2d(model.kernel_weights_).max(axis=0) > 0.0)  # no idle kernel


@EACH_TASK
@EACH_REACH
def test_features_on_the_fly_reach_the_objective_of_the_matrix(rows, per_feature, monkeypatch):
    X, y = rows
    by_matrix = make(y, per_feature=per_feature, tol=1e-3).fit(X, y)
    monkeypatch.setattr(conformal, "_GRAM_ROWS", 20)
    by_features = make(y, per_feature=per_feature, tol=1e-3).fit(X, y)
    assert by_features.objective_ == pytest.approx(by_matrix.objective_, rel=1e-3)
    assert by_features.duality_gap_ <= 1e-3 * by_features.objective_


@EACH_BIAS
def test_more_rows_than_a_matrix_is_built_for(bias, rng, monkeypatch):
    assert conformal._GRAM_ROWS < 1100
    X = rng.uniform(-2.0, 2.0, (1100, 2))
    y = (np.sin(2.0 * X[:, 0]) + 0.3 * rng.standard_normal(1100) > X[:, 1]).astype(int)
    by_features = classify(n_anchors=6, C=0.1, bias=bias).fit(X, y)
    monkeypatch.setattr(conformal, "_GRAM_ROWS", 1100)
    by_matrix = classify(n_anchors=6, C=0.1, bias=bias).fit(X, y)
    assert by_features.objective_ == pytest.approx(by_matrix.objective_, rel=1e-2)
    assert np.mean(by_features.predict(X) == by_matrix.predict(X)) > 0.98


def test_a_fit_that_was_stopped_early_says_so(moons):
    with pytest.warns(ConvergenceWarning) as caught:
        model = classify(C=100.0, max_iter=1, tol=1e-6).fit(*moons)
    relative = model.duality_gap_ / model.objective_
    text = str(caught[0].message)
    assert text.startswith(f"MLLKMClassifier stopped at a relative duality gap of {relative:.1e}")
    assert "raise max_iter" in text
    assert caught[0].filename == __file__


# --- several classes ---------------------------------------------------------------------------


def test_three_classes_are_three_machines_on_the_same_candidates(blobs):
    X, y = blobs
    model = classify().fit(X, y)
    machines = [classify().fit(X, (y == c).astype(int)) for c in range(3)]
    for c, machine in enumerate(machines):
        np.testing.assert_allclose(score(model, X)[:, c], score(machine, X), atol=1e-9)
    assert model.objective_ == pytest.approx(sum(m.objective_ for m in machines))
    assert model.duality_gap_ == pytest.approx(sum(m.duality_gap_ for m in machines))
    assert model.n_iter_ == max(m.n_iter_ for m in machines)
    assert model.n_priced_ == machines[0].n_priced_ == 30 * 6


def test_kernels_that_classes_share_are_stored_once(blobs):
    model = classify().fit(*blobs)
    users = (model.kernel_weights_ > 0).sum(axis=0)
    assert users.max() > 1
    assert users.sum() == len(model.predictor_.weights)
    kernels = np.column_stack([model.gammas_, model.anchors_])
    assert len(np.unique(kernels, axis=0)) == model.n_kernels_


# --- candidates --------------------------------------------------------------------------------


def is_row(anchors, X):
    return (anchors[:, None] == X).all(axis=2).any(axis=1)


def test_all_rows_are_anchors_if_there_are_few(moons):
    model = classify(n_anchors=None).fit(*moons)
    assert model.n_priced_ == 200 * 6
    assert is_row(model.anchors_, moons[0]).all()
    same = classify(n_anchors=200, random_state=1).fit(*moons)
    np.testing.assert_array_equal(score(same, moons[0]), score(model, moons[0]))


def test_of_more_rows_a_random_sample_is_taken(moons):
    X, y = moons
    one, other = (classify(random_state=seed).fit(X, y) for seed in (0, 1))
    assert one.n_priced_ == other.n_priced_ == 30 * 6
    assert is_row(one.anchors_, X).all()
    assert np.abs(score(one, X) - score(other, X)).max() > 1e-3


def test_more_candidates_can_only_help(moons):
    few, many = (classify(n_anchors=n, tol=1e-4).fit(*moons) for n in (30, None))
    assert many.objective_ <= few.objective_ * (1 + 1e-4)


def test_anchors_may_be_centers_of_clusters(moons):
    X, y = moons
    model = classify(anchors="kmeans", n_anchors=12).fit(X, y)
    assert model.n_priced_ == 12 * 6
    assert not is_row(model.anchors_, X).any()
    assert model.score(X, y) > 0.9


def test_more_clusters_than_distinct_rows_give_a_warning_and_a_model():
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), 10, axis=0)
    y = np.repeat([0, 1, 1], 10)
    with pytest.warns(UserWarning, match="n_anchors=30 is more than the 3 distinct training rows"):
        model = classify(anchors="kmeans", C=100.0).fit(X, y)
    assert model.score(X, y) == 1.0


def test_anchors_may_be_given(moons, rng):
    X, y = moons
    anchors = rng.standard_normal((9, 2))
    model = classify(anchors=anchors).fit(X, y)
    assert model.n_priced_ == 9 * 6
    assert is_row(model.anchors_, anchors).all()
    listed = classify(anchors=anchors.tolist()).fit(X, y)
    np.testing.assert_array_equal(score(listed, X), score(model, X))


def test_equal_anchors_are_one(moons, rng):
    X, y = moons
    anchors = rng.standard_normal((9, 2))
    once, often = (classify(anchors=a).fit(X, y) for a in (anchors, np.repeat(anchors, 3, axis=0)))
    assert often.n_priced_ == 9 * 6
    np.testing.assert_array_equal(score(once, X), score(often, X))


def test_equal_rows_are_one_anchor_even_with_other_labels(moons):
    X, y = moons
    X, y = np.vstack([X, X[:50], X[:20]]), np.r_[y, y[:50], 1 - y[:20]]
    model = classify(n_anchors=None).fit(X, y)
    assert model.n_priced_ == 200 * 6
    assert model.score(X, y) > 0.85


def test_bandwidths_are_relative_to_the_rows(moons):
    X, y = moons
    model = classify(bandwidths=[2.0, 0.5, 2.0]).fit(X, y)
    unit = reference.bandwidth_unit(X, "gaussian", per_feature=False)
    assert model.n_priced_ == 30 * 2
    np.testing.assert_allclose(np.unique(model.gammas_), np.array([0.5, 2.0]) * unit)


def test_candidates_that_arrive_in_chunks_reach_the_same_objective(moons):
    points = moons[0]  # more than the 100 of a chunk
    known = classify(tol=1e-4, anchors=points).fit(*moons)
    model = classify(tol=1e-4, anchors=iter(points), max_iter=300).fit(*moons)
    assert model.objective_ == pytest.approx(known.objective_, rel=1e-4)
    assert model.duality_gap_ <= 1e-4 * model.objective_
    assert model.n_priced_ == known.n_priced_


@EACH_TASK
def test_few_kernels_are_kept_at_the_price_of_the_gap(rows):
    X, y = rows
    whole = make(y, tol=1e-4).fit(X, y)
    for max_kernels in (1, 3):
        few = make(y, tol=1e-4, max_kernels=max_kernels).fit(X, y)
        used = np.count_nonzero(np.atleast_2d(few.kernel_weights_), axis=1)
        assert used.max() <= max_kernels < np.count_nonzero(np.atleast_2d(whole.kernel_weights_)[0])
        np.testing.assert_allclose(few.kernel_weights_.sum(axis=-1), 1.0)
        assert few.objective_ > whole.objective_
        assert few.objective_ - few.duality_gap_ <= whole.objective_
        assert few.duality_gap_ <= few.objective_ - whole.objective_ + 1e-4 * few.objective_


# --- refinement --------------------------------------------------------------------------------


def test_refined_models_stay_on_their_kernels(moons):
    X, y = moons
    plain, refined = (
        classify(refinement=how, length_exponent=0.0).fit(X, y) for how in (None, "models")
    )
    np.testing.assert_array_equal(refined.anchors_, plain.anchors_)
    np.testing.assert_array_equal(refined.gammas_, plain.gammas_)
    np.testing.assert_array_equal(refined.kernel_weights_, plain.kernel_weights_)
    assert refined.objective_ == plain.objective_  # that of the choice of kernels
    typical = np.median(pdist(X, "sqeuclidean"))
    assert (
        reference.primal(refined, X, y, typical) <= 1.02 * plain.objective_
    )  # but for rounded kinks


def test_refined_kernels_fit_better(moons):
    X, y = moons
    typical = np.median(pdist(X, "sqeuclidean"))
    settings = {"length_exponent": 0.0, "n_anchors": 6}
    plain, refined = (classify(refinement=how, **settings).fit(X, y) for how in (None, "kernels"))
    assert not is_row(refined.anchors_, X).any()
    assert refined.gammas_.min() > 0.0
    assert reference.primal(refined, X, y, typical) < 0.9 * plain.objective_
    assert refined.score(X, y) >= plain.score(X, y)


@EACH_MAP_OF_TWO
def test_every_map_can_be_refined(rows, profile, per_feature):
    X, y = rows
    settings = {"profile": profile, "per_feature": per_feature, "n_anchors": 5}
    plain, refined = (make(y, refinement=how, **settings).fit(X, y) for how in (None, "kernels"))
    assert refined.score(X, y) > plain.score(X, y) - 0.02


def test_refinement_leaves_a_bias_of_none_at_zero(moons):
    for refinement in ("models", "kernels"):
        model = classify(bias="none", refinement=refinement).fit(*moons)
        assert model.predictor_.biases[0] == 0.0


# --- units and shapes of the rows --------------------------------------------------------------


@EACH_MAP_OF_TWO
def test_the_unit_of_the_features_does_not_matter(rows, profile, per_feature):
    X, y = rows
    settings = {"profile": profile, "per_feature": per_feature, "bias": "free", "tol": 1e-4}
    anchors = X[::20]
    one = make(y, anchors=anchors, **settings).fit(X, y)
    for factor, offset in ((1000.0, 0.0), (1e-6, 1e-2)):
        other = make(y, anchors=factor * anchors + offset, **settings).fit(factor * X + offset, y)
        assert other.objective_ == pytest.approx(one.objective_, rel=1e-4)
        # both stop at their gap, each in a place of its own
        np.testing.assert_allclose(score(other, factor * X + offset), score(one, X), atol=0.15)


@EACH_REACH
@pytest.mark.parametrize("gram_rows", [100, 2000], ids=["features", "matrix"])
def test_many_rows_far_from_the_origin(per_feature, gram_rows, rng, monkeypatch):
    monkeypatch.setattr(conformal, "_GRAM_ROWS", gram_rows)
    X = rng.uniform(-2.0, 2.0, (1100, 2))
    y = (np.sin(2.0 * X[:, 0]) > X[:, 1]).astype(int)
    one = classify(per_feature=per_feature, anchors=X[:20]).fit(X, y)
    other = classify(per_feature=per_feature, anchors=X[:20] + 1e7).fit(X + 1e7, y)
    assert other.duality_gap_ >= 0.0
    assert other.objective_ == pytest.approx(one.objective_, rel=2e-2)  # twice the tolerance
    assert np.mean(other.predict(X + 1e7) == one.predict(X)) > 0.98


@EACH_TASK
def test_constant_features_change_nothing(rows):
    X, y = rows
    more = np.column_stack([X, np.zeros(len(X)), np.full(len(X), 7.0)])
    one = make(y, anchors=X[::10], tol=1e-4).fit(X, y)
    other = make(y, anchors=more[::10], tol=1e-4).fit(more, y)
    assert other.objective_ == pytest.approx(one.objective_, rel=2e-4)
    np.testing.assert_allclose(score(other, more), score(one, X), atol=0.1)


@EACH_PROFILE
def test_with_one_feature_both_reaches_are_one(rng, profile):
    X = rng.standard_normal((80, 1))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    units = [reference.bandwidth_unit(X, profile, per_feature) for per_feature in (False, True)]
    bandwidths = np.array(reference.BANDWIDTHS)
    settings = {"profile": profile, "tol": 1e-4}
    whole = classify(bandwidths=bandwidths, **settings).fit(X, y)
    single = classify(
        bandwidths=bandwidths * units[0] / units[1], per_feature=True, **settings
    ).fit(X, y)  # fmt: skip
    # kernels that differ by rounding lead to other stops, both within the gap
    assert single.objective_ == pytest.approx(whole.objective_, rel=1e-4)
    np.testing.assert_allclose(score(single, X), score(whole, X), atol=1e-3)


@EACH_REACH
def test_rows_that_are_all_equal_give_the_larger_class(per_feature):
    model = classify(per_feature=per_feature).fit(np.ones((40, 3)), np.repeat([0, 1], [10, 30]))
    assert set(model.predict(np.ones((2, 3)))) == {1}
    assert np.isfinite(model.decision_function(np.zeros((1, 3)))).all()


def test_rows_with_both_labels_leave_a_loss(moons):
    X, y = moons
    X, y = np.vstack([X, X[:10]]), np.r_[y, 1 - y[:10]]
    model = classify(C=1000.0, bias="free").fit(X, y)
    assert model.objective_ >= 1000.0 * 10 * 2  # a row and its twin miss by two together
    assert model.score(X, y) > 0.9


# --- far away ----------------------------------------------------------------------------------


@maps_in_turn(["moons", "blobs", "wave"], ["linear", "square"])
def test_bounded_kernels_know_nothing_far_away(rows, profile, per_feature):
    X, y = rows
    model = make(y, profile=profile, per_feature=per_feature).fit(X, y)
    far = 1e4 * np.sign(X) + X
    np.testing.assert_array_equal(model.support_score(far), 0.0)
    biases = np.broadcast_to(model.predictor_.biases, (len(X), len(model.predictor_.biases)))
    np.testing.assert_array_equal(score(model, far), np.squeeze(biases))


@EACH_MAP
def test_the_support_score_is_one_at_an_anchor_and_fades(rows, profile, per_feature):
    X, y = rows
    model = make(y, profile=profile, per_feature=per_feature).fit(X, y)
    near, far = model.support_score(X), model.support_score(1e3 * X)
    np.testing.assert_allclose(model.support_score(model.anchors_), 1.0)
    assert near.shape == (len(X),)
    assert 0.0 <= near.min() <= near.max() <= 1.0
    assert far.min() >= 0.0
    assert far.mean() < near.mean()


def test_the_support_score_of_a_model_that_was_not_fitted(moons):
    with pytest.raises(NotFittedError, match="not fitted"):
        classify().support_score(moons[0])


# --- weights of rows and targets ---------------------------------------------------------------


@EACH_TASK
def test_weight_k_equals_k_copies_on_features_on_the_fly(rows, rng, monkeypatch):
    monkeypatch.setattr(conformal, "_GRAM_ROWS", 20)
    X, y = rows
    weight = rng.integers(0, 4, len(y))
    weighted = make(y, anchors="kmeans").fit(X, y, sample_weight=weight)
    copied = make(y, anchors="kmeans").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(score(weighted, X), score(copied, X))


def test_weights_are_factors_of_c(moons):
    X, y = moons
    heavy = classify(C=0.5, tol=1e-4).fit(X, y, sample_weight=np.full(len(y), 6.0))
    assert heavy.objective_ == pytest.approx(classify(C=3.0, tol=1e-4).fit(X, y).objective_, 1e-4)


def test_a_heavy_class_is_predicted_more_often(moons, rng):
    X, y = moons[0] + rng.standard_normal(moons[0].shape), moons[1]
    shares = [
        classify(class_weight=weight, C=0.3).fit(X, y).predict(X).mean()
        for weight in ({1: 0.2}, None, {1: 5.0})
    ]
    assert shares[0] < shares[1] < shares[2]


@pytest.mark.parametrize("refinement", [None, "kernels"])
def test_the_unit_of_the_targets_does_not_matter(wave, refinement):
    X, y = wave
    # refined kernels move on from where the choice of kernels stopped: these must be near
    settings = {"refinement": refinement, "tol": 1e-4}
    plain = regress(**settings).fit(X, y)
    for factor, offset in ((1.0, 1e6), (1e-6, 0.0), (1e6, -3e8)):
        model = regress(**settings).fit(X, factor * y + offset)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-4)
        assert model.score(X, factor * y + offset) == pytest.approx(plain.score(X, y), abs=0.01)
        np.testing.assert_allclose(
            (model.predict(X) - offset) / factor, plain.predict(X), atol=0.1
        )  # fmt: skip


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6])
def test_targets_that_are_all_equal_are_predicted(wave, value):
    X, _ = wave
    model = regress().fit(X, np.full(len(X), value))
    np.testing.assert_allclose(model.predict(10.0 * X), value, rtol=1e-12)


@EACH_BIAS
def test_errors_within_epsilon_are_free(wave, bias):
    X, y = wave
    model = regress(epsilon=5.0, bias=bias).fit(X, y)
    assert model.objective_ == pytest.approx(0.0, abs=1e-9)
    assert model.n_support_ == 0
    predicted = model.predict(X)
    if bias == "free":  # any constant will do that is near enough to all values
        np.testing.assert_array_equal(predicted, predicted[0])
        assert np.abs(y - predicted[0]).max() <= 5.0 * y.std()
    else:
        np.testing.assert_allclose(predicted, y.mean())


# --- threads, precision, kinds of rows ---------------------------------------------------------


@EACH_REACH
@pytest.mark.parametrize("refinement", [None, "kernels"])
def test_the_number_of_threads_does_not_change_a_bit(per_feature, refinement, rng, monkeypatch):
    monkeypatch.setattr(conformal, "_GRAM_ROWS", 100)
    for module in (conformal_bank, local_kernels):
        monkeypatch.setattr(module, "_TILE", 1 << 10)
    monkeypatch.setattr(conformal_linear, "_BLOCK_ROWS", 64)
    X = rng.uniform(-2.0, 2.0, (300, 3))
    y = (np.sin(2.0 * X[:, 0]) > X[:, 1]).astype(int)
    settings = {"per_feature": per_feature, "refinement": refinement, "n_anchors": 20, "tol": 0.1}
    one, two = (classify(n_jobs=n_jobs, **settings).fit(X, y) for n_jobs in (1, 2))
    np.testing.assert_array_equal(score(one, X), score(two, X))
    np.testing.assert_array_equal(one.support_score(X), two.support_score(X))


@EACH_TASK
def test_float32_rows_give_a_float32_model(rows):
    X, y = rows
    anchors = X[::10].astype(np.float32)  # a sample of rows depends on their bits
    model = make(y, anchors=anchors, max_support=1000).fit(X.astype(np.float32), y)
    for name in ("anchors", "gammas", "weights", "biases"):
        assert getattr(model.predictor_, name).dtype == np.float32
    assert score(model, X).dtype == model.support_score(X).dtype == np.float32
    double = make(y, anchors=anchors).fit(X, y)
    assert model.objective_ == pytest.approx(double.objective_, rel=2e-2)  # twice the tolerance
    assert model.score(X, y) == pytest.approx(double.score(X, y), abs=0.03)
    assert score(model.finish(), X).dtype == np.float32


def test_columns_of_a_data_frame_are_checked(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = classify().fit(frame, y)
    np.testing.assert_array_equal(model.support_score(frame), classify().fit(X, y).support_score(X))
    for method in (model.predict, model.support_score):
        with pytest.raises(ValueError, match="feature names should match"):
            method(frame[["right", "left"]])


@EACH_TASK
def test_sparse_rows_are_refused(rows):
    X, y = rows
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        make(y).fit(csr_matrix(X), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        make(y).fit(X, y).predict(csr_matrix(X))


# --- progress and interruption -----------------------------------------------------------------


@EACH_TASK
def test_every_round_is_reported_if_asked(rows, capsys):
    X, y = rows
    make(y).fit(X, y)
    assert capsys.readouterr().out == ""
    model = make(y, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= model.n_iter_
    assert all(line.startswith(f"{type(model).__name__}: ") and "round " in line for line in lines)
    assert all(word in lines[0] for word in ("objective", "gap", "kernels"))


def interrupt(monkeypatch, last_round):
    """Ctrl-C while the round after ``last_round`` is at work."""

    def stop(progress):
        if progress.step > last_round:
            raise KeyboardInterrupt

    monkeypatch.setattr(conformal.Teller, "steps", lambda *_: stop)


@pytest.mark.parametrize("data", ["moons", "wave"])
@pytest.mark.parametrize("max_kernels", [None, 2])
def test_an_interrupted_fit_keeps_what_it_has(rows, max_kernels, monkeypatch):
    X, y = rows
    tight = make(y, tol=1e-4).fit(X, y)
    interrupt(monkeypatch, last_round=1)
    model = make(y, tol=1e-4, max_kernels=max_kernels, max_support=1000)
    with pytest.raises(KeyboardInterrupt, match="Interrupted: the last weights are kept"):
        model.fit(X, y)
    assert model.objective_ >= tight.objective_ * (1 - 1e-4)
    assert model.objective_ - model.duality_gap_ <= tight.objective_
    assert np.isfinite(score(model, X)).all()
    assert model.kernel_weights_.sum() == pytest.approx(1.0)
    monkeypatch.undo()
    assert np.isfinite(score(model.partial_fit(X, y).finish(), X)).all()  # and goes on


def test_an_interrupted_refinement_keeps_the_chosen_kernels(moons, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(conformal, "refine", stop)
    model = classify(refinement="kernels")
    with pytest.raises(KeyboardInterrupt, match="Interrupted: the last weights are kept"):
        model.fit(*moons)
    assert is_row(model.anchors_, moons[0]).all()
    assert model.score(*moons) > 0.85


def test_an_interruption_before_the_last_class_leaves_no_model(blobs, monkeypatch):
    interrupt(monkeypatch, last_round=0)
    model = classify()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*blobs)
    assert not hasattr(model, "predictor_")


def test_an_interruption_at_the_start_of_the_last_class_leaves_no_model(blobs, monkeypatch):
    begin, begun = conformal._objective, []

    def stop(*args):
        begun.append(args)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return begin(*args)

    monkeypatch.setattr(conformal, "_objective", stop)
    model = classify()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*blobs)
    assert not hasattr(model, "predictor_")


# --- memory ------------------------------------------------------------------------------------


@EACH_TASK
def test_too_little_memory_is_refused(rows):
    X, y = rows
    words = "lower n_anchors, give fewer rows, or raise the limit"
    with config_context(max_memory=1e5), pytest.raises(MemoryError, match=words):
        make(y).fit(X, y)


def test_too_little_memory_is_refused_before_anything_is_taken(rng):
    X = rng.standard_normal((20_000, 4))
    y = (X[:, 0] > 0).astype(int)
    tracemalloc.start()
    with config_context(max_memory=1e7), pytest.raises(MemoryError, match="n_anchors"):
        classify(n_anchors=None).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * X.nbytes


@pytest.mark.parametrize(
    ("n_rows", "n_features", "per_feature"),
    [(300, 3, False), (300, 150, False), (300, 150, True), (2100, 3, False)],
)
def test_a_fit_takes_no_more_memory_than_it_says(n_rows, n_features, per_feature, rng, monkeypatch):
    sizes = []
    monkeypatch.setattr(conformal, "require_memory", lambda size, *_: sizes.append(size))
    X = rng.standard_normal((n_rows, n_features))
    y = (X[:, 0] ** 2 > 0.5).astype(int)
    tracemalloc.start()
    classify(per_feature=per_feature, tol=0.1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < sizes[0] + 5 * X.nbytes


# --- settings ----------------------------------------------------------------------------------


@EACH_TASK
def test_settings_are_left_as_they_are(rows):
    X, y = rows
    settings = {"anchors": X[:9].copy(), "bandwidths": [3.0, 0.3]}
    model = make(y, **settings).fit(X, y)
    assert model.bandwidths == [3.0, 0.3]
    np.testing.assert_array_equal(model.anchors, X[:9])


@pytest.mark.parametrize(
    "bandwidths",
    [[], [0.0, 1.0], [-1.0], [np.nan, 1.0], [np.inf], [[0.1, 1.0], [3.0, 10.0]], ["wide"]],
    ids=["empty", "zero", "negative", "nan", "inf", "matrix", "text"],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_bandwidths_that_are_none_are_refused(moons, bandwidths, method):
    classes = {"classes": [0, 1]} if method == "partial_fit" else {}
    with pytest.raises(ValueError, match="bandwidths") as caught:
        getattr(classify(bandwidths=bandwidths), method)(*moons, **classes)
    assert "\n" not in str(caught.value)


@in_one_test(
    "anchors",
    [np.ones((4, 3)), np.full((4, 2), np.nan), np.empty((0, 2)), [0.5, 1.0], [["a", "b"]]],
)
def test_anchors_that_are_none_are_refused(moons, anchors):
    with pytest.raises(ValueError, match="anchors") as caught:
        classify(anchors=anchors).fit(*moons)
    assert "\n" not in str(caught.value)


# --- machines by epochs ------------------------------------------------------------------------


def test_machines_may_be_left_after_some_epochs(moons):
    X, y = moons
    few, many, best = (
        classify(bias="none", machine_epochs=n, random_state=0).fit(X, y) for n in (2, 500, None)
    )
    assert few.duality_gap_ > 0.05 * few.objective_
    assert few.objective_ - few.duality_gap_ <= best.objective_ <= few.objective_
    assert many.objective_ == pytest.approx(best.objective_, rel=0.02)
    again = classify(bias="none", machine_epochs=2, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), few.decision_function(X))


def test_single_steps_do_not_go_with_a_free_bias(moons):
    with pytest.raises(
        ValueError, match=r"MLLKMClassifier\(machine_epochs=5\) takes steps on single"
    ):
        classify(machine_epochs=5).fit(*moons)
