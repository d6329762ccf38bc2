"""What "auto" stands for, and how parameters and rows become numbers."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear import LDKLClassifier, LDKLRegressor
from nearlinear.estimators._base.rows import merge_rows


def rows_of(n_rows, n_features, form=np.asarray):
    X = np.random.default_rng(0).standard_normal((n_rows, n_features))
    return merge_rows(form(X), np.arange(n_rows) % 2, np.ones(n_rows), 2)


def usual_depth(rows, **settings):
    model = LDKLClassifier(**settings)
    return model._depth(rows, model._usual_setting())


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


@pytest.mark.parametrize(("n_rows", "size"), [(10, 32), (64 * 50, 50), (10**6, 1024)])
def test_the_usual_batch_is_a_share_of_the_rows(n_rows, size):
    assert LDKLClassifier()._batch_rows(n_rows) == size


def test_a_batch_has_no_more_rows_than_there_are():
    assert LDKLClassifier(batch_size=500)._batch_rows(200) == 200


@pytest.mark.parametrize(
    ("settings", "rank"),
    [({}, 32), ({"n_components": None}, None), ({"n_components": 7}, 7), ({"solver": "sgd"}, None)],
    ids=str,
)
def test_wide_rows_are_projected_unless_told_otherwise(settings, rank):
    assert LDKLClassifier(**settings)._rank(rows_of(20, 120)) == rank


def test_narrow_and_sparse_rows_are_not_projected_by_default():
    assert LDKLClassifier()._rank(rows_of(20, 99)) is None
    assert LDKLClassifier()._rank(rows_of(20, 120, csr_matrix)) is None


@pytest.mark.parametrize(("n_features", "factor"), [(50, 1.0), (144, 12.0)])
def test_wide_rows_are_shorter_in_the_original_schedule(n_features, factor):
    rows = rows_of(20, n_features)
    original, usual = LDKLClassifier(solver="sgd")._scaling(rows), LDKLClassifier()._scaling(rows)
    assert original.scale == pytest.approx(factor * usual.scale)


@pytest.mark.parametrize(
    ("estimator", "rates"), [(LDKLClassifier, (0.1, 100.0)), (LDKLRegressor, (0.1, 1.0))]
)
def test_each_solver_has_a_usual_rate(estimator, rates):
    assert tuple(estimator(solver=solver)._rate() for solver in ("adam", "sgd")) == rates
    assert estimator(learning_rate=0.7)._rate() == 0.7
