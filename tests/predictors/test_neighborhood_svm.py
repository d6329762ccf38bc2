"""The SVM around each query, against its definition and a general optimizer."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from nearlinear.predictors.neighborhood_svm import NeighborhoodSVM, _local_kernel, _solve_dual
from reference import neighborhood as reference
from reference import svm

kernels = pytest.mark.parametrize("gamma", [0.0, 0.7], ids=["linear", "gaussian"])
TIGHT = 1e-8


def make(rng, *, n_rows=40, n_features=3, n_classes=2, n_neighbors=12, gamma=0.0, **settings):
    rows = rng.standard_normal((n_rows, n_features))
    labels = rng.integers(n_classes, size=n_rows)
    settings = {
        "upper": rng.uniform(0.5, 2.0, n_rows), "tol": TIGHT, **settings,
    }  # fmt: skip
    return NeighborhoodSVM(
        rows=rows, labels=labels, n_classes=n_classes, n_neighbors=n_neighbors, gamma=gamma,
        **settings,
    )  # fmt: skip


@pytest.mark.passes
@kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernel_is_that_of_centered_and_scaled_neighbors(rng, gamma, dtype):
    rows = (5.0 + 3.0 * rng.standard_normal((20, 4))).astype(dtype)
    query, around = 5.0 + rng.standard_normal(4), np.array([3, 1, 15, 8, 9])
    points, gram, similarity = np.empty((5, 4)), np.empty((5, 5)), np.empty(5)
    _local_kernel(query, around, rows, gamma, points, gram, similarity)
    moved, scaled = reference.local_problem(query, rows[around].astype(float))
    # as plain Python, one division of float32 numbers stays float32
    tolerance = 1e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(gram, reference.kernel(scaled, scaled, gamma), atol=tolerance)
    expected = reference.kernel(moved[None], scaled, gamma)[0]
    np.testing.assert_allclose(similarity, expected, atol=tolerance)


@pytest.mark.passes
@kernels
def test_equal_neighbors_have_a_kernel_of_ones(gamma):
    points, gram, similarity = np.empty((3, 2)), np.empty((3, 3)), np.empty(3)
    _local_kernel(np.ones(2), np.arange(3), np.ones((3, 2)), gamma, points, gram, similarity)
    np.testing.assert_array_equal(gram, 1.0 if gamma == 0 else 2.0)
    np.testing.assert_array_equal(similarity, 1.0 if gamma == 0 else 2.0)


@pytest.mark.passes
def test_dual_is_solved_to_the_optimum(rng):
    points = rng.standard_normal((12, 3))
    gram, signs = points @ points.T + 1.0, np.where(rng.random(12) > 0.5, 1.0, -1.0)
    upper, dual, scores = rng.uniform(0.5, 2.0, 12), np.empty(12), np.empty(12)
    assert _solve_dual(gram, signs, upper, TIGHT, dual, scores, np.empty((12, 12)))
    expected, optimum = svm.solve_dual(gram, signs, upper, np.zeros(12))
    a = dual * signs
    assert dual.sum() - 0.5 * a @ gram @ a == pytest.approx(optimum)
    np.testing.assert_allclose(scores, gram @ a, atol=1e-10)
    # both solvers stop at a slope of about 1e-8 of a problem that is flat in some directions
    np.testing.assert_allclose(scores, gram @ (expected * signs), atol=1e-5)


def machine_without_bias(gram, signs, C):
    """Coefficients of scikit-learn's machine on every row and its mirror image −φ(x) of label −y.

    By symmetry its bias is zero, so that it is the machine of the kernel alone.
    """
    mirrored = np.block([[gram, -gram], [-gram, gram]])
    svc = SVC(kernel="precomputed", C=0.5 * C, tol=1e-4).fit(mirrored, np.r_[signs, -signs])
    coef = np.zeros(2 * len(signs))
    coef[svc.support_] = svc.dual_coef_[0]
    return coef[: len(signs)] - coef[len(signs) :]


@kernels
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_scores_are_those_of_scikit_learn_where_classes_overlap(rng, gamma, C):
    n_near = 50
    predictor = make(
        rng, n_rows=150, n_neighbors=n_near, gamma=gamma, upper=np.full(150, C), tol=1e-3
    )
    queries, found = rng.standard_normal((4, 3)), []
    for x, near in zip(queries, predictor.nearest(queries)):
        moved, scaled = reference.local_problem(x, predictor.rows[near])
        signs = np.where(predictor.labels[near] == 1, 1.0, -1.0)
        coef = machine_without_bias(reference.kernel(scaled, scaled, gamma), signs, C)
        found.append(reference.kernel(moved[None], scaled, gamma)[0] @ coef)
    np.testing.assert_allclose(predictor(queries)[:, 0], found, atol=5e-3)


@kernels
def test_scores_are_those_of_the_definition(rng, gamma):
    predictor = make(rng, gamma=gamma)
    queries, signs = rng.standard_normal((10, 3)), np.where(predictor.labels == 1, 1.0, -1.0)
    expected = [
        reference.score(x, predictor.rows, signs, predictor.upper, 12, gamma) for x in queries
    ]
    np.testing.assert_allclose(predictor(queries)[:, 0], expected, atol=1e-5)  # as above


def test_scores_of_several_classes_are_one_against_the_rest(rng):
    predictor = make(rng, n_classes=3)
    queries = rng.standard_normal((10, 3))
    for c in range(3):
        signs = np.where(predictor.labels == c, 1.0, -1.0)
        expected = [
            reference.score(x, predictor.rows, signs, predictor.upper, 12, 0.0) for x in queries
        ]
        np.testing.assert_allclose(predictor(queries)[:, c], expected, atol=1e-5)  # as above


def test_neighbors_that_agree_decide_without_a_machine():
    rows = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    predictor = NeighborhoodSVM(rows, labels, np.ones(6), 2, 3, 0.0, TIGHT)
    np.testing.assert_array_equal(predictor(np.array([[0.0], [9.0]])), [[-1.0], [1.0]])


def test_a_class_without_neighbors_scores_minus_one(rng):
    rows = np.array([[0.0], [0.1], [0.2], [9.0]])
    predictor = NeighborhoodSVM(rows, np.array([0, 1, 0, 2]), np.ones(4), 3, 3, 0.0, TIGHT)
    scores = predictor(np.array([[0.05]]))
    assert scores[0, 2] == -1.0
    assert -1.0 < scores[0, 0] != scores[0, 1]


@kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_class_without_neighbors_is_never_answered(rng, gamma, dtype):
    rows, labels = rng.standard_normal((200, 2)).astype(dtype), rng.integers(12, size=200)
    predictor = NeighborhoodSVM(rows, labels, np.full(200, 30.0), 12, 9, gamma, TIGHT)
    queries = (3.0 * rng.standard_normal((100, 2))).astype(dtype)
    scores, near = predictor(queries), labels[predictor.nearest(queries)]
    is_near = (near[:, :, None] == np.arange(12)).any(axis=1)
    lowest = np.where(is_near, scores, np.inf).min(axis=1)
    assert lowest.min() < -1.5  # far from its neighbors, a machine is sure that no class is right
    assert np.all(np.where(is_near, -np.inf, scores).max(axis=1) < lowest)
    assert np.isfinite(scores).all()


def test_all_rows_as_neighbors_are_one_global_machine(rng):
    predictor = make(rng, n_neighbors=40, upper=np.full(40, 0.8))
    queries = rng.standard_normal((7, 3))
    moved, scaled = reference.local_problem(queries, predictor.rows)
    linear = LinearSVC(C=0.8, loss="hinge", dual=True, tol=1e-10, max_iter=1_000_000)
    linear.fit(scaled, predictor.labels)
    np.testing.assert_allclose(
        predictor(queries)[:, 0], linear.decision_function(moved), atol=1e-5
    )  # two solvers, each stopped at a small slope


@pytest.mark.parametrize("n_features", [15, 16])
def test_the_nearest_are_found_by_tree_and_by_product(rng, n_features):
    predictor = make(rng, n_features=n_features)
    queries = rng.standard_normal((8, n_features))
    for x, found in zip(queries, predictor.nearest(queries)):
        distances = np.linalg.norm(predictor.rows - x, axis=1)
        np.testing.assert_array_equal(np.sort(found), np.sort(np.argsort(distances)[:12]))


@pytest.mark.parametrize("n_features", [3, 16])
def test_one_neighbor_is_an_array_of_one_column(rng, n_features):
    predictor = make(rng, n_features=n_features, n_neighbors=1)
    assert predictor.nearest(predictor.rows).shape == (40, 1)
    np.testing.assert_array_equal(predictor.nearest(predictor.rows)[:, 0], np.arange(40))


def test_the_number_of_threads_does_not_change_a_bit(rng):
    predictor, queries = make(rng), rng.standard_normal((300, 3))
    np.testing.assert_array_equal(predictor(queries, n_jobs=2), predictor(queries))


def test_cost_counts_the_search_and_the_local_kernel(rng):
    cost = make(rng, n_classes=3).cost
    assert cost.multiply_adds == 3 * (40 + 12 * 12)
    assert cost.times_linear == pytest.approx(cost.multiply_adds / (3 * 3))
    # rows, labels, upper bounds, and four numbers
    assert cost.n_bytes == 8 * (40 * 3 + 2 * 40)
