"""The front door: raw tables in, the best model inside a budget out."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from nearlinear import NearLinearClassifier, NearLinearRegressor, config_context
from nearlinear._compile import compiled
from nearlinear.search import intervals, judging, search
from nearlinear.search.candidates import Anchors
from nearlinear.search.fitting import fit_table
from nearlinear.tables.target_means import TargetMeans


def table(n_rows=300, seed=0):
    """Numbers, text and missing cells; the answer depends on a product and on the text."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "a": rng.standard_normal(n_rows), "b": rng.standard_normal(n_rows),
        "color": rng.choice(["red", "green", "blue"], n_rows),
        "size": rng.choice([1.0, 2.0, np.nan], n_rows),
    })  # fmt: skip
    value = 2 * np.abs(frame["a"]) + frame["b"] + (frame["color"] == "red")
    return frame, value + 0.3 * rng.standard_normal(n_rows)


@pytest.fixture(scope="module")
def fitted():
    X, value = table()
    return NearLinearClassifier(random_state=0).fit(X, np.where(value > 2, "high", "low"))


def test_a_raw_table_is_learned_better_than_by_a_line(fitted):
    X, value = table(600, seed=1)
    y = np.where(value > 2, "high", "low")
    line = fitted.select(max_times_linear=1.0)
    assert [one["model"] for one in line.record_ if one["is_chosen"]] == ["linear"]
    assert fitted.score(X, y) > line.score(X, y) + 0.03
    said = fitted.predict_proba(X)
    assert np.allclose(said.sum(axis=1), 1.0)
    assert log_loss(y, said) < log_loss(y, line.predict_proba(X))
    assert np.array_equal(fitted.classes_[said.argmax(axis=1)], fitted.predict(X))


def test_new_categories_and_missing_cells_are_answered(fitted):
    X, _ = table(20)
    X.loc[0, "color"], X.loc[1, "color"], X.loc[2, "a"] = "violet", None, np.nan
    assert set(fitted.predict(X)) <= {"high", "low"}
    with pytest.raises(ValueError, match="'size'"):
        fitted.predict(X.drop(columns="size"))
    with pytest.raises(ValueError, match="3 features, but NearLinearClassifier is expecting 4"):
        fitted.predict(X.to_numpy()[:, :3])


def test_the_front_holds_what_nothing_beats(fitted):
    front = fitted.front_
    assert front["us_per_row"].is_monotonic_increasing
    assert front["loss"].is_monotonic_decreasing
    assert fitted.results_["is_chosen"].sum() == 1
    assert set(fitted.tried_[0]) >= {"model", "settings", "fit_seconds", "failure"}


def told(point):
    """What a point of the front says, but for what was measured by a clock."""
    return {k: v for k, v in point.items() if not k.endswith(("us", "us_per_row", "seconds"))}


def test_a_fit_repeats_and_travels(fitted):
    X, value = table()
    again = NearLinearClassifier(random_state=0).fit(X, np.where(value > 2, "high", "low"))
    scores = fitted.decision_function(X)
    assert np.array_equal(again.decision_function(X), scores)
    assert [told(one) for one in again.record_] == [told(one) for one in fitted.record_]
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)
    assert isinstance(fitted.best_estimator_, Pipeline)
    assert np.array_equal(fitted.best_estimator_.decision_function(X), scores)


def test_select_keeps_to_budgets_and_leaves_the_model_alone(fitted):
    X, _ = table(50, seed=2)
    before = fitted.decision_function(X)
    cheap = fitted.select(max_bytes=600)
    assert cheap.cost_.n_bytes <= 600
    assert cheap.max_bytes == 600
    knee = fitted.select(knee=True)
    assert knee.cost_.times_linear < fitted.cost_.times_linear
    assert np.array_equal(fitted.decision_function(X), before)
    with pytest.raises(ValueError, match="No fitted model costs at most 1 bytes"):
        fitted.select(max_bytes=1)


