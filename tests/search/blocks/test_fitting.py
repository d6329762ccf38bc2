"""The front door from rows in blocks."""

import numpy as np
import pandas as pd
import pytest

import nearlinear
from nearlinear import NearLinearClassifier, NearLinearRegressor, config_context
from nearlinear.search import search, trials
from nearlinear.search.blocks import course, sampling
from nearlinear.search.candidates import Additive, Anchors, Bagged, Boosted, Hinges, Tree, Trees
from nearlinear.streams import from_arrays

N_ROWS, N_SAMPLE = 4000, 1500


@pytest.fixture(autouse=True)
def small_sample(monkeypatch):
    monkeypatch.setattr(sampling, "MOST_SAMPLED", N_SAMPLE)


def offer(monkeypatch, *candidates):
    monkeypatch.setattr(search, "portfolio", lambda *a, **k: [Additive(1.0), *candidates])


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_ROWS, 4)).astype(np.float32)
    value = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(N_ROWS)
    return X, value


def frame(seed=0):
    X, value = rows(seed)
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["town"] = [f"t{k}" for k in rng.integers(0, 200, N_ROWS)]
    table["side"] = rng.choice(["left", "right", None], N_ROWS)
    table.loc[::7, "a"] = np.nan
    return table, value


class Blocks:
    """Parts of a table."""

    def __init__(self, X, y, step=500):
        self.X, self.y, self.block_rows, self.n_parts = X, y, step, -(-len(y) // step)

    def part(self, number):
        mine = slice(number * self.block_rows, (number + 1) * self.block_rows)
        yield self.X[mine], self.y[mine]


def test_rows_that_fit_into_a_block_and_a_half_are_fitted_as_a_table(monkeypatch):
    offer(monkeypatch, Additive(0.3, 4), Anchors(4, 1.0, 0.1))
    X, value = frame()
    X, y = X[:700], np.where(value[:700] > 0, "high", "low")
    model = NearLinearClassifier(random_state=0)
    whole, found = model.fit(X, y).predict_proba(X), None
    found = NearLinearClassifier(random_state=0).fit(Blocks(X, y)).predict_proba(X)
    assert np.array_equal(whole, found)


@pytest.mark.parametrize("task", ["two", "three", "values"])
def test_smooth_models_are_those_of_all_rows_in_memory(task, monkeypatch):
    offer(monkeypatch, Additive(0.01))
    X, y = rows()
    weight, kind, settings = np.random.default_rng(1).random(N_ROWS) + 0.5, NearLinearRegressor, {}
    if task != "values":
        kind, settings = NearLinearClassifier, {"class_weight": "balanced"}
        y = np.digitize(y, [0.0] if task == "two" else [-1.0, 1.0])
    model = kind(encoder=None, random_state=0, **settings)
    found = model.fit(from_arrays(X, y, weight, block_rows=500))._state.members
    whole = model.fit(X, y, weight)._state.members
    assert found[0].fitted_to == "all rows" and model.record_[0]["fitted_to"] == "all rows"
    assert np.abs(found[0].predictor(X) - whole[0].predictor(X)).max() < 2e-3


@pytest.mark.parametrize("candidate", [
    Additive(0.3, 4), Anchors(8, 1.0, 0.1), Hinges(8), Trees(1, 2), Boosted(10, 8, 0.3), Tree(20),
], ids=lambda one: one.family)  # fmt: skip
@pytest.mark.parametrize("is_of_classes", [True, False])
def test_chosen_models_learn_from_all_rows(candidate, is_of_classes, monkeypatch):
    """What is fitted is better, on new rows, than the same fitted to the sample, or as good."""
    offer(monkeypatch, candidate)
    monkeypatch.setattr(search, "best_blend", lambda *a: search.Blend.alone(1))
    (X, value), (X_new, new) = frame(), frame(seed=5)
    kind = NearLinearClassifier if is_of_classes else NearLinearRegressor
    y, y_new = (value > 0, new > 0) if is_of_classes else (value, new)
    model = kind(random_state=0).fit(Blocks(X, y))
    assert {one.fitted_to for one in model._state.members} == {"all rows"}
    monkeypatch.setattr(course.InBlocks, "_of_all", lambda *a: None)
    sampled = kind(random_state=0).fit(Blocks(X, y))
    assert sampled.record_[-1]["fitted_to"] == f"a sample of {N_SAMPLE:,} rows"
    assert model.score(X_new, y_new) > sampled.score(X_new, y_new) - 0.01
    if not is_of_classes:
        low, high = model.predict_interval(X_new, 0.9).T
        assert 0.85 < np.mean((low <= y_new) & (y_new <= high)) < 0.98


def test_chosen_trees_grow_on_more_rows_where_a_budget_bears_it(monkeypatch):
    offer(monkeypatch, Tree(1))
    monkeypatch.setattr(search, "best_blend", lambda *a: search.Blend.alone(1))
    X, value = rows()

    def grown(max_bytes=None):
        door = NearLinearClassifier(encoder=None, max_bytes=max_bytes, random_state=0)
        return door.fit(Blocks(X, value > 0))._state.members[1].predictor

    free = grown()
    held_in = grown(free.cost.n_bytes - 1)
    assert len(free.values) > 2 * len(held_in.values)


def test_what_cannot_learn_in_blocks_says_so(monkeypatch):
    offer(monkeypatch, Bagged(5))
    X, value = rows()
    model = NearLinearClassifier(random_state=0).fit(Blocks(X, value > 0))
    told = {one["model"]: one["fitted_to"] for one in model.tried_}
    assert told == {"linear": "all rows", "random forest": f"a sample of {N_SAMPLE:,} rows"}


def test_it_is_saved_as_ever(tmp_path, monkeypatch):
    offer(monkeypatch, Tree(50))
    X, value = frame()
    model = NearLinearClassifier(random_state=0).fit(Blocks(X, value > 0))
    nearlinear.save(model, tmp_path / "m.nlm")
    assert np.array_equal(
        nearlinear.load(tmp_path / "m.nlm").predict(X[:90]), model.predict(X[:90])
    )


def test_a_class_that_the_sample_lacks_is_learned(monkeypatch):
    offer(monkeypatch)
    X, value = rows()
    y = np.where(value > 0, "high", "low").astype(object)
    y[-3:] = "odd"
    X[-3:] = 30.0
    model = NearLinearClassifier(random_state=0, encoder=None).fit(Blocks(X, y))
    assert model.classes_.tolist() == ["high", "low", "odd"]
    assert model.predict(X[-3:]).tolist() == ["odd"] * 3


class Killed(Exception):
    pass


def test_a_killed_fit_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    offer(monkeypatch, Additive(0.3, 4), Boosted(5, 4, 0.5), Trees(1, 1))
    monkeypatch.setattr(search, "best_blend", lambda *a: search.Blend.of([1, 2, 3]))
    X, value = frame()
    source, path = Blocks(X, value > 0), tmp_path / "fit.npz"
    wanted = NearLinearClassifier(random_state=0).fit(source).predict_proba(X)

    def dies(*arguments):
        raise Killed

    boosted = course.refit_boosted
    monkeypatch.setattr(course, "refit_boosted", dies)
    with pytest.raises(Killed):
        NearLinearClassifier(random_state=0).fit(source, checkpoint=path)
    monkeypatch.setattr(course, "refit_boosted", boosted)
    monkeypatch.setattr(trials.Trials, "run", dies)  # what is in the file is not done again
    monkeypatch.setitem(course._REFITS, Additive, dies)
    model = NearLinearClassifier(random_state=0).fit(source, checkpoint=path)
    assert np.array_equal(model.predict_proba(X), wanted)
    other = NearLinearClassifier(random_state=0, max_times_linear=90)
    with pytest.raises(ValueError, match=r"checkpoint of another fit .max_times_linear"):
        other.fit(source, checkpoint=path)


def test_what_is_wrong_is_one_sentence(monkeypatch):
    offer(monkeypatch)
    X, value = rows()
    with config_context(max_memory=5e4), pytest.raises(MemoryError, match="too few to search on"):
        NearLinearClassifier().fit(Blocks(X, value > 0))
    y = (value > 0).astype(float)
    y[1700] = np.nan
    with pytest.raises(ValueError, match="In the block from row 1,500 on: Input y contains NaN"):
        NearLinearClassifier().fit(Blocks(X, y))
    with pytest.raises(ValueError, match="checkpoint is for rows in blocks"):
        NearLinearClassifier().fit(X, value > 0, checkpoint="x")
    gaps = X.copy()
    gaps[5] = np.nan
    with pytest.raises(ValueError, match="X holds NaN"):
        NearLinearClassifier(encoder=None).fit(Blocks(gaps, value > 0))
