"""Parts of the search against plain references."""

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

from nearlinear import NearLinearClassifier, NearLinearRegressor
from nearlinear.estimators._base.input import fit_rows
from nearlinear.estimators._base.rows import copies_of
from nearlinear.search.averaging import Blend, greedy, guarded, mean_and_error
from nearlinear.search.budgets import Budget, Price
from nearlinear.search.candidates import (
    Additive,
    Anchors,
    Bagged,
    Boosted,
    Hinges,
    Kernels,
    Shape,
    Trees,
)
from nearlinear.search.encoding import encoded, splitter
from nearlinear.search.families import FAMILIES
from nearlinear.search.fits.forecasts import Pace
from nearlinear.search.found import Found, Member
from nearlinear.search.front import front, knee, measured_front
from nearlinear.search.judging import ClassJudge, ValueJudge
from nearlinear.search.portfolio import LINEAR, portfolio
from nearlinear.search.rounds import rounds_of


def rows_of(X, y, is_classification=True):
    model = NearLinearClassifier() if is_classification else NearLinearRegressor()
    return fit_rows(model, X, y)


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((150, 3))
    X[:, 2] = np.round(X[:, 2])
    return X, np.abs(X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(150)


@pytest.mark.parametrize("is_classification", [True, False])
def test_anchors_with_a_root_reach_the_optimum(problem, is_classification):
    X, value = problem
    rows = rows_of(X, value > 1 if is_classification else value, is_classification)
    predictor = Anchors(6, 0.5, 2.0).fit(rows, 0, None)
    # the same model as a linear one on features that are written out
    gate = predictor.gate
    values = np.zeros((len(rows.X), len(gate.anchors)))
    indices, codes = gate.codes(rows.X)
    np.put_along_axis(values, indices, codes, axis=1)
    seen = np.column_stack([rows.X, np.ones(len(rows.X))])
    local = 0.5 * (values[:, :, None] * seen[:, None, :]).reshape(len(seen), -1)
    features = np.hstack([seen, local])
    if is_classification:
        model = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=5000)
        wanted = model.fit(features, rows.labels).decision_function(features)
    else:
        center = rows.targets.mean()
        model = Ridge(alpha=0.5, fit_intercept=False).fit(features, rows.targets[:, 0] - center)
        wanted = model.predict(features) + center
    assert np.allclose(predictor(rows.X)[:, 0], wanted, atol=0.02 * np.abs(wanted).max())


@pytest.mark.parametrize("is_classification", [True, False])
def test_costs_are_known_before_the_fit(problem, is_classification):
    X, value = problem
    rows = rows_of(X, value > 1 if is_classification else value, is_classification)
    shape = Shape(*rows.X.shape, 1, is_classification)
    for one in (Additive(1.0), Additive(1.0, 5), Anchors(10, 1.0, 0.1), Boosted(10, 8, 0.1)):
        told, found = one.cost(shape), one.fit(rows, 0, None).cost
        assert 0.4 < told.multiply_adds / found.multiply_adds < 2.5, one


def test_greedy_averages_find_what_trying_everything_finds(rng):
    labels = rng.integers(0, 2, 200)
    judge = ClassJudge(labels, np.ones(200), 2)
    answers = []
    for _ in range(4):
        p = np.clip(0.5 + 0.25 * (2 * labels - 1) + 0.3 * rng.standard_normal(200), 0.05, 0.95)
        answers.append(np.column_stack([1 - p, p]))
    price = Price(1.0, 1.0, 1.0, 1)
    found = greedy(answers, judge, [price] * 4, Budget())
    loss = judge.mean(found.answers(answers))
    every = [Blend.of(picks) for picks in combinations_with_replacement(range(4), 4)]
    best = min(judge.mean(b.answers(answers)) for b in every if len(b.places) <= 3)
    assert len(found.places) <= 3
    assert loss < best + 0.005
    assert loss < min(judge.mean(one) for one in answers)


def test_a_front_holds_what_nothing_dominates(rng):
    points = [(float(us), float(loss)) for us, loss in rng.integers(1, 9, (30, 2))]

    def is_beaten(one):
        return any(us <= one[0] and loss <= one[1] and (us, loss) != one for us, loss in points)

    places = front(points)
    assert {points[p] for p in places} == {one for one in points if not is_beaten(one)}
    assert [points[p] for p in places] == sorted(points[p] for p in places)
    assert knee([(1.0, 9.0), (2.0, 2.0), (100.0, 1.0), (50.0, 5.0)]) == 1
    assert knee([(1.0, 9.0), (3.0, 2.0)]) == 1  # two points do not bend
    assert knee([]) is None


def test_noise_of_the_clock_keeps_no_point_on_a_front(rng):
    points = [(0.0119, 0.7), (0.0125, 0.6), (0.05, 0.5), (1.0, 0.2), (1.1, 0.3)]
    for _ in range(20):
        noisy = [(us * rng.uniform(0.95, 1.05), loss) for us, loss in points]
        assert measured_front(noisy) == [1, 2, 3]


