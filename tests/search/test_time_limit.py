"""A time limit: columns are screened, rows are sampled, and fits that would be late are skipped."""

import numpy as np
import pandas as pd
import pytest

import nearlinear
from nearlinear import NearLinearClassifier, NearLinearRegressor, TableEncoder
from nearlinear.search import budgets, fitting, search, time_plan, trials
from nearlinear.search.budgets import Clock
from nearlinear.search.candidates import Shape
from nearlinear.search.encoding import encode_table
from nearlinear.search.fits.forecasts import Pace
from nearlinear.search.fitting import fit_table
from nearlinear.search.portfolio import portfolio
from nearlinear.search.screening import relevance

WIDE = (200, 2_000)
DECISIVE = 17


@pytest.fixture
def ticking(monkeypatch):
    """A clock on which each reading takes 10 ms, whatever the load of the machine."""
    readings = [0.0]

    def read():
        readings[0] += 0.01
        return readings[0]

    monkeypatch.setattr(budgets, "perf_counter", read)
    monkeypatch.setattr(budgets, "compile_seconds", lambda: 0.0)
    monkeypatch.setattr(trials, "perf_counter", read)
    monkeypatch.setattr(search, "portfolio", portfolio)
    return readings


@pytest.fixture
def frozen(monkeypatch):
    """Seconds on a clock that stands still unless a test moves it."""
    return freeze(monkeypatch)


def freeze(patch):
    now = [0.0]
    patch.setattr(search, "portfolio", portfolio)
    for module in (budgets, trials):
        patch.setattr(module, "perf_counter", lambda: now[0])
        patch.setattr(module, "compile_seconds", lambda: 0.0)
    return now


def wide_rows(seed, n_rows=WIDE[0]):
    return np.random.default_rng(seed).standard_normal((n_rows, WIDE[1]))


