"""Gaussians and their derivatives: features, Gram matrix, sums, and what they span."""

import numpy as np
import pytest

from nearlinear.solvers.cells.bumps import Bumps

GAMMA, STEP = 0.4, 1e-4


@pytest.fixture
def bumps(rng):
    return Bumps(rng.standard_normal((4, 3)), GAMMA)


def kernel(X, U):
    return np.exp(-GAMMA * ((X[:, None] - U) ** 2).sum(axis=2))


def moved(U, step):
    """Every landmark, moved along each axis, landmark by landmark."""
    return (U[:, None] + step * np.eye(U.shape[1])).reshape(-1, U.shape[1])


def plain_features(bumps, X):
    U = bumps.landmarks
    slopes = 2.0 * GAMMA * kernel(X, U)[:, :, None] * (X[:, None] - U)
    return np.column_stack([kernel(X, U), slopes.reshape(len(X), -1), np.ones(len(X))])


def test_a_landmark_moved_along_one_axis_needs_no_new_distance(bumps, rng):
    X, U, h = rng.standard_normal((20, 3)), bumps.landmarks, 0.7
    factor = np.exp(2.0 * GAMMA * h * (X[:, None] - U) - GAMMA * h**2)
    expected = (kernel(X, U)[:, :, None] * factor).reshape(20, -1)
    np.testing.assert_allclose(kernel(X, moved(U, h)), expected, rtol=1e-13)


def test_derivatives_are_the_limit_of_moved_landmarks(bumps, rng):
    X, U = rng.standard_normal((20, 3)), bumps.landmarks
    limit = (kernel(X, moved(U, STEP)) - kernel(X, moved(U, -STEP))) / (2.0 * STEP)
    np.testing.assert_allclose(plain_features(bumps, X)[:, 4:-1], limit, atol=1e-8)


def test_the_gram_matrix_is_that_of_moved_landmarks(bumps):
    U, gram = bumps.landmarks, bumps.gram()
    points = np.concatenate([U, moved(U, STEP), moved(U, -STEP)])
    # values, then central differences
    map_ = np.zeros((16, 28))
    map_[:4, :4] = np.eye(4)
    map_[4:, 4:16], map_[4:, 16:] = np.eye(12) / (2 * STEP), -np.eye(12) / (2 * STEP)
    np.testing.assert_allclose(gram, map_ @ kernel(points, points) @ map_.T, atol=1e-6)
    np.testing.assert_allclose(gram, gram.T, atol=1e-15)
    assert np.linalg.eigvalsh(gram).min() > 0.0


def test_sums_and_products_are_those_of_the_features(bumps, rng):
    X, coef, v = rng.standard_normal((30, 3)), rng.standard_normal(17), rng.uniform(0, 2, 30)
    features, values = plain_features(bumps, X), bumps.values(X)
    np.testing.assert_allclose(bumps.sums(X, values, coef), features @ coef, atol=1e-12)
    np.testing.assert_allclose(bumps.correlations(X, values, v), features.T @ v, atol=1e-12)
    expected = (features.T * v) @ features
    for dtype, atol in ((np.float64, 1e-12), (np.float32, 1e-4)):
        np.testing.assert_allclose(
            bumps.second_moments(X, values, v, dtype), expected, atol=atol
        )  # fmt: skip


def test_derivatives_bring_a_projection_closer_and_the_bound_holds(rng):
    """‖f − Pf‖ with derivatives ≤ without ≤ √(2γ n Σ a² ‖x − u‖²)."""
    X, a = rng.standard_normal((60, 3)), rng.standard_normal(60)
    bumps = Bumps(X[:5].copy(), GAMMA)
    values = kernel(X, X) @ a  # f at the rows
    gram, slopes = bumps.gram(), plain_features(bumps, X)[:, :-1].T @ a
    # inner products of f with the features: values and derivatives of f at the landmarks
    whole = a @ values
    left = [whole - slopes[:m] @ np.linalg.solve(gram[:m, :m], slopes[:m]) for m in (20, 5)]
    squares = ((X[:, None] - bumps.landmarks) ** 2).sum(axis=2).min(axis=1)
    assert 0.0 < left[0] < left[1] < 2.0 * GAMMA * 60 * np.sum(a**2 * squares)
