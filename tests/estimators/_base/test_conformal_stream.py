"""Learning conformal kernels from a stream, on a budget, with numbers of rows, and to its end."""

import pickle

import numpy as np
import pytest
from grids import in_one_test
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import recall_score
from sklearn.svm import LinearSVC

from nearlinear import MLLKMClassifier, MLLKMRegressor, config_context
from reference import mllkm as reference

BIASES = ["none", "penalized", "free"]
EACH_TASK = pytest.mark.parametrize("data", ["moons", "blobs", "wave"])


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


def feed(model, X, y, size=50, ids=None, after=None):
    """Rows in portions; ``after`` is called after each."""
    classes = {"classes": np.unique(y)} if y.dtype.kind == "i" else {}
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        given = {} if ids is None else {"sample_ids": ids[part]}
        model.partial_fit(X[part], y[part], **classes, **given)
        if after is not None:
            after()
    return model


@pytest.mark.parametrize(
    ("data", "bias"),
    [("moons", bias) for bias in BIASES] + [("blobs", "free"), ("wave", "none"), ("wave", "free")],
)
def test_a_stream_and_its_end_reach_the_objective_of_a_fit(rows, bias):
    X, y = rows
    fitted = make(y, n_anchors=None, bias=bias).fit(X, y)
    model = feed(make(y, n_anchors=None, bias=bias), X, y).finish()
    assert len(model._state.stream.X) == len(X)
    assert model.objective_ == pytest.approx(fitted.objective_, rel=1e-2)
    assert model.duality_gap_ <= 1e-2 * model.objective_
    assert model.n_priced_ == fitted.n_priced_


@pytest.mark.parametrize("size", [1, 7, 130])
def test_portions_of_any_size_have_the_same_end(moons, size):
    X, y = moons
    model = feed(classify(), X, y, size=size)
    assert np.isfinite(score(model, X)).all()
    fitted = classify().fit(X, y)
    assert model.finish().objective_ == pytest.approx(fitted.objective_, rel=1e-2)


@EACH_TASK
def test_a_stream_has_learned_before_its_end(rows):
    X, y = rows
    fitted = make(y, n_anchors=None).fit(X, y).score(X, y)
    assert feed(make(y), X, y).score(X, y) > fitted - 0.1


@EACH_TASK
def test_scores_of_a_stream_are_those_of_its_dual_expansion(rows):
    X, y = rows
    model = feed(make(y), X, y)
    expected = reference.dual_scores(model, X)
    if y.dtype.kind == "f":  # in the units of the first portion
        expected = y[:50].std() * expected + y[:50].mean()
    np.testing.assert_allclose(score(model, X), expected, atol=1e-9)


@EACH_TASK
def test_weights_of_rows_count_in_a_stream(rows, rng):
    X, y = rows
    weight = rng.integers(0, 3, len(y)).astype(float)
    model = make(y, n_anchors=None, tol=1e-3)
    classes = {"classes": np.unique(y)} if y.dtype.kind == "i" else {}
    model.partial_fit(X[:60], y[:60], sample_weight=weight[:60], **classes)
    model.partial_fit(X[60:], y[60:], sample_weight=weight[60:]).finish()
    fitted = make(y, n_anchors=None, tol=1e-3).fit(X, y, sample_weight=weight)
    assert len(model._state.stream.X) == np.count_nonzero(weight)
    assert model.objective_ == pytest.approx(fitted.objective_, rel=1e-3)


def test_rows_without_a_number_are_new_ones(moons):
    X, y = moons
    model = feed(feed(classify(n_anchors=None, tol=1e-3), X, y), X, y).finish()
    twice = classify(n_anchors=None, tol=1e-3).fit(X, y, sample_weight=np.full(200, 2.0))
    assert len(model._state.stream.X) == 400
    assert model.objective_ == pytest.approx(twice.objective_, rel=1e-3)


@EACH_TASK
def test_a_second_pass_with_numbers_stores_nothing_twice(rows):
    X, y = rows
    ids = np.random.default_rng(0).permutation(10_000)[: len(y)] - 5000
    model = make(y, n_anchors=None)
    for _ in range(2):
        feed(model, X, y, ids=ids)
    assert len(model._state.stream.X) == len(X)
    fitted = make(y, n_anchors=None).fit(X, y)
    assert model.finish().objective_ == pytest.approx(fitted.objective_, rel=1e-2)


