"""Cascades of classifiers: promises, stages, and where the model goes."""

import pickle

import numpy as np
import pytest
from grids import in_one_test
from shipping import assert_ships
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import estimator_checks_generator

from nearlinear import Cascade, LDKLClassifier, SVMKNNClassifier, UniformMKLClassifier


def draw(n_rows, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 4))
    z = X[:, 0] + 0.8 * np.sin(3 * X[:, 1])
    return X, np.digitize(z, [0.0] if n_classes == 2 else [-0.7, 0.7])


def tree(depth, **more):
    return LDKLClassifier(depth, max_iter=20, random_state=0, **more)


STAGES = {
    "linear, tree": (2, lambda: [tree(0), tree(3)]),
    "scikit-learn's, tree": (3, lambda: [LogisticRegression(), tree(3)]),
    "linear, SVM": (2, lambda: [tree(0), UniformMKLClassifier("gaussian")]),
}


@in_one_test("name", list(STAGES))
def test_a_cascade_ships(name, tmp_path):
    n_classes, stages = STAGES[name]
    X, y = draw(2000, n_classes=n_classes)
    model = Cascade(stages(), max_loss=0.03, validation_fraction=0.4, random_state=0)
    model.fit(X, y)
    assert 0.0 < model.shares_[0] < 1.0
    stops = model.predictor_.stops(X)
    assert set(stops) == {0, 1}
    for number, stage in enumerate(model.stages_):
        own = stops == number
        np.testing.assert_array_equal(model.predict(X[own]), stage.predict(X[own]))
    assert model.cost_.multiply_adds < model.stages_[-1].cost_.multiply_adds
    assert model.cost_.spread > 0
    explained = model.explain(X)
    assert explained.component == "stage"
    np.testing.assert_array_equal(explained.active[:, 0], stops)
    assert_ships(model, X[:100], tmp_path)


def test_probabilities_are_those_of_the_stage_that_answers():
    X, y = draw(2000)
    stages = [LogisticRegression(), tree(3, loss="log_loss")]
    model = Cascade(stages, max_loss=0.03, validation_fraction=0.4, random_state=0).fit(X, y)
    found, stops = model.predict_proba(X), model.predictor_.stops(X)
    assert set(stops) == {0, 1}
    for number, stage in enumerate(model.stages_):
        own = stops == number
        np.testing.assert_allclose(found[own], stage.predict_proba(X[own]), atol=1e-6)
    np.testing.assert_allclose(model.compile().predict_proba(X[0]), found[0])
    other = Cascade([tree(0, loss="hinge"), tree(2)], random_state=0)
    with pytest.warns(UserWarning, match="every row goes to the last stage"):
        other.fit(X, y)
    assert not hasattr(other, "predict_proba")


def test_few_rows_promise_nothing_and_the_last_stage_answers():
    X, y = draw(300)
    with pytest.warns(UserWarning, match="by no threshold on 60 held-out rows"):
        model = Cascade([tree(0), tree(2)], random_state=0).fit(X, y)
    assert model.n_tested_ == 0
    np.testing.assert_array_equal(model.decision_function(X), model.stages_[1].decision_function(X))


def test_fitted_stages_stay_and_all_rows_are_held_out():
    (X, y), (Z, t) = draw(600), draw(2000, seed=1)
    stages = [tree(0).fit(X, y), tree(3).fit(X, y)]
    model = Cascade([FrozenEstimator(s) for s in stages], max_loss=0.05, random_state=0).fit(Z, t)
    assert [one is own for one, own in zip(model.stages_, stages, strict=True)] == [True, True]
    assert model.n_tested_ == 1000


def test_weights_count_rows():
    X, y = draw(700)
    model = Cascade([tree(0), tree(2)], max_loss=0.08, validation_fraction=0.5, random_state=0)
    twice = clone(model).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    model.fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert model.n_tested_ == twice.n_tested_ > 300
    np.testing.assert_array_equal(model.decision_function(X), twice.decision_function(X))


def test_a_single_stage_answers_for_all_rows():
    X, y = draw(300)
    model = Cascade([tree(1)], random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.stages_[0].predict(X))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_can_be_cloned_pickled_and_searched():
    X, y = draw(600)
    model = Cascade([tree(0), tree(2)], max_loss=0.1, validation_fraction=0.5, random_state=0)
    search = GridSearchCV(model, {"max_loss": [0.1, 0.2]}, cv=2).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert clone(model).get_params()["max_loss"] == 0.1


BAD = {
    "no stages": ([], "has no stages"),
    "no linear model": ([RandomForestClassifier(3), tree(1)], "no classifier of nearlinear"),
    "no model": ([SVMKNNClassifier(), tree(1)], "no classifier of nearlinear"),
    "other classes": (
        [FrozenEstimator(LogisticRegression().fit(*draw(50, n_classes=3))), tree(1)],
        "other classes than y",
    ),
    "other columns": (
        [FrozenEstimator(LogisticRegression().fit(draw(50)[0][:, :2], draw(50)[1])), tree(1)],
        "other columns than X",
    ),
}


@in_one_test("name", list(BAD))
def test_a_bad_stage_is_refused_in_one_sentence(name):
    stages, words = BAD[name]
    with pytest.raises((ValueError, TypeError), match=words):
        Cascade(stages, random_state=0).fit(*draw(200))


SKIPPED = {"check_class_weight_classifiers"}  # stages have their own class weights


def pytest_generate_tests(metafunc):
    if "check" in metafunc.fixturenames:
        stages = [LogisticRegression(), LDKLClassifier(1, max_iter=5, random_state=0)]
        checks = estimator_checks_generator(Cascade(stages, random_state=0))
        words = [(getattr(c, "func", c).__name__, e, c) for e, c in checks]
        cases = [(e, c) for word, e, c in words if word not in SKIPPED]
        metafunc.parametrize(("estimator", "check"), [pytest.param(*case) for case in cases])


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learns_checks(estimator, check):
    check(estimator)