def wide_frame(X, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    frame.insert(0, "color", rng.choice(["red", "green", "blue"], len(X)))
    frame.insert(5, "city", rng.choice([f"v{k}" for k in range(40)], len(X)))
    return frame


@pytest.mark.filterwarnings("ignore:3 s for the search were too few:UserWarning")
def test_the_column_that_decides_is_found_inside_a_time_limit(ticking):
    X, new = wide_rows(0), wide_rows(1, 1_000)
    model = NearLinearClassifier(time_limit=3, random_state=0).fit(X, X[:, DECISIVE] > 0)
    assert model.score(new, new[:, DECISIVE] > 0) > 0.9
    assert len(model.encoder_.dropped_) == WIDE[1] - 100


@pytest.mark.filterwarnings("ignore:.* for the search were too few:UserWarning")
def test_the_column_that_decides_is_found_if_encoding_takes_all_of_the_time(frozen, monkeypatch):
    def encode(*arguments):
        frozen[0] = 4.0
        return encode_table(*arguments)

    monkeypatch.setattr(fitting, "encode_table", encode)
    X, new = wide_rows(0), wide_rows(1, 500)
    model = NearLinearClassifier(time_limit=3, random_state=0).fit(X, X[:, DECISIVE] > 0)
    assert model.score(new, new[:, DECISIVE] > 0) > 0.9
    assert sum(bool(one["rounds"]) for one in model.tried_) < 6


@pytest.fixture(scope="module")
def screened():
    """A model of a wide table with categories, strings and weights, and new rows."""
    with pytest.MonkeyPatch.context() as patch:
        freeze(patch)
        X, weight = wide_frame(wide_rows(0), 0), np.random.default_rng(5).uniform(1, 2, WIDE[0])
        model = NearLinearClassifier(families=["decision tree"], time_limit=0.3, random_state=0)
        model.fit(X, np.where(X["c17"] > 0, "yes", "no"), sample_weight=weight)
    new = wide_frame(wide_rows(1, 500), 1)
    return model, new


def test_a_wide_table_with_categories_is_screened(screened):
    model, new = screened
    assert np.mean(model.predict(new) == np.where(new["c17"] > 0, "yes", "no")) > 0.9
    assert "c17" not in model.encoder_.dropped_
    assert model.encoder_.transform(new).shape[1] == model.predictor_.n_features <= 100
    (reason,) = set(model.encoder_.dropped_.values())
    assert "screened out" in reason


def test_encoded_columns_of_one_raw_column_are_screened_together(frozen):
    X = wide_frame(wide_rows(0), 0)
    X.loc[::7, "c17"] = np.nan  # a missing indicator
    encoder = TableEncoder(pieces=5)  # splines
    model = NearLinearClassifier(
        families=["decision tree"], time_limit=0.3, encoder=encoder, random_state=0
    )
    model.fit(X, X["c17"].fillna(-1.0) > 0)
    names = set(model.encoder_.get_feature_names_out())
    assert {"c17", "missingindicator_c17", "c17_sp_0", "c17_sp_4"} <= names
    assert len(names) == model.predictor_.n_features <= 100


def test_screened_columns_may_be_missing_in_new_rows(screened):
    model, new = screened
    fewer = new.drop(columns=list(model.encoder_.dropped_))
    assert np.array_equal(model.predict_proba(fewer), model.predict_proba(new))


def test_a_screened_model_is_saved_selected_and_explained(screened, tmp_path):
    model, new = screened
    nearlinear.save(model, tmp_path / "model.nlm")
    loaded = nearlinear.load(tmp_path / "model.nlm")
    assert np.array_equal(loaded.predict_proba(new), model.predict_proba(new))
    line = model.select(max_times_linear=1.0)
    assert line.predictor_.n_features == model.predictor_.n_features
    contributions = line.explain(new[:3]).contributions
    assert contributions.shape == (3, 1, new.shape[1])
    unused = [new.columns.get_loc(name) for name in model.encoder_.dropped_]
    assert np.all(contributions[:, 0, unused] == 0.0)
    assert np.any(contributions[:, 0, new.columns.get_loc("c17")] != 0.0)


def test_a_regression_is_screened(frozen):
    X, new = wide_rows(0), wide_rows(1, 500)
    model = NearLinearRegressor(families=["decision tree"], time_limit=0.3, random_state=0)
    model.fit(X, np.sign(X[:, DECISIVE]))
    assert model.score(new, np.sign(new[:, DECISIVE])) > 0.9
    assert len(model.encoder_.dropped_) == WIDE[1] - 100


def test_columns_are_selected_without_the_validation_rows(frozen):
    """Selected by all rows, 100 of 2,000 columns of noise classify a part of them well."""
    X, y = wide_rows(0), np.random.default_rng(2).integers(0, 2, WIDE[0])
    model = NearLinearClassifier(families=["linear"], time_limit=0.1, random_state=0).fit(X, y)
    assert len(model.encoder_.dropped_) == WIDE[1] - 100
    assert max(one["score"] for one in model.record_) < 0.62


def test_without_a_time_limit_no_column_is_screened():
    X = wide_rows(0)[:60, :400]
    model = NearLinearClassifier(families=["linear"], random_state=0).fit(X, X[:, DECISIVE] > 0)
    assert not model.encoder_.dropped_


def test_relevance_is_a_squared_correlation_with_a_column_or_its_distance_from_the_mean(rng):
    X, weight = rng.standard_normal((50, 3)), rng.uniform(1, 2, 50)
    y = np.abs(X[:, 1] - np.average(X[:, 1], weights=weight))[:, None] + X[:, [0]]
    centered = X - np.average(X, axis=0, weights=weight)

    def squared_correlation(column):
        (a, b), (_, c) = np.cov(column, y[:, 0], aweights=weight)
        return b**2 / (a * c)

    expected = [
        max(squared_correlation(X[:, d]), squared_correlation(np.abs(centered[:, d])))
        for d in range(3)
    ]
    assert np.allclose(relevance(X, y, weight), expected)


def test_columns_are_screened_if_there_are_many_and_time_is_short():
    def count(n_rows, n_columns, limit, n_outputs=1):
        return time_plan.max_columns(limit, Shape(n_rows, n_columns, n_outputs, True), None)

    assert count(200, 100, 0.1) is None
    assert count(200, 101, 0.1) == 100
    assert count(200, 5_000, 3.0) == 100
    assert count(200, 5_000, 1e4) is None  # time for all candidates on all columns
    assert count(200, 5_000, None) is None
    assert count(200, 5_000, 20.0, n_outputs=4) == 200  # more classes need more columns
    assert count(2_000, 5_000, 60.0) == 200  # a tenth of the rows


def test_rows_are_sampled_if_there_are_many_and_time_is_short():
    def count(limit, X, families=("linear",)):
        return time_plan.max_rows(limit, X, 1, True, families)

    X = np.zeros((10_000, 20), dtype=np.float32)
    assert count(None, X) is None
    assert count(1.0, X) is None
    assert count(0.1, X) == 4_800  # rows that can be encoded in half of the time
    assert count(0.01, X) == 2_000
    assert count(0.01, X[:2_000]) is None
    texts = pd.DataFrame({"a": ["x"] * 10_000, "b": np.zeros(10_000)})
    assert count(0.02, texts) == 3_266  # a string takes longer than a number
    assert count(1.0, X, families=None) == 5_000  # so that half of the families have a turn


def test_the_first_round_has_fewer_rows_if_time_is_short():
    shape = Shape(100_000, 50, 1, True)
    sizes = [time_plan.first_round_rows(limit, shape, None) for limit in (0.1, 1e4)]
    assert sizes == [2_000, 20_000]


def test_a_model_of_a_sample_knows_all_classes_and_names_its_rows(rng):
    X = rng.standard_normal((20_000, 20))
    y = np.where(X[:, 0] > 0, "high", "low").astype(object)
    y[-1] = "rare"
    model = NearLinearClassifier(families=["linear"], time_limit=0.1, random_state=0)
    with pytest.warns(UserWarning, match="too short for 20,000 rows: .* a sample of 4,8"):
        model.fit(X, y)
    assert list(model.classes_) == ["high", "low", "rare"]
    assert model.record_[0]["fitted_to"].startswith("a sample of 4,8")
    assert model.score(X, y) > 0.95


def test_compiling_does_not_count(frozen, monkeypatch):
    now, compiled = frozen, [0.0]
    monkeypatch.setattr(budgets, "compile_seconds", lambda: compiled[0])
    clock = Clock(3.0)
    now[0], compiled[0] = 60.0, 58.0
    assert clock.left == 1.0
    assert clock.left_with_grace == 1.8
    assert not clock.is_spent


FEW = ["piecewise linear", "anchors"]


def bent(rng, monkeypatch, refit_seconds):
    """Rows that linear models cannot separate; refits of anchors take so many seconds."""

    def seconds(self, one, n_rows=None):
        return refit_seconds if one.family == "anchors" and n_rows is None else 0.0

    monkeypatch.setattr(Pace, "seconds", seconds)
    X = rng.uniform(-1, 1, (300, 2))
    return X, X[:, 0] * X[:, 1] > 0


def families_of(model):
    (chosen,) = [one["model"] for one in model.record_ if one["is_chosen"]]
    return set(chosen.split(" + "))


@pytest.mark.parametrize(("left", "is_refitted"), [(500.0, True), (20.0, False)])
def test_a_member_that_cannot_be_refitted_in_time_is_left_out(
    rng, frozen, monkeypatch, left, is_refitted
):
    now = frozen
    X, y = bent(rng, monkeypatch, 250.0)

    def tell(step, figures):
        if "fit" in figures and figures["fit"].done == figures["fit"].planned:
            now[0] = 1_000.0 - left

    model = NearLinearClassifier(families=FEW, time_limit=1_000, random_state=0)
    fit_table(model, X, y, None, tell)
    assert now[0] > 0.0
    assert ("anchors" in families_of(model)) == is_refitted


@pytest.mark.filterwarnings("ignore:.* for the search were too few:UserWarning")
def test_a_candidate_without_time_for_its_refit_is_not_tried(rng, frozen, monkeypatch):
    X, y = bent(rng, monkeypatch, 25.0)
    model = NearLinearClassifier(families=FEW, time_limit=20, random_state=0).fit(X, y)
    assert not any(one["rounds"] for one in model.tried_ if one["model"] == "anchors")


def test_the_linear_model_is_not_chosen_because_it_alone_saw_the_later_rounds(
    rng, frozen, monkeypatch
):
    """The time ends in the second round, in which the linear model comes first."""
    now = frozen
    X, y = bent(rng, monkeypatch, 1.0)
    n_linear = []

    def tell(step, figures):
        n_linear.append(step.startswith("linear (C 1.0"))
        if sum(n_linear) == 2:
            now[0] = 999.0 - 25.0

    monkeypatch.setattr(Pace, "seconds", lambda self, one, n_rows=None: 9.0)
    model = NearLinearClassifier(families=FEW, time_limit=1_000, random_state=0)
    fit_table(model, X, y, None, tell)
    assert sum(n_linear) == 2
    assert "linear" not in families_of(model)
