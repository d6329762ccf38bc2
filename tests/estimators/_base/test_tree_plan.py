"""What "auto" stands for, and how parameters and rows become numbers."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear import LDKLClassifier, LDKLRegressor
from nearlinear.estimators._base.input import fit_rows
from nearlinear.estimators._base.tree_coordinates import TreeCoordinates
from nearlinear.estimators._base.tree_plan import tree_plan


def rows_of(n_rows, n_features, form=np.asarray, estimator=LDKLClassifier):
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    return fit_rows(estimator(), form(X), np.arange(n_rows) % 2)


def plan_of(rows, **settings):
    return tree_plan(LDKLClassifier(**settings), rows)


def usual_depth(rows, **settings):
    plan = plan_of(rows, **settings)
    return plan.depth(plan.usual)


@pytest.mark.parametrize(
    ("n_rows", "n_features", "depth"), [(20, 2, 1), (250, 2, 2), (500, 2, 3), (500, 60, 1)]
)
def test_the_usual_depth_grows_with_the_rows_and_shrinks_with_the_features(
    n_rows, n_features, depth
):
    assert usual_depth(rows_of(n_rows, n_features)) == depth


def test_the_usual_depth_of_projected_rows_is_that_of_their_components():
    rows = rows_of(500, 60)
    assert usual_depth(rows, n_components=2) == usual_depth(rows_of(500, 2))


@pytest.mark.parametrize(("n_rows", "size"), [(10, 32), (64 * 50, 50), (10**5, 1024)])
def test_the_usual_batch_is_a_fraction_of_the_rows(n_rows, size):
    assert plan_of(rows_of(n_rows, 1)).batch_size == size


def test_a_batch_has_no_more_rows_than_there_are():
    assert plan_of(rows_of(200, 1), batch_size=500).batch_size == 200


@pytest.mark.parametrize(
    ("settings", "rank"),
    [({}, 32), ({"n_components": None}, None), ({"n_components": 7}, 7), ({"solver": "sgd"}, None)],
    ids=str,
)
def test_wide_rows_are_projected_unless_told_otherwise(settings, rank):
    assert plan_of(rows_of(20, 120), **settings).n_components == rank


def test_narrow_and_sparse_rows_are_not_projected_by_default():
    assert plan_of(rows_of(20, 99)).n_components is None
    assert plan_of(rows_of(20, 120, csr_matrix)).n_components is None


@pytest.mark.parametrize(("n_features", "factor"), [(50, 1.0), (144, 12.0)])
def test_wide_rows_are_shorter_in_the_original_schedule(n_features, factor):
    rows = rows_of(20, n_features)
    original, usual = (
        TreeCoordinates.of(LDKLClassifier(solver=solver), rows).scaling
        for solver in ("sgd", "adam")
    )
    assert original.scale == pytest.approx(factor * usual.scale)


@pytest.mark.parametrize(
    ("estimator", "rates"), [(LDKLClassifier, (0.1, 100.0)), (LDKLRegressor, (0.1, 1.0))]
)
def test_each_solver_has_a_usual_rate(estimator, rates):
    rows = rows_of(20, 2, estimator=estimator)
    plans = [tree_plan(estimator(solver=solver), rows) for solver in ("adam", "sgd")]
    assert tuple(plan.learning_rate for plan in plans) == rates
    assert tree_plan(estimator(learning_rate=0.7), rows).learning_rate == 0.7