def test_a_budget_is_kept_by_the_fit():
    X, value = table()
    model = NearLinearRegressor(max_times_linear=20, random_state=0).fit(X, value)
    assert model.cost_.times_linear <= 20
    assert model.score(*table(300, seed=1)) > 0.7
    with pytest.raises(ValueError, match="No model costs at most 10 bytes: the cheapest takes"):
        NearLinearRegressor(max_bytes=10).fit(X, value)


def test_the_linear_model_stays_where_nothing_is_better():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X @ [1.0, -1.0, 0.5, 0.0, 0.0] + rng.standard_normal(200)
    model = NearLinearRegressor(random_state=0).fit(X, y)
    (chosen,) = [one["model"] for one in model.record_ if one["is_chosen"]]
    assert chosen == "linear"


def test_weights_are_copies_of_encoded_rows(rng):
    X = rng.standard_normal((80, 2))
    y = (np.abs(X[:, 0]) + X[:, 1] > 1).astype(int)
    weight = rng.integers(0, 3, 80)
    few = {"encoder": None, "random_state": 0, "families": ["piecewise linear", "anchors"]}
    weighted = NearLinearClassifier(**few).fit(X, y, weight)
    copied = NearLinearClassifier(**few).fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    assert np.allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-4)


def test_intervals_hold_new_values():
    X, value = table(2400)
    model = NearLinearRegressor(random_state=0).fit(X[:600], value[:600])
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(X[600:], coverage).T
        share = np.mean((low <= value[600:]) & (value[600:] <= high))
        assert abs(share - coverage) < 0.07
    regions = model.coverage_by_region(X[600:], value[600:])
    assert len(regions) == 5
    assert regions["rows"].sum() == 1800
    assert regions["coverage"].min() > 0.7


def test_few_rows_make_no_promise():
    X, value = table(60)
    model = NearLinearRegressor(random_state=0).fit(X, value)
    assert np.all(np.isinf(model.predict_interval(X, 0.999)))


