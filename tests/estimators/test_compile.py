"""``compile()`` of every estimator: a scorer of single rows that agrees with the model."""

import pickle
import threading
from functools import cache

import numpy as np
import pytest
from preparation.pipelines import STEPS, TEXT_STEPS, table
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearlinear
from nearlinear import LLSVMClassifier

each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])
each_scaling = pytest.mark.parametrize(
    "settings",
    [{}, {"with_mean": False}, {"with_std": False}, {"with_mean": False, "with_std": False}],
    ids=["both", "no mean", "no scale", "neither"],
)
ROWS = 30


@pytest.fixture(scope="session")
def fitted_models():
    """Models by what they were fitted to: each is fitted once for all tests of the file."""
    return {}


@pytest.fixture
def fitted(small, moons, blobs, wave, fitted_models):
    """A model and rows for it: by name, kind of problem and type."""

    def fit(name, problem="two", dtype=np.float64):
        key = name, problem, dtype
        if key not in fitted_models:
            X, y = {"two": moons, "three": blobs, "values": wave}[problem]
            labels = {"two": np.array(["no", "yes"]), "three": np.array(["a", "b", "c"])}
            targets = y if problem == "values" else labels[problem][y]
            fitted_models[key] = small(name).fit(X.astype(dtype), targets), X[:ROWS].astype(dtype)
        return fitted_models[key]

    return fit


def score(model, X):
    """Scores of the model, one column per output."""
    found = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
    return found.reshape(len(X), -1)


def score_rows(scorer, X):
    return np.array([np.atleast_1d(scorer(x)) for x in X])


def assert_agrees(found, expected, dtype):
    # machines add up hundreds of products that cancel, in another order for one row than for many
    atol = 1e4 * np.finfo(dtype).eps * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=atol)


@cache
def raw_scaler(n_features, **settings):
    """A scaler, fitted to rows that are far from standardized."""
    rng = np.random.default_rng(1)
    return StandardScaler(**settings).fit(rng.normal(30.0, 4.0, (50, n_features)))


@each_type
@pytest.mark.parametrize("problem", ["two", "three"])
def test_a_scorer_has_the_scores_of_the_classifier(fitted, name, problem, dtype):
    model, X = fitted(name, problem, dtype)
    scorer = model.compile()
    assert_agrees(score_rows(scorer, X), score(model, X), dtype)
    assert scorer.n_outputs == (1 if problem == "two" else 3)


@each_type
def test_a_scorer_has_the_values_of_the_regressor(fitted, regressor_name, dtype):
    model, X = fitted(regressor_name, "values", dtype)
    scorer = model.compile()
    assert_agrees(score_rows(scorer, X), score(model, X), dtype)
    assert_agrees([scorer.predict(x) for x in X], model.predict(X), dtype)


@each_type
@pytest.mark.parametrize("problem", ["two", "three"])
def test_a_scorer_names_the_label(fitted, name, problem, dtype):
    model, X = fitted(name, problem, dtype)
    scorer = model.compile()
    assert [scorer.predict(x) for x in X] == model.predict(X).tolist()


@pytest.mark.parametrize(
    "labels", [np.array([3, 8]), np.array([False, True]), np.array([-1.0, 2.0])], ids=str
)
def test_labels_are_of_the_type_that_was_given(small, moons, labels):
    X, y = moons
    model = small("LLSVMClassifier").fit(X, labels[y])
    found = [model.compile().predict(x) for x in X[:ROWS]]
    assert found == model.predict(X[:ROWS]).tolist()
    assert {np.asarray(label).dtype for label in found} == {labels.dtype}


@each_type
def test_a_scaler_is_folded_in(fitted, any_name, dtype):
    model, X = fitted(any_name, "values" if any_name.endswith("Regressor") else "three", dtype)
    scaler = raw_scaler(X.shape[1])
    raw = scaler.inverse_transform(X).astype(dtype)
    # a row is given as it was before the scaler; in float32 it has lost a digit by then
    expected = score(model, scaler.transform(raw))
    found = score_rows(model.compile(scaler), raw)
    atol = (3e-3 if dtype is np.float32 else 1e-10) * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=atol)


@each_scaling
def test_a_scaler_may_leave_out_mean_or_scale(fitted, settings):
    model, X = fitted("LLSVMClassifier")
    scaler = raw_scaler(X.shape[1], **settings)
    expected = score(model, scaler.transform(X))
    np.testing.assert_allclose(score_rows(model.compile(scaler), X), expected, rtol=1e-12)


@pytest.mark.parametrize("n_features", [1, 3])
def test_a_scaler_of_other_rows_is_refused(fitted, n_features):
    model, X = fitted("LLSVMClassifier")
    with pytest.raises(ValueError, match=rf"{n_features} features.* {X.shape[1]}"):
        model.compile(raw_scaler(n_features))


def test_another_kind_of_step_is_refused_by_name(fitted):
    model, X = fitted("LLSVMClassifier")
    with pytest.raises(ValueError, match="KernelPCA has no place"):
        model.compile(KernelPCA(2).fit(X))