def test_the_knee_is_a_point_of_the_front_averages_among_them():
    truth = np.zeros((40, 1))
    truth[::2] = 1.0
    judge = ValueJudge(truth, np.ones(40))
    errors = [np.tile([0.9], (40, 1)), np.tile([[0.4], [0.4]], (20, 1)), -np.full((40, 1), 0.4)]
    members = [
        Member(LINEAR, None, None, truth + error, Price(us, us, us, 1), 0.0)
        for error, us in zip(errors, (1.0, 1.5, 1.5), strict=True)
    ]
    slow = Member(LINEAR, None, None, truth, Price(900.0, 900.0, 900.0, 1), 0.0)
    found = Found((*members, slow), judge, Blend.of([1, 1, 2]), 0, np.arange(40))
    points = found.points(found.blend)
    assert [one["on_front"] for one in points] == [True, True, False, True, True]
    assert found.knee(Budget()) == found.blend  # 3 µs, and nearly all that 900 bring
    assert found.knee(Budget(us=2.0)) == Blend.alone(1)
    assert found.knee(Budget(us=0.5)) is None


def test_averages_keep_to_the_sum_of_costs(rng):
    labels = rng.integers(0, 2, 50)
    sure = np.where(np.arange(2) == labels[:, None], 0.9, 0.1)
    judge = ClassJudge(labels, np.ones(50), 2)
    prices = [Price(5.0, 1.0, 1.0, 10), Price(50.0, 9.0, 9.0, 90)]
    budget = Budget(times_linear=10.0)
    assert greedy([np.full((50, 2), 0.5), sure], judge, prices, budget).places == (0,)
    assert greedy([sure, sure], judge, prices, Budget(n_bytes=5)) is None


def test_calibrated_margins_are_probabilities(rng):
    score = rng.standard_normal(4000)
    labels = (rng.random(4000) < 1 / (1 + np.exp(-(2 * score + 0.5)))).astype(int)
    judge = ClassJudge(labels, np.ones(4000), 2)
    answers, calibration = judge.answers(Kernels(1.0), score[:, None])
    assert abs(-calibration.slopes[0] - 2) < 0.3
    assert abs(answers[:, 1].mean() - labels.mean()) < 0.01


def test_standard_errors_count_rows():
    values, counts = np.array([0.0, 1.0]), np.array([50.0, 50.0])
    assert mean_and_error(values, counts, counts) == (0.5, 0.05)
    assert mean_and_error(np.repeat(values, 50), np.ones(100), np.ones(100)) == (0.5, 0.05)
    heavy = mean_and_error(values, np.array([99.0, 1.0]), np.ones(2))  # one row decides
    assert heavy[1] > 0.01
    judge = ValueJudge(np.array([[1.0], [3.0]]), np.ones(2))
    assert judge.score(np.array([[1.0], [3.0]])) == (1.0, 0.0)


def test_every_class_stays_in_training(rng):
    labels = np.r_[np.zeros(40, int), np.ones(40, int), [2]]
    rows = rows_of(rng.standard_normal((81, 2)), labels)
    rounds, is_nested = rounds_of(rows, copies_of(rows, 1000), np.random.RandomState(0))
    assert len(rounds) == 5
    assert not is_nested
    for one in rounds:
        assert set(rows.labels[one.kept]) == {0, 1, 2}
        assert not set(one.kept) & set(one.held)
    held = np.concatenate([one.held for one in rounds])
    assert len(held) == len(set(held)) == 80


def test_many_rows_are_first_judged_on_a_sample(rng):
    rows = rows_of(rng.standard_normal((30_000, 1)), rng.integers(0, 2, 30_000))
    rounds, is_nested = rounds_of(rows, copies_of(rows, 1000), np.random.RandomState(0))
    assert is_nested
    assert len(rounds[0].kept) < 20_100 < len(rounds[1].kept)
    assert np.array_equal(rounds[0].held, rounds[1].held)


def test_unlike_families_are_tried():
    small, large = Shape(500, 10, 1, True), Shape(100_000, 10, 1, True)
    for shape in (small, large):
        found = portfolio(shape, False, False)
        assert LINEAR in found
        assert {one.family for one in found} >= {
            "linear", "piecewise linear", "anchors", "boosted trees", "random forest",
            "hinge units",
        }  # fmt: skip
        inside_a_budget = portfolio(shape, False, True)
        assert _largest(found) == _largest(inside_a_budget)
    assert any(isinstance(one, Kernels) for one in portfolio(small, False, False))
    assert not any(isinstance(one, Kernels) for one in portfolio(large, False, False))
    assert any(isinstance(one, Trees) for one in portfolio(small, False, True))
    for name in FAMILIES:
        assert name in [one.family for one in portfolio(small, False, False, families=[name])]
    sparse = portfolio(small, True, False)
    assert not any(isinstance(one, Boosted | Bagged) for one in sparse)