def test_a_row_that_comes_again_replaces_its_old_self(moons):
    X, y = moons
    ids = np.arange(200)
    model = feed(classify(n_anchors=None, tol=1e-3), X[::-1] + 0.3, 1 - y, ids=ids)
    feed(model, X, y, ids=ids)
    np.testing.assert_allclose(score(model, X), reference.dual_scores(model, X), atol=1e-9)
    fitted = classify(n_anchors=None, tol=1e-3).fit(X, y)
    assert model.finish().objective_ == pytest.approx(fitted.objective_, rel=1e-3)


def test_of_equal_numbers_in_a_portion_the_last_row_counts(moons):
    X, y = moons
    model = classify(n_anchors=None, tol=1e-3)
    model.partial_fit(
        np.vstack([-X, X]), np.r_[1 - y, y], classes=[0, 1], sample_ids=np.tile(np.arange(200), 2)
    )
    assert len(model._state.stream.X) == 200
    fitted = classify(n_anchors=None, tol=1e-3).fit(X, y)
    assert model.finish().objective_ == pytest.approx(fitted.objective_, rel=1e-3)


def test_numbers_given_and_not_given_may_be_mixed(moons):
    X, y = moons
    model = classify().partial_fit(X[:50], y[:50], classes=[0, 1], sample_ids=np.arange(50) + 30)
    model.partial_fit(X[50:100], y[50:100])
    assert len(model._state.stream.X) == 100
    model.finish().partial_fit(X[:50], y[:50], sample_ids=np.arange(50) + 30)
    assert len(model._state.stream.X) == 100
    model.partial_fit(X[50:100], y[50:100])
    assert len(model._state.stream.X) == 150


def test_rows_without_a_number_are_not_replaced(moons):
    X, y = moons
    model = classify().partial_fit(X[:50], y[:50], classes=[0, 1])
    model.partial_fit(X[50:100], y[50:100], sample_ids=np.arange(50))
    assert len(model._state.stream.X) == 100


def test_rows_of_a_fit_are_not_replaced(moons):
    X, y = moons
    model = classify(max_support=1000).fit(X[:100], y[:100])
    model.partial_fit(X[100:], y[100:], sample_ids=np.arange(100))
    assert len(model._state.stream.X) == 200


def test_the_largest_number_leaves_room_for_new_rows(moons):
    X, y = moons
    ids = np.iinfo(np.int64).max - np.arange(50)
    model = classify().partial_fit(X[:50], y[:50], classes=[0, 1], sample_ids=ids)
    model.partial_fit(X[50:100], y[50:100])
    assert len(model._state.stream.X) == 100
    model.partial_fit(X[:50], y[:50], sample_ids=ids)
    assert len(model._state.stream.X) == 100


@in_one_test(
    "ids", [np.arange(49), np.arange(51), np.arange(50) + 0.5, np.full(50, "a"), [None] * 50, 7]
)
def test_numbers_of_rows_that_are_none_are_refused(moons, ids):
    X, y = moons
    with pytest.raises(ValueError, match="sample_ids"):
        classify().partial_fit(X[:50], y[:50], classes=[0, 1], sample_ids=ids)


@EACH_TASK
@pytest.mark.parametrize("max_support", [1, 40])
def test_a_budget_of_rows_is_kept(rows, max_support):
    X, y = rows
    sizes = []
    model = make(y, max_support=max_support)
    feed(model, X, y, size=30, after=lambda: sizes.append(len(model._state.stream.X)))
    feed(model, X, y, size=30, after=lambda: sizes.append(len(model._state.stream.X)))
    assert max(sizes) <= max_support
    assert model.n_support_ <= max_support
    expected = reference.dual_scores(model, X)
    if y.dtype.kind == "f":
        expected = y[:30].std() * expected + y[:30].mean()
    np.testing.assert_allclose(score(model, X), expected, atol=1e-8)


@EACH_TASK
@pytest.mark.parametrize("C", [1.0, 10.0])
def test_a_stream_on_a_budget_never_forgets_all(rows, C):
    X, y = rows
    scores = []
    model = make(y, max_support=50, C=C)
    for _ in range(3):
        feed(model, X, y, after=lambda: scores.append(model.score(X, y)))
    line = (LinearRegression() if y.dtype.kind == "f" else LinearSVC()).fit(X, y).score(X, y)
    assert min(scores[3:]) > line - 0.1
    assert model.finish().score(X, y) > line - 0.05


