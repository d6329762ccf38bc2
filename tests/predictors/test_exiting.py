"""Forests that rows leave after any tree, and cascades of models: batches and all targets."""

import numpy as np
import pytest
from forests import FORESTS, forest_and_rows, held
from grids import in_one_test
from scipy.sparse import csr_matrix
from shipping import assert_ships

from nearlinear import Cascade
from nearlinear.estimators._base.model import Training
from nearlinear.predictors.base import leads
from nearlinear.predictors.cascaded import Cascaded
from nearlinear.predictors.exiting import Exiting, first_trees
from nearlinear.single_row.makers import Scratch


def exiting(name, dtype=np.float32, n_rows=300):
    """A forest whose rows leave after two of three trees, and rows for it."""
    forest, X = forest_and_rows(name, dtype, n_rows)
    n_trees = forest.gate.n_trees
    sums = [leads(first_trees(forest, n).plain(X)) for n in range(1, n_trees)]
    # not on a lead that some row has: there rounding decides
    limits = [float(np.quantile(one, 0.7)) + 1e-3 for one in sums]
    limits = tuple(np.inf if t % 3 == 1 else limit for t, limit in enumerate(limits))
    return Exiting(forest, limits, (1.0 / n_trees,) * n_trees), X


@pytest.mark.passes
@in_one_test("name", list(FORESTS))
def test_scores_are_the_sums_of_the_first_trees(name):
    for dtype in (np.float32, np.float64):
        model, X = exiting(name, dtype, 70)
        eps = 10 * np.finfo(dtype).eps
        scores, stops = model(X), model.stops(X)
        np.testing.assert_allclose(scores, model.plain(X), rtol=eps, atol=eps)
        for t in np.unique(stops):
            own = stops == t
            first = first_trees(model.forest, int(t) + 1)(X[own])
            np.testing.assert_allclose(scores[own], first, rtol=eps, atol=eps)


def test_some_rows_leave_at_each_finite_threshold():
    model, X = exiting("pairs", n_rows=3000)
    met = np.bincount(model.stops(X), minlength=6) > 0
    assert met.tolist() == [limit < np.inf for limit in (*model.thresholds, 0.0)]


@in_one_test("name", ["plain", "three outputs", "wide"])
def test_with_infinite_thresholds_it_is_the_forest(name):
    forest, X = forest_and_rows(name)
    n_trees = forest.gate.n_trees
    model = Exiting(forest, (np.inf,) * (n_trees - 1), (0.0,) * (n_trees - 1) + (1.0,))
    np.testing.assert_array_equal(model(X), forest(X))
    assert model.cost == forest.cost


def test_rows_may_be_sparse_and_threads_change_no_bit():
    model, X = exiting("plain", n_rows=3000)
    np.testing.assert_array_equal(model(X, n_jobs=2), model(X))
    np.testing.assert_array_equal(model(csr_matrix(X)), model(X))


def test_the_cost_is_a_mean_with_its_spread():
    forest, _ = forest_and_rows("plain")
    n_trees = forest.gate.n_trees
    shares = np.zeros(n_trees)
    shares[[0, -1]] = 0.75, 0.25
    paid = np.cumsum(forest.costs_of_trees) + forest.cost_before_trees
    cost = Exiting(forest, (1.0,) * (n_trees - 1), tuple(shares)).cost
    assert cost.multiply_adds == int(0.75 * paid[0] + 0.25 * paid[-1])
    assert cost.spread == pytest.approx(np.sqrt(0.75 * 0.25) * (paid[-1] - paid[0]))


@in_one_test("name", ["missing", "sets", "three outputs", "vector", "slopes"])
def test_every_target_leaves_where_it_should(name, tmp_path):
    model, X = exiting(name, n_rows=120)
    assert_ships(held(model), X, tmp_path)


def test_an_explanation_has_the_leaves_that_a_row_has_met():
    model, X = exiting("pairs")
    found, stops = held(model).explain(X), model.stops(X)
    assert np.array_equal((found.active >= 0).sum(axis=1), stops + 1)
    assert np.array_equal(found.gates > 0, found.active >= 0)


# --- cascades -----------------------------------------------------------------------------------


def cascade(name="plain"):
    """The first trees of a forest, the forest with exits, and all of it."""
    model, X = exiting(name)
    first = first_trees(model.forest, 2)
    limits = (float(np.quantile(leads(first(X)), 0.6)) + 1e-3, 2.0)
    return Cascaded((first, model, model.forest), limits, (0.4, 0.3, 0.3)), X


def as_cascade(predictor):
    """A fitted model with this predictor."""
    model = Cascade()
    model.predictor_, model.n_features_in_ = predictor, predictor.n_features
    model.classes_, model.loss_ = np.arange(max(2, predictor.n_outputs)), "margin"
    model._training = Training(10)
    return model


def test_a_row_has_the_scores_of_the_stage_it_stops_at():
    model, X = cascade()
    stops, scores = model.stops(X), model(X)
    assert set(stops) == {0, 1, 2}
    for number, stage in enumerate(model.stages):
        np.testing.assert_array_equal(scores[stops == number], stage(X[stops == number]))
        if number < 2:
            assert (leads(scores[stops == number]) >= model.thresholds[number]).all()
    np.testing.assert_allclose(model.plain(X), scores, rtol=1e-6)
    np.testing.assert_array_equal(model(csr_matrix(X)), scores)


def test_a_stage_with_an_infinite_threshold_is_passed_over():
    model, X = cascade()
    never = Cascaded(model.stages, (np.inf, np.inf), (0.0, 0.0, 1.0))
    np.testing.assert_array_equal(never(X), model.stages[-1](X))
    assert set(never.stops(X)) == {2}
    assert never.cost.multiply_adds == model.stages[-1].cost.multiply_adds
    skipped = Cascaded(model.stages, (np.inf, 2.0), (0.0, 0.5, 0.5))
    assert set(skipped.stops(X)) == {1, 2}


def test_the_spread_of_a_cascade_has_that_of_its_stages():
    model, _ = cascade()
    costs = [stage.cost for stage in model.stages]
    paid, shares = np.cumsum([cost.multiply_adds for cost in costs]), np.array(model.shares)
    mean = shares @ paid
    variance = shares @ (paid - mean) ** 2 + 0.6 * costs[1].spread ** 2
    assert model.cost.multiply_adds == int(mean)
    assert model.cost.spread == pytest.approx(np.sqrt(variance))


@in_one_test("name", ["pairs", "vector"])
def test_a_cascade_of_forests_ships(name, tmp_path):
    model, X = cascade(name)
    assert_ships(as_cascade(model), X[:120], tmp_path)


def test_a_single_row_does_not_meet_the_stages_after_the_one_that_answers():
    model, X = cascade()
    stops = model.stops(X)
    scorer = as_cascade(model).compile()
    row = X[np.flatnonzero(stops == 0)[0]]
    scratch = Scratch()
    scorer._row(row, scratch)
    assert list(scratch._arrays) == [0]  # memory of the first stage alone