def test_several_outputs(rng):
    X, value = table()
    Y = np.column_stack([value, -2 * value + X["b"]])
    model = NearLinearRegressor(random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.8
    assert model.predict_interval(X).shape == (len(X), 2, 2)


def test_any_scorer_can_choose():
    X, value = table()
    y = (value > 3).astype(int)
    for scoring in ("roc_auc", "balanced_accuracy", "neg_log_loss"):
        model = NearLinearClassifier(scoring=scoring, families=["anchors"]).fit(X, y)
        assert model.score(X, y) > 0.6
    found = cross_val_score(NearLinearClassifier(families=["anchors"]), X, y, cv=3)
    assert found.mean() > 0.8


@pytest.mark.parametrize(
    ("name", "similar"),
    [("acnhors", "anchors"), ("boosted-tree", "boosted trees"), ("Linear", "linear")],
)
def test_a_misspelled_family_is_corrected(name, similar):
    X, value = table(40)
    with pytest.raises(ValueError, match=f"got '{name}', did you mean '{similar}'"):
        NearLinearRegressor(families=[name]).fit(X, value)


def test_wishes_that_cannot_be_met_are_told():
    X, value = table(40)
    with pytest.raises(
        ValueError, match=r"families must be a list of names from linear.*; got 'forests'"
    ):
        NearLinearClassifier(families=["forests"]).fit(X, value > 2)
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        NearLinearRegressor(families=["anchors"]).fit(X, value).predict_interval(X, 1.5)


def test_microseconds_are_forecast_and_measured(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    X, value = table()
    y = (value > 2).astype(int)
    model = NearLinearClassifier(max_us_per_row=1e4, random_state=0).fit(X, y)
    assert (tmp_path / "nearlinear" / "speed.json").exists()
    assert all(one["us_per_row"] > 0 for one in model.record_)
    (tmp_path / "nearlinear" / "speed.json").write_text("{not json")
    assert search.machine_speed().ns["linear"][1] > 0


def test_an_average_is_the_mean_of_its_members(fitted):
    X, _ = table(30, seed=3)
    found = fitted._state
    if len(found.blend.places) == 1:
        pytest.skip("a single model was chosen")
    Z = fitted.encoder_.transform(X).astype(np.float32)
    chosen = [found.members[place] for place in found.blend.places]
    parts = [m.calibration(m.predictor(Z).astype(float)) for m in chosen]
    mean = sum(w * part for w, part in zip(found.blend.weights, parts, strict=True))
    assert np.allclose(fitted.predict_proba(X), mean, atol=1e-5)


def test_the_linear_member_is_scikit_learns():
    X, value = table()
    y = (value > 2).astype(int)
    model = NearLinearClassifier(max_times_linear=1, random_state=0).fit(X, y)
    Z = model.encoder_.transform(X)
    wanted = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(Z, y).decision_function(Z)
    assert np.allclose(model.decision_function(X), wanted, atol=1e-3)


def test_what_cannot_be_learned_is_told_in_a_sentence():
    X, value = table(60)
    y = np.r_[2, 2, np.arange(58) % 2]
    with pytest.raises(ValueError, match="Class 2 has no row of positive weight"):
        NearLinearClassifier().fit(X, y, np.r_[0, 0, np.ones(58)])
    with pytest.raises(ValueError, match="X holds NaN: take encoder='auto'"):
        NearLinearRegressor(encoder=None).fit([[1.0], [np.nan]] * 30, value)
    mixed = np.array([1, "a"] * 30, dtype=object)
    with pytest.raises(ValueError, match="y mixes labels of several types"):
        NearLinearClassifier().fit([[1.0], [2.0]] * 30, mixed)
    with pytest.raises(ValueError, match="y contains NaN"):
        NearLinearClassifier().fit([[1.0], [2.0]] * 30, np.array(["a", None] * 30, dtype=object))


def test_labels_for_values_and_values_for_labels_are_told_once(rng):
    X = rng.standard_normal((90, 2))
    with pytest.raises(ValueError, match="y has 'blue' in row 1, and a regressor learns numbers"):
        NearLinearRegressor().fit(X, ["1", *["blue"] * 89])
    days = pd.Series(pd.date_range("2024-05-31", periods=90))
    spans = days - days[0]
    for dates in (days, days.to_numpy(), days.dt.tz_localize("UTC"), days.dt.date, days.to_frame()):
        with pytest.raises(ValueError, match=r"y has the date 2024-05-31.* in row 0, and a regr"):
            NearLinearRegressor().fit(X, dates)
    for duration in (spans, spans.to_numpy()):
        with pytest.raises(ValueError, match=r"y has the duration 0.* give numbers of a unit"):
            NearLinearRegressor().fit(X, duration)
    y = np.arange(90) // 1.5  # few rows have the same, and fewer in a part of them
    with pytest.warns(UserWarning) as told:
        NearLinearClassifier(families=["linear"], random_state=0).fit(X, y)
    (only,) = told
    assert str(only.message).startswith("y has 60 different numbers in 90 rows, each of which is")
    assert "take NearLinearRegressor if they are amounts" in str(only.message)


def test_values_far_from_zero_keep_their_digits():
    X, value = table()
    model = NearLinearRegressor(random_state=0).fit(X, 1e9 + value)
    assert model.score(X, 1e9 + value) > 0.8


def test_the_time_of_a_model_is_that_of_predict(monkeypatch):
    predictions = []

    def measured_us(predict, X, **options):
        predictions.append(predict(X))
        return 1.0

    monkeypatch.setattr(search, "measured_us", measured_us)
    X, value = table()
    y = np.where(value > 2, "high", "low")
    NearLinearClassifier(families=["linear"], random_state=0).fit(X, y)
    assert {label for labels in predictions for label in labels} == {"high", "low"}


def test_a_budget_that_nothing_keeps_is_said_aloud(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(search, "measured_us", lambda *_, **options: 99.0)
    X, value = table(60)
    with pytest.warns(UserWarning, match="No model that was fitted keeps to 50 µs a row"):
        NearLinearRegressor(max_us_per_row=50, random_state=0).fit(X, value)


def test_scorers_see_weights_and_bear_a_rare_class():
    X, value = table(200)
    y = (value > 2).astype(int)
    y[:2] = 2  # too few for every fold
    model = NearLinearClassifier(scoring="neg_log_loss", random_state=0).fit(X, y)
    assert set(model.classes_) == {0, 1, 2}
    said = judging._Said(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1]))
    scorer = get_scorer("accuracy")
    assert judging._scored(scorer, said, np.array([0, 1]), np.array([99.0, 1.0])) == 0.99


def test_tied_answers_make_no_small_regions():
    edges = intervals._edges(np.repeat([0.0, 1.0, 2.0], [400, 50, 150]))
    counts = np.bincount(np.searchsorted(edges, np.repeat([0.0, 1.0, 2.0], [400, 50, 150])))
    assert counts.min() >= 100
    assert intervals._ranked(np.array([3.0, 1.0]), np.array([1.0, 3.0])).tolist() == [1, 1, 1, 3]


def test_copies_of_rows_are_held_out_as_other_rows_are():
    rng = np.random.default_rng(0)
    columns = {"g": ["a", "b"], "h": ["u", "v"], "k": ["x", "y", "z"]}
    X = pd.DataFrame({name: rng.choice(words, 1000) for name, words in columns.items()})
    y = ((X["g"] == "a") ^ (X["h"] == "u")) ^ (rng.random(1000) < 0.1)
    model = NearLinearClassifier(random_state=0).fit(X[:700], y[:700])
    (chosen,) = [one for one in model.record_ if one["is_chosen"]]
    assert abs(chosen["score"] - 0.9) < 0.05
    assert model.score(X[700:], y[700:]) > 0.85


def test_levels_are_encoded_once_in_a_round_and_say_nothing_of_noise(monkeypatch):
    split, calls, scores = TargetMeans.split, [], []

    def counted(*arguments):
        calls.append(arguments)
        return split(*arguments)

    monkeypatch.setattr(TargetMeans, "split", counted)
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"level": [f"v{k}" for k in rng.integers(0, 150, 300)]})
        model = NearLinearClassifier(families=["anchors"], random_state=0)
        model.fit(X, np.arange(300) % 2)
        scores.append(max(one["score"] for one in model.record_))
    assert len(calls) == 8 * 5  # folds
    assert np.mean(scores) < 0.515  # with means of all rows 0.529