def _largest(candidates):
    return max(one.n_layers * one.n_units for one in candidates if isinstance(one, Hinges))


def test_forecasts_follow_what_fits_have_taken():
    pace, one, other = Pace(Shape(10_000, 30, 4, True)), Hinges(16), Hinges(64, 2)
    assert 2 * pace.seconds(Kernels(1.0), 2_000) < pace.seconds(Kernels(1.0))
    assert pace.seconds(one) < pace.seconds(other)
    before, kernels = pace.seconds(other), pace.seconds(Kernels(1.0))
    pace.note(one, 10_000, 3 * pace.seconds(one))
    assert np.isclose(pace.seconds(other), 3 * before)
    pace.note(one, 10_000, 1e9)  # a fit that has compiled, for example
    assert np.isclose(pace.seconds(other), 5 * before)
    assert np.isclose(pace.seconds(Kernels(1.0)), 2 * kernels)  # of which nothing is known
    words = Shape(10_000, 50_000, 1, True)
    assert Pace(words, filled=80.0).seconds(LINEAR) < 1.0 < Pace(words).seconds(LINEAR)


LEVELS = OneHotEncoder(sparse_output=False, handle_unknown="ignore")


@pytest.mark.parametrize("encoder", ["auto", make_pipeline(LEVELS, SelectKBest(f_regression))])
@pytest.mark.parametrize("is_classification", [True, False])
def test_answers_of_held_out_rows_have_no_say_in_what_is_learned(encoder, is_classification, rng):
    X = pd.DataFrame({"level": [f"v{k}" for k in rng.integers(0, 40, 200)]})
    y = rng.integers(0, 3, 200) if is_classification else rng.standard_normal(200)
    kind = NearLinearClassifier if is_classification else NearLinearRegressor
    model = kind(encoder=encoder)
    kept, held = np.arange(150), np.arange(150, 200)
    others = np.r_[y[:150], rng.permutation(y[150:])]
    found = []
    for answers in (y, others):
        fitted, Z, _ = encoded(model, X, answers)
        found.append(splitter(fitted, X, answers, Z)(kept, held))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])
    if encoder == "auto":
        means = TargetEncoder().fit(X[:150], y[:150]).transform(X[150:])
        for column in means.T:  # those of the others, up to a scale
            assert np.abs(np.corrcoef(column, found[0][1].T)[0, 1:]).max() > 0.9999


def test_columns_that_do_not_hang_on_answers_are_encoded_once(rng):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    for encoder in ("auto", StandardScaler()):
        fitted, Z, _ = encoded(NearLinearClassifier(encoder=encoder), X, y)
        assert splitter(fitted, X, y, Z) is None


def judged_by(scoring, rng, n_rows=400):
    """A judge, and answers: a line's, a sharper one's of the same labels, and of better labels."""
    labels = rng.integers(0, 2, n_rows)
    judge = ClassJudge(
        labels, np.ones(n_rows), 2, None if scoring is None else get_scorer(scoring), np.arange(2)
    )
    is_right = rng.random(n_rows) < 0.7
    said = np.where(is_right, labels, 1 - labels)
    line = np.where(np.arange(2) == said[:, None], 0.55, 0.45)
    sharper = np.where(np.arange(2) == said[:, None], 0.7, 0.3)
    said = np.where(is_right | (rng.random(n_rows) < 0.4), labels, 1 - labels)
    better = np.where(np.arange(2) == said[:, None], 0.99, 0.01)  # and over-sure: log loss is worse
    return judge, [line, sharper, better]


def test_the_linear_model_is_guarded_by_what_was_asked_for(rng):
    judge, answers = judged_by(None, rng)
    assert guarded(Blend.alone(1), 0, answers, judge) == Blend.alone(1)
    assert guarded(Blend.alone(2), 0, answers, judge) == Blend.alone(0)
    for scoring in ("accuracy", "balanced_accuracy"):
        judge, answers = judged_by(scoring, rng)
        assert guarded(Blend.alone(1), 0, answers, judge) == Blend.alone(0)  # the same labels
        assert guarded(Blend.alone(2), 0, answers, judge) == Blend.alone(2)


def test_errors_of_scores_are_those_of_means_where_scores_are_means(rng):
    judge, (line, _, better) = judged_by("accuracy", rng, 4000)
    mean, error = judge.gain(line, better)
    differ = (better.argmax(1) == judge.labels) - 1.0 * (line.argmax(1) == judge.labels)
    assert mean == pytest.approx(differ.mean())
    assert error == pytest.approx(differ.std() / np.sqrt(4000), rel=0.3)
    values = rng.standard_normal((4000, 1))
    judge = ValueJudge(values, np.ones(4000), get_scorer("neg_mean_absolute_error"))
    near, far = values + 0.5, values + rng.standard_normal((4000, 1))
    mean, error = judge.gain(far, near)
    differ = np.abs(far - values) - 0.5
    assert mean == pytest.approx(differ.mean())
    assert error == pytest.approx(differ.std() / np.sqrt(4000), rel=0.3)
