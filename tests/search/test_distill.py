"""Slow teachers, fast students."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from shipping import assert_ships
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from nearlinear import NearLinearClassifier, NearLinearRegressor, distill
from nearlinear.search.candidates import Anchors, Shape
from nearlinear.search.portfolio import LINEAR
from nearlinear.search.students.fidelity import lead, microseconds
from nearlinear.search.students.lessons import Lesson, OddsJudge, _training
from nearlinear.search.students.new_rows import between
from nearlinear.search.students.odds import OddsAnchors, _of_odds, with_odds
from nearlinear.search.students.teachers import (
    can_learn,
    dealt,
    models_of_parts,
    models_without,
    read_teacher,
    scores_of_parts,
)

QUICK = {"families": ["anchors"], "encoder": None, "random_state": 0}


def ring(n_rows=240, n_classes=2, seed=0):
    """Classes by the distance from the middle: no line tells them apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 2))
    edges = np.quantile(np.hypot(*X.T), np.arange(1, n_classes) / n_classes)
    return X, np.digitize(np.hypot(*X.T), edges)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_student_keeps_what_a_machine_gains_over_a_line(n_classes, tmp_path):
    X, y = ring(n_classes=n_classes)
    rng = np.random.RandomState(0)
    y = np.where(rng.uniform(size=len(y)) < 0.2, rng.randint(n_classes, size=len(y)), y)
    teacher = SVC().fit(X, y)
    student = distill(teacher, X, y, **QUICK)
    X_new, _ = ring(600, n_classes, seed=1)
    assert isinstance(student, NearLinearClassifier)
    assert student.classes_.tolist() == teacher.classes_.tolist()
    assert np.mean(student.predict(X_new) == teacher.predict(X_new)) > 0.8
    report = student.report_
    assert report["targets"] == "out-of-fold"
    assert report["agreement"] > 0.75
    assert report["gain_kept"] > 0.7
    assert report["linear_score"] < 0.75
    assert report["speed_up"] == report["teacher_us"] / report["student_us"]
    assert_ships(student, X_new[:20], tmp_path)


def test_labels_are_learned_where_they_teach_more_than_the_teacher():
    X, y = ring(300, 3)
    student = distill(LogisticRegression(), X, y, **QUICK)
    assert student.report_["targets"] == "y"
    assert student.report_["student_score"] > student.report_["teacher_score"] + 0.2
    values = np.hypot(*X.T)
    student = distill(LinearRegression(), X, values, **QUICK)
    assert student.report_["targets"] == "y"
    assert student.report_["student_score"] > student.report_["teacher_score"] + 0.5


def test_targets_are_of_models_that_have_not_seen_the_row():
    X, y = ring(100)
    teacher = read_teacher(SVC(C=1e3, gamma=50.0), X, y, None)
    parts = dealt(y, len(y), np.random.RandomState(0))
    models = models_of_parts(teacher, X, y, parts)
    found = scores_of_parts(teacher, models, X, parts)
    for part in range(5):
        own, others = parts == part, parts != part
        wanted = SVC(C=1e3, gamma=50.0).fit(X[others], y[others]).decision_function(X[own])
        assert np.allclose(found[own, 0], wanted)
    assert np.mean((found[:, 0] > 0) == (y == 1)) < 1.0 == teacher.model.score(X, y)


def test_a_function_and_a_frozen_teacher_are_taken_at_their_word():
    X, y = ring(120)
    frozen = FrozenEstimator(SVC().fit(X, y))
    assert not can_learn(read_teacher(frozen, X, y, None))
    assert read_teacher(lambda rows: rows[:, 0], X, np.arange(120) % 7, None).kind == "values"
    student = distill(lambda rows: 2.0 - np.hypot(*rows.T), X, classes=["far", "near"], **QUICK)
    assert student.report_["targets"] == "as the teacher has them"
    assert "teacher_score" not in student.report_
    assert student.predict([[0.0, 0.1], [4.0, 0.0]]).tolist() == ["near", "far"]


def test_values_are_learned_from_a_table_with_text():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.standard_normal(200), "b": rng.choice(["x", "y"], 200)})

    def teacher(rows):
        return np.abs(rows["a"].to_numpy()) + (rows["b"] == "x").to_numpy()

    student = distill(teacher, X, families=["piecewise linear"], random_state=0)
    assert isinstance(student, NearLinearRegressor)
    assert student.report_["r2"] > 0.95
    assert not hasattr(student, "classes_")