def test_a_model_that_needs_more_memory_than_there_is_fails_and_says_so():
    X, value = table()
    X = X[["a", "b"]].to_numpy()
    few = {"families": ["kernel machine", "anchors"], "random_state": 0}
    with config_context(max_memory=2e5):
        model = NearLinearRegressor(**few).fit(X, value)
    failures = {one["model"]: one["failure"] for one in model.tried_}
    assert failures["kernel machine"].startswith("This fit needs about")
    assert failures["linear"] is failures["anchors"] is None
    assert "kernel machine" not in {one["model"] for one in model.record_}
    with config_context(max_memory=1e3), pytest.raises(MemoryError, match="raise the limit"):
        NearLinearRegressor(**few).fit(X, value)


def test_a_model_that_fails_on_all_rows_is_left_out(monkeypatch):
    X, value = table()
    fit = Anchors.fit

    def failing(self, rows, *rest):
        if len(rows.X) == len(X):
            raise MemoryError("too large")
        return fit(self, rows, *rest)

    monkeypatch.setattr(Anchors, "fit", failing)
    model = NearLinearRegressor(families=["anchors"], random_state=0).fit(X, value)
    assert [one["model"] for one in model.record_] == ["linear"]
    assert {one["model"]: one["failure"] for one in model.tried_}["anchors"] == "too large"


def test_compiling_is_told_before_it_is_done(monkeypatch, tmp_path):
    fit, told = Anchors.fit, []

    @compiled
    def increment(number):
        return number + 1

    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    def compiling(*arguments):
        increment(1)
        increment(1.0)
        told.append("compiled")
        return fit(*arguments)

    monkeypatch.setattr(Anchors, "fit", compiling)
    X, value = table(60)
    model = NearLinearRegressor(families=["anchors"])
    fit_table(model, X, value, None, lambda step, figures: told.append(step))
    place = told.index("compiling anchors, once on this machine")
    assert told[place + 1] == "compiled"
