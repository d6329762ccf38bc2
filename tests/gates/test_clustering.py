"""Anchors from weighted k-means."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from nearlinear.gates.clustering import (
    _centers,
    assign,
    fit_anchors,
    fit_class_anchors,
    limit_to_distinct,
)


@pytest.fixture
def random_state():
    return np.random.RandomState(0)


@pytest.fixture
def groups(rng):
    """Three tight groups far apart, and which row is of which."""
    centers = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    member = np.repeat(np.arange(3), 20)
    return centers[member] + rng.standard_normal((60, 2)), member


def sorted_rows(anchors):
    return anchors[np.lexsort(anchors.T)]


def test_groups_get_their_means_as_anchors(groups, random_state):
    X, member = groups
    anchors = fit_anchors(X, 3, random_state, np.ones(60))
    means = np.array([X[member == g].mean(axis=0) for g in range(3)])
    np.testing.assert_allclose(sorted_rows(anchors), sorted_rows(means))


def test_an_anchor_is_the_weighted_mean_of_its_rows(groups, random_state, rng):
    X, member = groups
    weight = rng.uniform(0.5, 3.0, 60)
    anchors = fit_anchors(X, 3, random_state, weight)
    means = [np.average(X[member == g], axis=0, weights=weight[member == g]) for g in range(3)]
    np.testing.assert_allclose(sorted_rows(anchors), sorted_rows(np.array(means)))


def test_k_means_ends_where_no_row_changes_its_anchor(random_state, rng):
    X = rng.standard_normal((100, 2))
    anchors = fit_anchors(X, 6, random_state, np.ones(100), max_iter=100)
    nearest = cdist(X, anchors).argmin(axis=1)
    means = [X[nearest == j].mean(axis=0) for j in range(6)]
    np.testing.assert_allclose(anchors, means)


def test_as_many_anchors_as_rows_are_the_rows(random_state, rng):
    X = rng.standard_normal((7, 3))
    anchors = fit_anchors(X, 7, random_state, np.ones(7))
    np.testing.assert_allclose(sorted_rows(anchors), sorted_rows(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_anchors_keep_the_precision_of_the_rows(groups, random_state, dtype):
    anchors = fit_anchors(groups[0].astype(dtype), 3, random_state, np.ones(60))
    assert anchors.dtype == dtype
    assert anchors.flags.c_contiguous


def test_sparse_rows_get_the_anchors_of_dense_ones(groups, random_state):
    X, _ = groups
    X = np.where(np.abs(X) < 1, 0.0, X)
    dense = fit_anchors(X, 3, np.random.RandomState(0), np.ones(60))
    sparse = fit_anchors(csr_matrix(X), 3, np.random.RandomState(0), np.ones(60))
    np.testing.assert_allclose(sorted_rows(sparse), sorted_rows(dense))


def test_one_seed_gives_one_set_of_anchors(rng):
    X = rng.standard_normal((80, 3))
    first, second = (fit_anchors(X, 9, np.random.RandomState(4), np.ones(80)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_many_rows_are_represented_by_a_sample(groups, random_state, rng):
    X, _ = groups
    X = np.repeat(X, 350, axis=0) + 0.1 * rng.standard_normal((21_000, 2))
    anchors = fit_anchors(X, 3, random_state, np.ones(21_000))
    # twenty thousand of the rows have nearly the mean of all
    np.testing.assert_allclose(sorted_rows(anchors), [[0, 0], [100, 0], [0, 100]], atol=1.0)


def test_an_empty_cluster_restarts_at_the_row_served_worst(rng):
    X = rng.standard_normal((10, 2))
    labels, distances = np.repeat([0, 2], 5), np.arange(10.0)
    centers = _centers(X, labels, distances, np.ones(10), 3)
    np.testing.assert_array_equal(centers[1], X[9])
    np.testing.assert_allclose(centers[[0, 2]], [X[:5].mean(axis=0), X[5:].mean(axis=0)])


def test_empty_clusters_of_sparse_rows_restart_too(rng):
    X = rng.standard_normal((10, 2))
    labels, distances = np.repeat([0, 2], 5), np.arange(10.0)
    dense = _centers(X, labels, distances, np.ones(10), 4)
    sparse = _centers(csr_matrix(X), labels, distances, np.ones(10), 4)
    np.testing.assert_allclose(sparse, dense)


def test_class_anchors_are_means_inside_their_class(groups, random_state):
    X, member = groups
    anchors = fit_class_anchors(X, member, 3, random_state, np.ones(60))
    np.testing.assert_allclose(anchors, [X[member == g].mean(axis=0) for g in range(3)])


def test_class_anchors_are_shared_out_by_weight(groups, random_state):
    X, member = groups
    weight = np.where(member == 0, 3.0, 0.5)  # three quarters of the mass
    anchors = fit_class_anchors(X, member, 8, random_state, weight)
    counts = np.bincount(cdist(anchors, [[0, 0], [100, 0], [0, 100]]).argmin(axis=1))
    np.testing.assert_array_equal(counts, [6, 1, 1])


def test_a_rare_class_has_an_anchor(groups, random_state):
    X, _ = groups
    labels = np.r_[1, np.zeros(59, dtype=int)]
    anchors = fit_class_anchors(X, labels, 5, random_state, np.ones(60))
    assert np.any(np.all(anchors == X[0], axis=1))


def test_assign_finds_the_nearest_anchor_and_half_its_squared_distance(rng):
    X, anchors = rng.standard_normal((50, 3)), rng.standard_normal((6, 3))
    labels, halves = assign(X, anchors)
    squares = cdist(X, anchors, "sqeuclidean")
    np.testing.assert_array_equal(labels, squares.argmin(axis=1))
    np.testing.assert_allclose(halves, 0.5 * squares.min(axis=1), atol=1e-12)


def test_fewer_distinct_rows_than_anchors_give_a_warning_with_both_numbers():
    with pytest.warns(UserWarning, match="n_anchors=9 is more than the 4 distinct training rows"):
        assert limit_to_distinct(9, 4, "n_anchors") == 4


def test_enough_distinct_rows_give_no_warning():
    assert limit_to_distinct(4, 4, "n_anchors") == 4