@each_type
@pytest.mark.parametrize("steps_name", STEPS)
def test_steps_before_the_model_are_compiled(steps_name, dtype):
    columns, steps = STEPS[steps_name]
    X, y = table()
    X = X[columns].astype(dtype)
    model = make_pipeline(clone(steps), LLSVMClassifier(3, n_neighbors=2, random_state=0))
    model.fit(X, y)
    scorer = model[-1].compile(model[:-1])
    found = score_rows(scorer, X.to_numpy())
    atol = 1e-4 if dtype is np.float32 else 1e-10
    np.testing.assert_allclose(found[:, 0], model.decision_function(X), rtol=0.0, atol=atol)
    assert scorer(X.iloc[0]) == scorer(X.iloc[0].to_numpy())
    assert scorer(X.iloc[0][columns[::-1]]) == scorer(X.iloc[0])


def test_the_steps_say_what_they_do_not_take():
    columns, steps = STEPS["columns"]
    X, y = table()
    strict = clone(steps).set_params(codes__handle_unknown="error")
    model = make_pipeline(strict, LLSVMClassifier(3, n_neighbors=2, random_state=0))
    scorer = model.fit(X[columns], y)[-1].compile(model[:-1])
    with pytest.raises(ValueError, match=r"5\.0 in column 'code', which is none"):
        scorer(np.array([40.0, 1.7, 5.0]))
    with pytest.raises(ValueError, match="no value in column 'code'"):
        scorer(np.array([40.0, 1.7, np.nan]))
    with pytest.raises(ValueError, match="infinity"):
        scorer(np.array([np.inf, 1.7, 3.0]))
    with pytest.raises(ValueError, match="2 numbers, not 3"):
        scorer(np.zeros(2))
    columns, words = TEXT_STEPS["words"]
    model = make_pipeline(clone(words), LLSVMClassifier(3, n_neighbors=2, random_state=0))
    scorer = model.fit(X[columns], y)[-1].compile(model[:-1])
    with pytest.raises(ValueError, match="'pink' in column 'color', which is none"):
        scorer([40.0, "pink", "!"])
    with pytest.raises(ValueError, match="'old' in column 'age', where a number"):
        scorer(["old", "red", "!"])


def test_a_scaler_that_is_not_fitted_is_refused(fitted):
    model, _ = fitted("LLSVMClassifier")
    with pytest.raises(NotFittedError, match="StandardScaler"):
        model.compile(StandardScaler())


def test_a_model_that_is_not_fitted_is_refused(small, any_name):
    with pytest.raises(NotFittedError, match=any_name):
        small(any_name).compile()


def test_a_pickled_scorer_gives_the_same_bits(fitted, any_name):
    model, X = fitted(any_name, "values" if any_name.endswith("Regressor") else "three")
    scorer = model.compile(raw_scaler(X.shape[1]))
    twin = pickle.loads(pickle.dumps(scorer))
    np.testing.assert_array_equal(score_rows(twin, X), score_rows(scorer, X))
    assert [twin.predict(x) for x in X] == [scorer.predict(x) for x in X]


def test_threads_share_a_scorer(fitted, any_name):
    model, X = fitted(any_name, "values" if any_name.endswith("Regressor") else "three")
    X = X[:8]  # of 32 threads
    scorer = model.compile(raw_scaler(X.shape[1]))
    expected, found = score_rows(scorer, X), {}
    begin = threading.Barrier(32, timeout=60)

    def work(number):
        begin.wait()
        found[number] = score_rows(scorer, np.roll(X, number, axis=0))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 32
    for number, scores in found.items():
        np.testing.assert_array_equal(scores, np.roll(expected, number, axis=0))


def test_a_scorer_does_not_change_when_the_model_is_fitted_anew(small, moons):
    X, y = moons
    model = small("LLSVMClassifier").fit(X, y)
    scorer = model.compile()
    before = score_rows(scorer, X)
    model.fit(X, 1 - y)
    np.testing.assert_array_equal(score_rows(scorer, X), before)


def test_a_model_fitted_to_sparse_rows_scores_dense_ones(small, sparse_name, moons):
    X, y = moons
    model = small(sparse_name).fit(csr_matrix(X), y)
    found = score_rows(model.compile(), X[:ROWS])
    assert_agrees(found, score(model, X[:ROWS]), np.float64)


@pytest.mark.parametrize("task", ["Classifier", "Regressor"])
def test_columns_of_a_second_matrix_follow_those_of_the_row(task, wave):
    X, y = wave
    gating, targets = X[:, :1] ** 2, y if task == "Regressor" else y > 0
    model = getattr(nearlinear, f"LMKL{task}")(n_copies=2, random_state=0)
    model.fit(X, targets, gating=gating)
    seen = model.decision_function if task == "Classifier" else model.predict
    scaler, rows = raw_scaler(2), slice(ROWS)
    beside = np.hstack([X, gating])[rows]
    found = score_rows(model.compile(), beside)[:, 0]
    assert_agrees(found, seen(X[rows], gating=gating[rows]), np.float64)
    raw = np.hstack([scaler.inverse_transform(X), gating])[rows]
    scaled = score_rows(model.compile(scaler), raw)[:, 0]
    assert_agrees(scaled, seen(X[rows], gating=gating[rows]), np.float64)


def test_precomputed_kernels_have_no_rows_to_score(moons):
    X, y = moons
    model = nearlinear.SimpleMKLClassifier("precomputed").fit(np.stack([X @ X.T] * 2, axis=2), y)
    with pytest.raises(ValueError, match="precomputed"):
        model.compile()
