"""Kernel k-means with centers in the span of a sample, against the textbook's distances."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from nearlinear.kernels import Gaussian, Linear, Polynomial
from nearlinear.solvers.localized.clusters import _centers, _refill, _seeds, fit_kernel_clusters

KERNELS = [Gaussian(0.5), Linear(), Polynomial(2, gamma=0.5)]
EACH_KERNEL = pytest.mark.parametrize("kernel", KERNELS, ids=["gaussian", "linear", "quadratic"])


@pytest.fixture(scope="module")
def rows():
    return make_blobs(60, centers=4, cluster_std=1.0, random_state=2)


@pytest.fixture
def state():
    return np.random.RandomState(0)


def inverse_of(gram):
    return np.linalg.pinv(gram, rcond=1e-10, hermitian=True)


def squared_distances(gram, weight, labels, n_clusters):
    """k(x, x) − 2 mean_j k(x, x_j) + mean_jl k(x_j, x_l) over the members of each cluster."""
    found = np.empty((len(gram), n_clusters))
    for cluster in range(n_clusters):
        share = np.where(labels == cluster, weight, 0.0)
        share = share / share.sum()
        for i in range(len(gram)):
            found[i, cluster] = gram[i, i] - 2.0 * gram[i] @ share + share @ gram @ share
    return found


def plain_kernel_kmeans(gram, weight, labels, n_clusters):
    """Lloyd's steps from ``labels``, with whole distances."""
    for _ in range(50):
        new = squared_distances(gram, weight, labels, n_clusters).argmin(axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
    return labels


def squares_within(gram, weight, labels, n_clusters):
    distances = squared_distances(gram, weight, labels, n_clusters)
    return weight @ distances[np.arange(len(gram)), labels]


# --- centers and distances ---------------------------------------------------------------------


@EACH_KERNEL
def test_scores_are_minus_half_the_squared_distances_but_for_what_all_share(rows, kernel, rng):
    X, labels = rows
    gram, weight = kernel(X), rng.uniform(0.5, 2.0, len(X))
    found = _centers(gram, gram, inverse_of(gram), weight, labels, 4)
    distances = squared_distances(gram, weight, labels, 4)
    expected = 0.5 * np.diag(gram)[:, None] - 0.5 * distances
    # the Gram matrix is inverted and back
    np.testing.assert_allclose(found.scores(gram), expected, atol=1e-6 * np.abs(gram).max())


@EACH_KERNEL
def test_a_sample_of_all_rows_gives_plain_kernel_k_means(rows, kernel):
    X, _ = rows
    gram, weight = kernel(X), np.ones(len(X))
    start = _seeds(gram, inverse_of(gram), weight, 4, np.random.RandomState(3))
    found = fit_kernel_clusters(gram, gram, weight, 4, np.random.RandomState(3))
    expected = plain_kernel_kmeans(gram, weight, start, 4)
    assert np.any(expected != start)
    np.testing.assert_array_equal(found.labels, expected)


@EACH_KERNEL
def test_weights_pull_the_centers_of_plain_kernel_k_means(rows, kernel, rng):
    X, _ = rows
    gram, weight = kernel(X), rng.uniform(0.1, 5.0, len(X))
    start = _seeds(gram, inverse_of(gram), weight, 4, np.random.RandomState(4))
    found = fit_kernel_clusters(gram, gram, weight, 4, np.random.RandomState(4))
    np.testing.assert_array_equal(found.labels, plain_kernel_kmeans(gram, weight, start, 4))


def test_the_linear_kernel_has_the_centers_of_k_means(rows, state):
    X, _ = rows
    gram = Linear()(X)
    found = fit_kernel_clusters(gram, gram, np.ones(len(X)), 4, state)
    centers = np.array([X[found.labels == cluster].mean(axis=0) for cluster in range(4)])
    np.testing.assert_allclose(found.coefficients @ X, centers, atol=1e-8)
    np.testing.assert_allclose(found.offsets, 0.5 * (centers**2).sum(axis=1), atol=1e-8)
    # a place where Lloyd's steps on rows stay, too
    again = KMeans(4, init=centers, n_init=1).fit(X)
    np.testing.assert_allclose(again.cluster_centers_, centers, atol=1e-8)


def test_new_rows_go_to_the_center_that_is_nearest(rows, state, rng):
    X, _ = rows
    gram, Z = Linear()(X), 4.0 * rng.standard_normal((30, 2))
    found = fit_kernel_clusters(gram, gram, np.ones(len(X)), 4, state)
    centers = np.array([X[found.labels == cluster].mean(axis=0) for cluster in range(4)])
    nearest = ((Z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(found.scores(Z @ X.T).argmax(axis=1), nearest)


@EACH_KERNEL
def test_no_row_wants_to_move_at_the_end(rows, kernel, state):
    X, _ = rows
    gram = kernel(X)
    found = fit_kernel_clusters(gram, gram, np.ones(len(X)), 4, state)
    np.testing.assert_array_equal(found.scores(gram).argmax(axis=1), found.labels)


def test_groups_that_lie_apart_are_found(state):
    X, group = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    gram = Gaussian(0.05)(X)
    labels = fit_kernel_clusters(gram, gram, np.ones(60), 3, state).labels
    assert {len(np.unique(labels[group == g])) for g in range(3)} == {1}
    assert len(np.unique(labels)) == 3


# --- samples -----------------------------------------------------------------------------------


@EACH_KERNEL
def test_a_sample_of_all_rows_in_another_order_changes_nothing(rows, kernel, rng):
    X, _ = rows
    gram = kernel(X)
    exact = fit_kernel_clusters(gram, gram, np.ones(len(X)), 4, np.random.RandomState(1))
    for _ in range(20):  # rows that are far from all seeds are ties but for rounding
        order = rng.permutation(len(X))
        shuffled = fit_kernel_clusters(
            gram[:, order], gram[np.ix_(order, order)], np.ones(len(X)), 4, np.random.RandomState(1)
        )
        np.testing.assert_array_equal(shuffled.labels, exact.labels)
        np.testing.assert_allclose(
            shuffled.scores(gram[:, order]), exact.scores(gram), atol=1e-6 * np.abs(gram).max()
        )


def test_a_sample_that_spans_all_rows_is_as_good_as_all_of_them(rows, rng):
    X, _ = rows
    gram = Linear()(X)
    sample = rng.choice(len(X), 5, replace=False)  # two features: five rows span the plane
    exact = fit_kernel_clusters(gram, gram, np.ones(len(X)), 4, np.random.RandomState(1))
    sampled = fit_kernel_clusters(
        gram[:, sample], gram[np.ix_(sample, sample)], np.ones(len(X)), 4, np.random.RandomState(1)
    )
    np.testing.assert_array_equal(sampled.labels, exact.labels)
    assert sampled.coefficients.shape == (4, 5)
    np.testing.assert_allclose(sampled.coefficients @ X[sample], exact.coefficients @ X, atol=1e-8)


def test_a_sample_has_the_nearest_centers_that_it_spans(rows, rng):
    X, labels = rows
    gram, weight = Gaussian(0.1)(X), np.ones(len(X))
    sample = rng.choice(len(X), 12, replace=False)
    small = gram[np.ix_(sample, sample)]
    found = _centers(gram[:, sample], small, inverse_of(small), weight, labels, 4)
    for cluster in range(4):
        share = (labels == cluster) / np.sum(labels == cluster)
        # least squares in the kernel's space: ‖Σ_s A_s φ(x_s) − Σ_j share_j φ(x_j)‖²
        expected = np.linalg.solve(small, gram[sample] @ share)
        np.testing.assert_allclose(small @ found.coefficients[cluster], small @ expected, atol=1e-6)


def test_a_sample_finds_clusters_about_as_tight_as_all_rows(rows, rng):
    X, _ = rows
    gram, weight = Gaussian(0.1)(X), np.ones(len(X))
    sample = rng.choice(len(X), 25, replace=False)
    exact = fit_kernel_clusters(gram, gram, weight, 4, np.random.RandomState(0))
    sampled = fit_kernel_clusters(
        gram[:, sample], gram[np.ix_(sample, sample)], weight, 4, np.random.RandomState(0)
    )
    tight, loose = (squares_within(gram, weight, f.labels, 4) for f in (exact, sampled))
    assert loose < 1.2 * tight


# --- weights and copies ------------------------------------------------------------------------


@EACH_KERNEL
def test_weight_k_equals_k_copies(rows, kernel, rng):
    X, _ = rows
    gram, weight = kernel(X), rng.integers(1, 4, len(X))
    weighted = fit_kernel_clusters(gram, gram, weight.astype(float), 4, np.random.RandomState(5))
    copied = fit_kernel_clusters(
        np.repeat(gram, weight, axis=0), gram, np.ones(weight.sum()), 4, np.random.RandomState(5)
    )
    np.testing.assert_array_equal(copied.labels, np.repeat(weighted.labels, weight))
    np.testing.assert_allclose(copied.offsets, weighted.offsets, rtol=1e-6)


def test_copies_of_a_row_share_its_cluster(rows, state):
    X = np.repeat(rows[0][:20], 3, axis=0)
    gram = Gaussian(0.5)(X)
    found = fit_kernel_clusters(gram, gram, np.ones(60), 4, state)
    np.testing.assert_array_equal(found.labels, np.repeat(found.labels[::3], 3))
    assert np.all(np.isfinite(found.scores(gram)))


def test_rows_that_are_all_alike_give_finite_centers(state):
    gram = np.ones((12, 12))
    found = fit_kernel_clusters(gram, gram, np.ones(12), 3, state)
    assert np.all(np.isfinite(found.coefficients))
    assert np.all(np.isfinite(found.offsets))
    np.testing.assert_array_equal(np.bincount(found.labels, minlength=3) > 0, True)


def test_one_cluster_has_the_mean_as_its_center(rows, state):
    X, _ = rows
    gram = Linear()(X)
    found = fit_kernel_clusters(gram, gram, np.ones(len(X)), 1, state)
    np.testing.assert_array_equal(found.labels, 0)
    np.testing.assert_allclose(found.coefficients @ X, X.mean(axis=0, keepdims=True), atol=1e-8)


def test_as_many_clusters_as_rows_have_one_row_each(rows, state):
    X = rows[0][:7]
    gram = Gaussian(0.5)(X)
    found = fit_kernel_clusters(gram, gram, np.ones(7), 7, state)
    assert sorted(found.labels) == list(range(7))
    np.testing.assert_allclose(squares_within(gram, np.ones(7), found.labels, 7), 0.0, atol=1e-9)


# --- empty clusters and seeds ------------------------------------------------------------------


def test_an_empty_cluster_takes_the_row_that_is_served_worst(rows):
    X, _ = rows
    X = np.vstack([X, [[40.0, 40.0]]])
    gram, weight = Linear()(X), np.ones(61)
    inverse = inverse_of(gram)
    labels = np.zeros(61, dtype=int)
    scores = _centers(gram, gram, inverse, weight, labels, 2).scores(gram)[:, :1]
    refilled = _refill(labels, np.column_stack([scores, np.full(61, -np.inf)]), gram, inverse, 2)
    assert refilled[60] == 1
    np.testing.assert_array_equal(refilled[:60], 0)
    np.testing.assert_array_equal(labels, 0)


def test_several_empty_clusters_take_one_row_each(rows):
    X, _ = rows
    gram = Gaussian(0.5)(X)
    inverse = inverse_of(gram)
    labels = np.zeros(len(X), dtype=int)
    scores = _centers(gram, gram, inverse, np.ones(len(X)), labels, 5).scores(gram)
    counts = np.bincount(_refill(labels, scores, gram, inverse, 5))
    assert counts[0] == len(X) - 4
    np.testing.assert_array_equal(counts[1:], 1)


@pytest.mark.parametrize("seed", range(5))
def test_no_cluster_is_empty_at_the_end(rows, seed):
    X, _ = rows
    gram = Gaussian(0.05)(X)
    found = fit_kernel_clusters(gram, gram, np.ones(len(X)), 12, np.random.RandomState(seed))
    assert np.bincount(found.labels, minlength=12).min() >= 1


def test_seeds_are_drawn_where_there_is_weight(rows):
    X, _ = rows
    gram, weight = Linear()(X), np.zeros(len(X))
    weight[:10] = 1.0
    for seed in range(5):
        labels = _seeds(gram, inverse_of(gram), weight, 3, np.random.RandomState(seed))
        # every seed is nearest to itself
        assert set(labels[:10]) == {0, 1, 2}


def test_one_seed_gives_one_clustering(rows):
    X, _ = rows
    gram = Gaussian(0.5)(X)
    one, other = (
        fit_kernel_clusters(gram, gram, np.ones(len(X)), 4, np.random.RandomState(7))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
