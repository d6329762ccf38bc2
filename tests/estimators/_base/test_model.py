"""What every classifier does in the same way: labels, weights, precision, seeds, wrapping."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csc_matrix, csr_array, csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from nearlinear import LLCSAPLClassifier

EACH_LOSS = pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])


def assert_same_bits(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_many_rows_are_scored_on_the_threads_that_were_asked_for(moons):
    """BLAS has threads of its own, which wait for each other after every block of rows."""
    X, y = moons
    model, seen = LLCSAPLClassifier(4, max_iter=2, random_state=0).fit(X, y), []
    predictor = model.predictor_

    class Watched:
        dtype = predictor.dtype

        def __call__(self, rows, n_jobs):
            pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
            seen.append({pool["num_threads"] for pool in pools})
            return predictor(rows, n_jobs=n_jobs)

    model.predictor_ = Watched()
    with threadpool_limits(2, user_api="blas"):
        model.predict(X)
        model.predict(X[:1])  # one row is left alone: the limit would take longer
    assert seen == [{1}, {2}]


# --- what is learned ---------------------------------------------------------------------------


@pytest.mark.every_estimator
def test_moons_are_told_apart_better_than_by_a_line(small, name, moons):
    X, y = make_moons(300, noise=0.15, random_state=1)
    X = StandardScaler().fit_transform(X)
    line = LinearSVC().fit(*moons).score(X, y)
    assert small(name).fit(*moons).score(X, y) > line + 0.05


@EACH_LOSS
def test_each_loss_learns_three_classes(small, loss_name, loss, blobs):
    assert small(loss_name, loss=loss).fit(*blobs).score(*blobs) > 0.75  # chance is 0.33


def test_digits_are_recognized(small, name):
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    # trees know little of 20 rows a class: HistGradientBoosting gets 0.75
    root = {"linear_root": True} if name == "LocalForestClassifier" else {}
    model = small(name, **root).fit(X[:200], y[:200])
    assert model.score(X[200:600], y[200:600]) > 0.75  # chance 0.1


# --- weights -----------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["moons", "blobs"])
@pytest.mark.every_estimator
def test_weight_k_equals_k_copies(small, name, data, request, rng):
    X, y = request.getfixturevalue(data)
    weight = rng.integers(1, 4, len(y))
    weighted = small(name).fit(X, y, sample_weight=weight)
    copied = small(name).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_bits(weighted, copied, X)


def test_weight_zero_equals_absence(small, name, moons, rng):
    X, y = moons
    weight = rng.integers(0, 2, len(y))
    absent = small(name).fit(X[weight > 0], y[weight > 0])
    assert_same_bits(small(name).fit(X, y, sample_weight=weight), absent, X)


@pytest.mark.every_estimator
def test_the_order_of_the_rows_does_not_matter(small, name, blobs, rng):
    X, y = blobs
    order = rng.permutation(len(y))
    assert_same_bits(small(name).fit(X, y), small(name).fit(X[order], y[order]), X)


@pytest.mark.every_estimator
def test_class_weights_are_factors_of_the_rows_weights(small, name, moons):
    X, y = moons
    by_class = small(name, class_weight={0: 3, 1: 0.5}).fit(X, y)
    by_row = small(name).fit(X, y, sample_weight=np.where(y == 0, 3, 0.5))
    assert_same_bits(by_class, by_row, X)


def test_classes_without_a_weight_count_as_they_are(small, name, moons):
    X, y = moons
    one, all_given = {1: 2}, {0: 1, 1: 2}
    assert_same_bits(
        small(name, class_weight=one).fit(X, y), small(name, class_weight=all_given).fit(X, y), X
    )


def test_balanced_classes_have_equal_mass(small, name, moons):
    X, y = moons
    rows = np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)]
    balanced = small(name, class_weight="balanced").fit(X[rows], y[rows])
    given = small(name, class_weight={0: 120 / (2 * 20), 1: 120 / (2 * 100)}).fit(X[rows], y[rows])
    assert_same_bits(balanced, given, X)


def test_a_heavy_class_is_predicted_more_often(small, name, moons, rng):
    X, y = moons[0] + rng.standard_normal(moons[0].shape), moons[1]  # much overlap
    few = {}
    if name == "LocalForestClassifier":  # a larger one has every training row right
        few = {"n_trees": 3, "max_leaves": 4, "min_samples_leaf": 20}
    light = small(name, class_weight={1: 0.1}, **few).fit(X, y).predict(X).mean()
    heavy = small(name, class_weight={1: 10}, **few).fit(X, y).predict(X).mean()
    assert heavy > light + 0.2


# --- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names", [["no", "yes"], [False, True], [-1, 1], [3, 70], [1.0, 2.0]], ids=str
)
def test_labels_of_any_type_come_back(small, name, moons, names):
    X, y = moons
    model = small(name).fit(X, np.array(names)[y])
    np.testing.assert_array_equal(model.classes_, names)
    predicted = model.predict(X)
    assert predicted.dtype == np.array(names).dtype
    np.testing.assert_array_equal(predicted, np.array(names)[small(name).fit(X, y).predict(X)])


def test_labels_in_an_object_array_come_back(small, name, moons):
    X, y = moons
    model = small(name).fit(X, np.array(["no", "yes"], dtype=object)[y])
    assert set(model.predict(X)) == {"no", "yes"}


def test_two_classes_have_one_score_that_is_positive_for_the_second(small, name, moons):
    X, y = moons
    model = small(name).fit(X, y)
    scores = model.decision_function(X)
    assert scores.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))


@pytest.mark.every_estimator
def test_several_classes_have_their_scores_in_the_order_of_classes(small, name, blobs):
    X, y = blobs
    labels = np.array(["c", "a", "b"])[y]
    model = small(name).fit(X, labels)
    scores = model.decision_function(X)
    assert scores.shape == (len(X), 3)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])


# --- probabilities -----------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_probabilities_agree_with_predictions(small, loss_name, data, request):
    X, y = request.getfixturevalue(data)
    model = small(loss_name, loss="log_loss").fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(X), len(model.classes_))
    assert probabilities.min() >= 0
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


def test_probabilities_say_more_than_the_class_frequencies(small, loss_name, blobs):
    X, y = blobs
    probabilities = small(loss_name, loss="log_loss").fit(X, y).predict_proba(X)
    assert -np.log(probabilities[np.arange(len(y)), y]).mean() < 0.8 * np.log(3)


def test_margin_losses_have_no_probabilities_and_say_what_has(small, name, moons):
    if name == "LocalForestClassifier":
        return  # it has the log loss alone
    has_losses = "loss" in small(name).get_params()
    model = small(name, **({"loss": "hinge"} if has_losses else {})).fit(*moons)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(moons[0])
    # who has one loss only is not told to choose another
    assert ("log_loss" in str(caught.value.__cause__)) == has_losses
    assert f"CalibratedClassifierCV({name}(...), ensemble=False)" in str(caught.value.__cause__)


def test_a_loss_that_was_chosen_gives_its_probabilities(blobs):
    X, y = blobs
    model = LLCSAPLClassifier(random_state=0)
    assert model.loss == "auto" and not hasattr(model, "predict_proba")
    model.fit(X, y)
    assert model.loss_ == "log_loss"
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    # a stream goes on with the loss that was chosen
    log_loss_before = log_loss(y, model.predict_proba(X))
    model.partial_fit(X, y)
    assert log_loss(y, model.predict_proba(X)) < 1.2 * log_loss_before


# --- kinds of rows -----------------------------------------------------------------------------


@pytest.mark.every_estimator
def test_float32_rows_stay_float32(small, name, blobs):
    X, y = blobs
    model = small(name).fit(X.astype(np.float32), y)
    assert model.predictor_.dtype == np.float32
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    assert model.decision_function(X).dtype == np.float32


def test_float32_and_float64_learn_about_the_same(small, name, moons):
    X, y = moons
    single, double = small(name).fit(X.astype(np.float32), y), small(name).fit(X, y)
    # rows whose rounded values change the order of training, and so its end
    assert np.mean(single.predict(X) == double.predict(X)) > 0.95


def test_integer_rows_are_read_as_float64(small, name, blobs):
    X, y = np.round(10 * blobs[0]).astype(int), blobs[1]
    assert_same_bits(small(name).fit(X, y), small(name).fit(X.astype(float), y), X)


def test_the_layout_of_the_rows_in_memory_does_not_matter(small, name, moons):
    X, y = moons
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for rows in (np.asfortranarray(X), strided):
        assert_same_bits(small(name).fit(rows, y), small(name).fit(X, y), rows)


def test_data_frames_are_read_and_their_columns_checked(small, name, moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = small(name).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["left", "right"]
    np.testing.assert_array_equal(
        model.decision_function(frame), small(name).fit(X, y).decision_function(X)
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["right", "left"]])


# Settings in which dense rows are treated as sparse ones always are.
AS_SPARSE = {
    "LLCSAPLClassifier": {"solver": "sgd"},
    "LDKLClassifier": {"jitter": 0.0},
    # both stop at their gap, each in a place of its own
    "SimpleMKLClassifier": {"tol": 1e-3, "weight_solver": "newton"},
    # no convex problem: steps of the gate lead apart whatever differs by rounding
    "LMKLClassifier": {"tol": 1e-5, "max_iter": 2},
    # switches follow the order of scores, which may turn by rounding
    "SAMKLClassifier": {"tol": 1e-4, "max_rounds": 1},
}


@pytest.mark.parametrize("kind", [csr_matrix, csr_array, csc_matrix, coo_matrix])
@pytest.mark.every_estimator
def test_sparse_rows_learn_and_score_as_dense_ones(small, sparse_name, kind, blobs):
    X, y = np.where(np.abs(blobs[0]) < 0.3, 0.0, blobs[0]), blobs[1]
    # every row and its mirror image: trees center dense rows, which must change nothing here
    X, y = np.vstack([X, -X]), np.r_[y, y]
    settings = AS_SPARSE.get(sparse_name, {})
    dense = small(sparse_name, **settings).fit(X, y)
    sparse = small(sparse_name, **settings).fit(kind(X), y)
    # sums in another order: the start stops in another place (to 1e-2) and steps go on from there;
    # scores have a size of 3
    np.testing.assert_allclose(
        sparse.decision_function(kind(X)), dense.decision_function(X), atol=0.1
    )
    np.testing.assert_allclose(sparse.decision_function(X), sparse.decision_function(kind(X)))


def test_sparse_rows_with_entries_in_pieces_are_added_up(small, sparse_name, blobs):
    X, y = blobs
    whole = csr_matrix(X)
    halves = csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), X.shape
    )
    one, other = small(sparse_name).fit(whole, y), small(sparse_name).fit(halves, y)
    # as above
    np.testing.assert_allclose(
        other.decision_function(halves), one.decision_function(whole), atol=0.1
    )


# --- repetition --------------------------------------------------------------------------------


def test_one_seed_gives_one_model(small, name, blobs):
    X, y = blobs
    assert_same_bits(small(name).fit(X, y), small(name).fit(X, y), X)


def test_a_random_state_object_gives_a_new_model_each_time(small, random_name, blobs):
    X, y = blobs
    state = np.random.RandomState(0)
    first = small(random_name, random_state=state).fit(X, y).decision_function(X)
    second = small(random_name, random_state=state).fit(X, y).decision_function(X)
    assert np.abs(first - second).max() > 1e-6


@pytest.mark.every_estimator
def test_a_second_fit_knows_nothing_of_the_first(small, name, moons, blobs):
    model = small(name).fit(*moons).fit(*blobs)
    assert_same_bits(model, small(name).fit(*blobs), blobs[0])


@pytest.mark.parametrize("data", ["moons", "blobs"])
@pytest.mark.every_estimator
def test_the_number_of_threads_does_not_change_a_bit(small, name, data, request):
    X, y = request.getfixturevalue(data)
    many = np.tile(X, (8, 1)) + np.arange(8 * len(X))[:, None] * 1e-3  # several blocks
    one, two = small(name).fit(X, y), small(name, n_jobs=2).fit(X, y)
    assert_same_bits(one, two, many)


def test_a_model_survives_pickling(small, name, blobs):
    X, y = blobs
    model = small(name).fit(X, y)
    assert_same_bits(pickle.loads(pickle.dumps(model)), model, X)


def test_a_clone_has_the_settings_but_nothing_learned(small, name, moons):
    model = small(name, n_jobs=2).fit(*moons)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "predictor_")


# --- inside scikit-learn -----------------------------------------------------------------------


def test_a_grid_search_over_a_pipeline_finds_a_good_model(small, name, moons):
    X, y = moons
    setting, values = ("n_trees", [1, 20]) if "Forest" in name else ("C", [1e-6, 10.0])
    key = f"{name.lower()}__{setting}"
    search = GridSearchCV(make_pipeline(StandardScaler(), small(name)), {key: values}, cv=3).fit(
        100 * X + 50, y
    )
    assert search.score(100 * X + 50, y) > 0.9
    if name != "SVMKNNClassifier":  # where neighbors agree, C does not matter
        assert search.best_params_[key] == values[1]


def test_calibration_gives_probabilities_to_a_margin_loss(small, name, moons):
    X, y = moons
    calibrated = CalibratedClassifierCV(small(name), cv=3).fit(X, y)
    probabilities = calibrated.predict_proba(X)
    assert -np.log(probabilities[np.arange(len(y)), y]).mean() < 0.5 * np.log(2)


def test_cross_validation_runs_on_sparse_rows(small, sparse_name, blobs):
    X, y = blobs
    assert cross_val_score(small(sparse_name), csr_matrix(X), y, cv=3).mean() > 0.6


# --- before and after --------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_a_model_that_was_not_fitted_says_so(small, name, moons, method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(small(name), method)(moons[0])


def test_cost_is_known_after_fit_only(small, name, moons):
    model = small(name)
    assert not hasattr(model, "cost_")
    cost = model.fit(*moons).cost_
    assert cost.times_linear == pytest.approx(cost.multiply_adds / 2)  # two features, one output
    assert cost.n_bytes > 0