def test_values_of_a_forest_are_scored_beside_it():
    X, _ = ring(150)
    y = np.hypot(*X.T)
    report = distill(RandomForestRegressor(20, random_state=0), X, y, **QUICK).report_
    assert report["teacher_score"] > report["linear_score"]
    assert report["student_score"] > report["linear_score"]


@pytest.mark.parametrize("labels", [np.array([], dtype=object), []], ids=["array", "list"])
def test_a_regressor_with_empty_classes_is_distilled_to_a_regressor(labels):
    class Teacher(DecisionTreeRegressor):  # as regressors of CatBoost are
        classes_ = labels

    X, _ = ring(150)
    y = np.hypot(*X.T)
    for given in (None, y):
        student = distill(Teacher(max_depth=4).fit(X, y), X, given, **QUICK)
        assert isinstance(student, NearLinearRegressor)
        assert student.report_["r2"] > 0.5


def test_a_teacher_without_tags_is_a_classifier_where_it_has_classes():
    class Teacher:
        classes_ = np.array(["far", "near"])

        def predict(self, X):
            return np.where(np.hypot(*X.T) < 1.0, "near", "far")

    student = distill(Teacher(), ring(150)[0], **QUICK)
    assert isinstance(student, NearLinearClassifier)
    assert student.classes_.tolist() == ["far", "near"]


def test_the_same_seed_gives_the_same_student():
    X, y = ring(120)
    first, second = (distill(SVC(), X, y, **QUICK) for _ in range(2))
    assert np.array_equal(first.decision_function(X), second.decision_function(X))


def test_new_rows_lie_between_parents_of_one_part_and_make_up_no_category():
    X = pd.DataFrame({
        "a": np.arange(40.0) + 0.5, "whole": np.arange(40), "kind": list("pq") * 20,
        "few": [0.0, 1.0] * 20, "hole": [np.nan, *np.arange(39.0)],
    })  # fmt: skip
    parts = np.repeat([0, 1], 20)
    found, own = between(X, X[["a"]].to_numpy(), parts, 300, np.random.RandomState(0))
    assert found.dtypes.equals(X.dtypes)
    assert set(found["kind"]) == {"p", "q"}
    assert set(found["few"]) == {0.0, 1.0}
    assert found["hole"].dropna().isin(X["hole"]).all()
    assert ((found["a"] < 20) == (own == 0)).all()
    assert not found["a"].isin(X["a"]).all()


def test_rows_of_a_part_and_new_rows_made_of_them_never_train_and_judge_together():
    X, y = ring(120, 3)
    told = np.eye(3)[y] * 0.9 + 0.1 / 3
    parts = dealt(None, len(X), np.random.RandomState(0))
    teacher = read_teacher(lambda rows: np.full((len(rows), 3), 1 / 3), X, None, None)
    lesson = Lesson(teacher, None, teacher.calibration(told, None), None, X, X, told, parts)
    lesson.ask(60, np.random.RandomState(0))
    rows = lesson.rows()
    assert np.allclose(np.bincount(rows.origin, rows.training.weight), 1.0)
    rounds, _ = rows.rounds(120, np.random.RandomState(0))
    assert sorted(rows.origin[np.concatenate([one.held for one in rounds])]) == sorted(
        np.repeat(np.arange(120), 3)
    )
    for one in rounds:
        assert not set(rows.parts[one.kept]) & set(rows.parts[one.held])
        assert rows.is_real[one.held].all()


def test_odds_are_judged_by_the_log_loss_that_the_teacher_expects():
    told = np.array([[-2.0], [0.5]])
    share = 1 / (1 + np.exp(-told[:, 0]))
    said = 1 / (1 + np.exp(-np.array([1.0, 0.2])))
    wanted = -share * np.log(said) - (1 - share) * np.log(1 - said)
    found = OddsJudge(told, np.ones(2)).losses(np.array([[1.0], [0.2]]))
    assert np.allclose(found, wanted)


def test_rows_without_a_dense_form_are_learned_as_they_are():
    X, y = ring(120)
    student = distill(SVC(), csr_matrix(X), y, **QUICK)
    assert student.report_["n_new_rows"] == 0
    assert student.report_["agreement"] > 0.8


@pytest.mark.parametrize(
    ("teacher", "given", "words"),
    [
        (3, {}, "neither"),
        (SVC(), {"scoring": "roc_auc"}, "no scoring"),
        (lambda X: X, {"classes": [0, 1, 2]}, "2 columns and there are 3 classes"),
        (lambda X: X, {"classes": [1, 0]}, "rising order"),
    ],
)
def test_what_cannot_be_distilled_is_said(teacher, given, words):
    X, y = ring(40)
    with pytest.raises((TypeError, ValueError), match=words):
        distill(teacher, X, None if given.get("classes") else y, **given)