def noisy(n_rows, seed, rare=0.5):
    """Two moons that overlap by a seventh; a share ``rare`` is of the second."""
    n_rare = int(rare * n_rows)
    X, y = make_moons((n_rows - n_rare, n_rare), noise=0.4, random_state=seed)
    return X, y


def noisy_wave(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (n_rows, 1))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * rng.standard_normal(n_rows)


@pytest.mark.parametrize("source", [noisy, noisy_wave])
@pytest.mark.parametrize("named", [False, True])
def test_on_noisy_rows_a_budget_is_as_good_as_a_sample_of_its_size(source, named):
    (X, y), (X_new, y_new) = source(1000, 0), source(2000, 1)
    fits = [make(y, C=10.0).fit(X[i::10], y[i::10]).score(X_new, y_new) for i in range(3)]
    model, scores = make(y, C=10.0, max_support=100), []
    ids = np.arange(1000) if named else None
    for _ in range(3):
        feed(model, X, y, 100, ids, after=lambda: scores.append(model.score(X_new, y_new)))
    scores.append(model.finish().score(X_new, y_new))
    assert min(scores[5:]) > np.mean(fits) - 0.04
    line = (LinearRegression() if y.dtype.kind == "f" else LinearSVC()).fit(X[::10], y[::10])
    assert scores[-1] > line.score(X_new, y_new) - 0.01


def test_a_rare_class_stays_on_a_budget():
    X, y = noisy(2000, 0, rare=0.01)
    X[y == 1] += 1.0
    found = []
    for seed in range(5):  # three rows are drawn of twenty
        model = classify(max_support=50, class_weight={1: 50.0}, random_state=seed)
        feed(model, X, y, 200)
        assert np.count_nonzero(model._state.stream.y == 1) >= 3
        found.append(recall_score(y, model.predict(X)))
    assert np.mean(found) > 0.5


def test_copies_within_a_budget_equal_weights(moons):
    X, y = moons[0][:60], moons[1][:60]
    model = feed(feed(classify(n_anchors=None, tol=1e-3, max_support=200), X, y), X, y).finish()
    twice = classify(n_anchors=None, tol=1e-3).fit(X, y, sample_weight=np.full(60, 2.0))
    assert len(model._state.stream.X) == 60
    assert model.objective_ == pytest.approx(twice.objective_, rel=1e-3)


def test_any_number_of_passes_leaves_what_is_stored(moons):
    X, y = moons
    model = feed(classify(max_support=50), X, y)
    stored = {tuple(row) for row in model._state.stream.X}
    for _ in range(5):
        feed(model, X[::-1], y[::-1])
    assert {tuple(row) for row in model._state.stream.X} == stored
    np.testing.assert_allclose(model._state.stream.weight.sum(), 50.0)
    assert {tuple(row) for row in model.finish()._state.stream.X} == stored
    feed(model, X, y)
    assert {tuple(row) for row in model._state.stream.X} == stored


@EACH_TASK
def test_on_a_budget_a_fitted_model_goes_on_with_a_sample(rows):
    X, y = rows
    model = make(y, max_support=60).fit(X[:120], y[:120])
    plain = make(y).fit(X[:120], y[:120])
    np.testing.assert_array_equal(score(model, X), score(plain, X))
    assert len(model._state.stream.X) == 60
    model.partial_fit(X[120:], y[120:])
    assert len(model._state.stream.X) == 60
    assert model.score(X, y) > make(y).fit(X[:60], y[:60]).score(X, y) - 0.15  # two samples


@EACH_TASK
def test_a_budget_of_kernels_is_kept(rows):
    X, y = rows
    sizes = []
    model = make(y, max_kernels=4)

    def note():
        sizes.extend(len(machine.bank) for machine in model._state.stream.machines)

    feed(model, X, y, size=30, after=note)
    assert max(sizes) <= 4
    used = np.count_nonzero(np.atleast_2d(model.kernel_weights_), axis=1)
    assert used.max() <= 4
    np.testing.assert_allclose(model.kernel_weights_.sum(axis=-1), 1.0)


def test_a_first_portion_of_one_class_predicts_it(moons):
    X, y = moons
    model = classify().partial_fit(X[y == 1], y[y == 1], classes=[0, 1])
    assert set(model.predict(X)) == {1}
    assert model.partial_fit(X[y == 0], y[y == 0]).finish().score(X, y) > 0.9


