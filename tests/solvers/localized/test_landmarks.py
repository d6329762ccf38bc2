"""Regressions in the span of a few rows, against libsvm on the kernel that has these features."""

import numpy as np
import pytest
from sklearn.svm import SVR

from nearlinear.kernels import Gaussian
from nearlinear.solvers.localized.landmarks import fit_insensitive, regress_on_landmarks

KERNEL, C, EPSILON, N_ROWS = Gaussian(0.3), 0.7, 0.02, 120


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 3))
    return X, (rng.random(N_ROWS) < 0.6 + 0.35 * np.sin(2 * X[:, 0])).astype(float)


def libsvm(gram, t, weight):
    svr = SVR(kernel="precomputed", C=C, epsilon=EPSILON, tol=1e-6).fit(gram, t, weight)
    coef = np.zeros(N_ROWS)
    coef[svr.support_] = svr.dual_coef_[0]
    left = np.maximum(0.0, np.abs(t - svr.predict(gram)) - EPSILON)
    return svr.predict(gram), 0.5 * coef @ gram @ coef + C * weight @ left


@pytest.mark.parametrize("count", [12, N_ROWS])
def test_the_machine_is_that_of_the_kernel_seen_from_the_landmarks(rows, count):
    X, t = rows
    weight = np.random.default_rng(1).integers(1, 4, N_ROWS).astype(float)
    found = regress_on_landmarks(KERNEL, X, t, weight, C=C, epsilon=EPSILON, count=count)
    landmarks = np.arange(0, N_ROWS, N_ROWS // count)
    assert set(np.flatnonzero(found.dual_coef)) <= set(landmarks)
    cross, inner = KERNEL(X, X[landmarks]), KERNEL(X[landmarks])
    gram = cross @ np.linalg.pinv(inner, rcond=1e-5) @ cross.T
    expected, best = libsvm(gram, t, weight)
    assert best * (1.0 - 1e-4) <= found.objective <= best + found.gap + 1e-3
    assert 0.0 <= found.gap < 0.01 * found.objective
    scores = KERNEL(X) @ found.dual_coef + found.bias
    np.testing.assert_allclose(scores, expected, atol=0.03)
    np.testing.assert_allclose(t - found.slack + found.bias, scores, atol=1e-8)


def test_success_that_is_the_same_everywhere_is_a_constant(rows):
    X, _ = rows
    found = regress_on_landmarks(
        KERNEL, X, np.ones(N_ROWS), np.ones(N_ROWS), C=C, epsilon=EPSILON, count=12
    )
    np.testing.assert_array_equal(found.dual_coef, 0.0)
    assert (found.bias, found.objective, found.gap) == (1.0, 0.0, 0.0)


def test_a_loose_rounding_is_seen_in_the_gap(rows, monkeypatch):
    X, t = rows
    features = np.column_stack([KERNEL(X)[:, ::10], np.ones(N_ROWS)])
    _, sharp, gap = fit_insensitive(features, t, np.full(N_ROWS, C), EPSILON)
    monkeypatch.setattr("nearlinear.solvers.localized.landmarks._WIDTHS", (0.3,))
    _, loose, loose_gap = fit_insensitive(features, t, np.full(N_ROWS, C), EPSILON)
    assert sharp < loose <= sharp + loose_gap
    assert gap < 0.2 * loose_gap
