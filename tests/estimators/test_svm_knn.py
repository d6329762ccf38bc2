"""SVM-KNN: its limits and settings."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from nearlinear import SVMKNNClassifier


@pytest.mark.parametrize("data", ["moons", "blobs"])
def test_one_neighbor_is_the_nearest_neighbor_rule(data, request, rng):
    X, y = request.getfixturevalue(data)
    queries = rng.standard_normal((100, X.shape[1]))
    nearest = KNeighborsClassifier(1).fit(X, y)
    np.testing.assert_array_equal(
        SVMKNNClassifier(1).fit(X, y).predict(queries), nearest.predict(queries)
    )


@pytest.mark.parametrize("n_neighbors", [60, 5000])
def test_all_rows_as_neighbors_are_one_global_machine(moons, n_neighbors):
    X, y = moons[0][:60], moons[1][:60]
    model = SVMKNNClassifier(n_neighbors, C=0.5, tol=1e-6).fit(X, y)
    center = X.mean(axis=0)
    radius = np.sqrt(((X - center) ** 2).sum(axis=1).mean())
    linear = LinearSVC(C=0.5, loss="hinge", dual=True, tol=1e-8, max_iter=5_000_000)
    scaled = (X - center) / radius
    np.testing.assert_allclose(
        model.decision_function(X), linear.fit(scaled, y).decision_function(scaled), atol=1e-4
    )  # two solvers, each stopped at a small slope


def test_neighbors_are_counted_in_distinct_rows(moons):
    X, y = moons
    many = SVMKNNClassifier(5).fit(np.repeat(X, 7, axis=0), np.repeat(y, 7))
    weighted = SVMKNNClassifier(5).fit(X, y, sample_weight=np.full(len(y), 7))
    np.testing.assert_array_equal(many.decision_function(X), weighted.decision_function(X))
    assert many.predictor_.rows.shape == X.shape


def test_a_gaussian_kernel_sees_what_a_line_does_not(rng):
    X = rng.uniform(-1, 1, size=(200, 2))
    y = ((X**2).sum(axis=1) < 0.5).astype(int)
    straight = SVMKNNClassifier(200).fit(X, y).score(X, y)
    curved = SVMKNNClassifier(200, kernel="gaussian", C=10.0).fit(X, y).score(X, y)
    assert curved > straight + 0.2


def test_gamma_is_the_sharpness_of_the_gaussian_kernel(moons):
    X, y = moons
    flat = SVMKNNClassifier(50, kernel="gaussian", gamma=0.01, C=10.0).fit(X, y)
    sharp = SVMKNNClassifier(50, kernel="gaussian", gamma=50.0, C=10.0).fit(X, y)
    assert sharp.score(X, y) > flat.score(X, y)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_scale_of_the_features_does_not_matter(moons, scale):
    X, y = moons
    one, other = SVMKNNClassifier(12).fit(X, y), SVMKNNClassifier(12).fit(scale * X, y)
    # local machines are scaled to radius one and solved to 1e-3
    np.testing.assert_allclose(
        other.decision_function(scale * X), one.decision_function(X), atol=5e-3
    )


def test_machines_that_are_not_solved_are_counted_in_one_warning(blobs):
    X, y = blobs
    X = X + 3.0 * np.random.default_rng(0).standard_normal(X.shape)
    model = SVMKNNClassifier(60, C=100.0, tol=1e-300).fit(X, y)  # no sum of floats is that exact
    with pytest.warns(ConvergenceWarning, match="local machines of 30 queries") as seen:
        model.predict(X[:30])
    assert len(seen) == 1
    told = int(str(seen[0].message).split()[1])
    assert 0 < told <= 3 * 30


def test_sparse_rows_are_refused_in_a_sentence(moons):
    X, y = moons
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        SVMKNNClassifier().fit(csr_matrix(X), y)
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        SVMKNNClassifier().fit(X, y).predict(csr_matrix(X))


def test_cost_is_that_of_the_search(blobs):
    cost = SVMKNNClassifier(10).fit(*blobs).cost_
    assert cost.multiply_adds == 4 * (180 + 10 * 10)