def test_a_class_that_never_comes_is_never_predicted(moons):
    X, y = moons
    model = classify().partial_fit(X, y, classes=[0, 1, 2])
    assert score(model, X).shape == (200, 3)
    assert set(model.finish().predict(X)) == {0, 1}


def test_a_portion_without_weight_teaches_nothing(moons):
    X, y = moons
    model = feed(classify(class_weight={0: 0.0}), X, y)
    before = score(model, X)
    model.partial_fit(-X[y == 0], y[y == 0])
    np.testing.assert_array_equal(score(model, X), before)


def test_a_first_portion_without_weight_is_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match="first rows of a stream must have positive weight"):
        classify(class_weight={0: 0.0}).partial_fit(X[y == 0], y[y == 0], classes=[0, 1])


def test_a_call_that_failed_leaves_nothing_behind(moons, blobs):
    model = classify()
    with config_context(max_memory=100.0), pytest.raises(MemoryError):
        model.partial_fit(*moons, classes=[0, 1])
    model.partial_fit(*blobs, classes=[0, 1, 2])
    known = classify().partial_fit(*blobs, classes=[0, 1, 2])
    np.testing.assert_array_equal(score(model, blobs[0]), score(known, blobs[0]))


def test_numbers_of_rows_that_are_refused_leave_nothing_behind(moons, blobs):
    model = classify()
    with pytest.raises(ValueError, match="sample_ids"):
        model.partial_fit(*moons, classes=[0, 1], sample_ids=[1, 2])
    model.partial_fit(*blobs, classes=[0, 1, 2])
    known = classify().partial_fit(*blobs, classes=[0, 1, 2])
    np.testing.assert_array_equal(score(model, blobs[0]), score(known, blobs[0]))


@EACH_TASK
def test_a_plain_fit_keeps_no_rows_and_says_so(rows):
    X, y = rows
    model = make(y).fit(X, y)
    assert model._training.state is None
    before = dict(vars(model))
    for learn_on in (lambda: model.partial_fit(X, y), model.finish):
        with pytest.raises(ValueError, match=r"give max_support= .*begin with partial_fit"):
            learn_on()
    assert vars(model) == before


@EACH_TASK
def test_a_fitted_model_goes_on_with_a_stream(rows):
    X, y = rows
    model = make(y, n_anchors=None, max_support=1000).fit(X[:120], y[:120])
    before = model.score(X, y)
    assert len(model._state.stream.X) == 120
    model.partial_fit(X[120:], y[120:])
    assert model.score(X, y) > before - 0.05
    assert model.finish().score(X, y) > before - 0.05


@EACH_TASK
def test_the_end_of_no_stream_leaves_a_fitted_model_as_it_is(rows):
    X, y = rows
    model = make(y, n_anchors=None, max_support=1000).fit(X, y)
    before = score(model, X)
    np.testing.assert_allclose(score(model.finish(), X), before)


@EACH_TASK
def test_a_stream_has_a_certificate_at_its_end_alone(rows):
    X, y = rows
    names = ("objective_", "duality_gap_", "n_iter_", "n_priced_")
    model = make(y, max_support=1000).fit(X[:50], y[:50])
    assert all(hasattr(model, name) for name in names)
    model.partial_fit(X[50:80], y[50:80])
    assert not any(hasattr(model, name) for name in names)
    model.finish()
    assert all(hasattr(model, name) for name in names)
    assert not any(hasattr(feed(make(y), X[:50], y[:50]), name) for name in names)


def test_there_is_no_end_without_a_stream():
    with pytest.raises(NotFittedError, match="not fitted"):
        classify().finish()


@EACH_TASK
def test_a_second_end_changes_nothing(rows):
    X, y = rows
    model = feed(make(y), X, y).finish()
    before = score(model, X)
    np.testing.assert_array_equal(score(model.finish(), X), before)


@EACH_TASK
def test_a_pickled_stream_has_the_same_end(rows):
    X, y = rows
    model = feed(make(y), X[:100], y[:100])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[100:], y[100:]).finish()
    np.testing.assert_array_equal(score(model, X), score(copy, X))


def test_a_clone_has_nothing_of_the_stream(moons):
    copy = clone(feed(classify(), *moons))
    assert not hasattr(copy, "predictor_")
    assert not hasattr(copy, "_training")
    with pytest.raises(ValueError, match="needs classes in its first call"):
        copy.partial_fit(*moons)