def test_a_label_that_the_teacher_does_not_know_is_named():
    X, y = ring(60)
    teacher = SVC().fit(X, y)
    with pytest.raises(ValueError, match="the label 7"):
        distill(teacher, X, np.where(np.arange(60) == 3, 7, y))


def test_an_interrupted_search_returns_the_best_by_then(monkeypatch):
    X, y = ring(100)
    fit, calls = Anchors.fit, []

    def slow(candidate, *arguments):
        calls.append(candidate)
        if len(calls) == 6:  # past the probes of new rows
            raise KeyboardInterrupt
        return fit(candidate, *arguments)

    monkeypatch.setattr(Anchors, "fit", slow)
    with pytest.warns(UserWarning, match="Interrupted: the best model so far is returned"):
        student = distill(SVC(), X, y, **QUICK)
    assert len(calls) >= 6
    assert student.predict(X).shape == (100,)


def test_a_gain_that_the_teacher_has_not_is_said_to_be_none():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((150, 3))
    y = (X[:, 0] + X[:, 1] + 0.8 * rng.standard_normal(150) > 0).astype(int)
    report = distill(SVC(gamma=3.0), X, y, **QUICK).report_  # a line is all there is to know
    assert report["linear_score"] > report["teacher_score"]
    assert report["gain_kept"] is None
    assert "no better than a linear model" in report["note"]
    first, second = np.arange(100) < 52, np.arange(100, 0, -1) < 51  # two points, of noise
    assert lead(first, second) is None
    assert lead(first, np.arange(100) < 20) == pytest.approx(0.32)


def test_times_are_those_of_many_rows_and_not_of_a_call():
    sizes = []

    def answer(rows):
        sizes.append(len(rows))

    microseconds(answer, np.zeros((30, 2)))
    assert sizes[-1] == 10_000


def test_the_report_has_the_time_that_a_budget_is_held_against():
    X, y = ring(120)
    student = distill(SVC(), X, y, max_us_per_row=5.0, **QUICK)
    (chosen,) = [one for one in student.record_ if one["is_chosen"]]
    assert student.report_["model_us"] == chosen["us_per_row"] <= 5.0


def test_nobody_knows_what_noise_holds():
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((240, 2)), rng.integers(0, 2, 240)
    report = distill(RandomForestClassifier(20, random_state=0), X, y, **QUICK).report_
    for name in ("teacher_score", "student_score", "linear_score"):
        assert abs(report[name] - 0.5) < 0.06  # with teachers that know the labels, 0.6 and more


def test_a_teacher_that_finds_nothing_is_learned_from_all_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 2)), rng.integers(0, 2, 100)
    student = distill(SVC(), X, y, **QUICK)  # which says one label everywhere
    assert student.predict(X).shape == (100,)


def test_teachers_of_a_report_have_not_seen_its_rows_nor_the_students():
    X, y = ring(100)
    teacher = read_teacher(SVC(), X, y, None)
    parts = dealt(y, len(y), np.random.RandomState(0))
    models = models_without(teacher, X, y, parts, [2])
    assert set(models) == {(2, k) for k in (0, 1, 3, 4)} | {(k, 2) for k in (0, 1, 3, 4)}
    kept = (parts != 2) & (parts != 4)
    wanted = SVC().fit(X[kept], y[kept]).decision_function(X)
    assert np.allclose(models[2, 4].decision_function(X), wanted)


def test_log_odds_of_several_classes_are_learned_from_copies_of_rows(rng):
    told = rng.dirichlet([2.0, 1.0, 1.0], 60)
    X = rng.standard_normal((60, 2))
    rows = _of_odds(_training(X, told, np.arange(3))[0], 0.05)
    seen = np.where(told >= 0.01, told, 0.0)  # rarer classes have no copy
    wanted = np.log(np.maximum(seen / seen.sum(axis=1, keepdims=True), 0.05))
    wanted -= wanted.mean(axis=1, keepdims=True)
    order = [np.flatnonzero((row == X).all(axis=1))[0] for row in rows.X]
    assert sorted(order) == list(range(60))
    assert np.allclose(rows.targets, wanted[order])
    assert np.allclose(rows.weight, 1.0)
    few = with_odds([LINEAR, Anchors(4, 1.0, 0.1)])
    assert few == [LINEAR, Anchors(4, 1.0, 0.1), OddsAnchors(4, 1.0, 0.1)]
    assert few[2].cost(Shape(60, 4, 3, True)) == few[1].cost(Shape(60, 4, 3, True))
