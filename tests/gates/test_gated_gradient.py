"""Gradients of local models, against the Kronecker features written out."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.blend import gated_gradient, gated_scores
from reference import kronecker

pytestmark = pytest.mark.passes
N_ANCHORS = 5


@pytest.fixture
def problem(rng):
    X = rng.standard_normal((25, 4))
    X[X < -0.5] = 0.0
    indices = np.stack([rng.permutation(N_ANCHORS - 1)[:2] for _ in X]).astype(np.int32)
    codes = rng.dirichlet(np.ones(2), size=len(X))
    slopes = rng.standard_normal((len(X), 3))
    return X, indices, codes, slopes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_gradient_is_features_transposed_times_slopes(problem, as_rows, dtype):
    X, indices, codes, slopes = (
        part if part.dtype == np.int32 else part.astype(dtype) for part in problem
    )
    pairs = codes[:, :, None] * slopes[:, None, :]
    everyone = np.ones(len(X), dtype=bool)
    products, sums = gated_gradient(as_rows(X), indices, pairs, everyone, N_ANCHORS)
    features = kronecker.features(X, kronecker.densify(indices, codes, N_ANCHORS))
    weights, biases = kronecker.unflatten(features.T @ slopes, N_ANCHORS)
    np.testing.assert_allclose(products, weights, atol=100 * np.finfo(dtype).eps)
    np.testing.assert_allclose(sums, biases, atol=100 * np.finfo(dtype).eps)
    assert products.dtype == sums.dtype == dtype


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_rows_that_are_not_active_do_not_count(problem, as_rows):
    X, indices, codes, slopes = problem
    active = np.arange(len(X)) % 3 == 0
    pairs = codes[:, :, None] * slopes[:, None, :]
    some = gated_gradient(as_rows(X), indices, pairs, active, N_ANCHORS)
    pairs[~active] = 0.0
    everyone = np.ones(len(X), dtype=bool)
    all_rows = gated_gradient(as_rows(X), indices, pairs, everyone, N_ANCHORS)
    for part, expected in zip(some, all_rows):
        np.testing.assert_allclose(part, expected, atol=1e-12)


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_gradient_is_the_adjoint_of_the_scores(problem, rng, as_rows):
    X, indices, codes, slopes = problem
    weights, biases = rng.standard_normal((N_ANCHORS, 4, 3)), rng.standard_normal((N_ANCHORS, 3))
    scores = gated_scores(as_rows(X), indices, codes, weights, biases)
    pairs = codes[:, :, None] * slopes[:, None, :]
    products, sums = gated_gradient(
        as_rows(X), indices, pairs, np.ones(len(X), dtype=bool), N_ANCHORS
    )
    forward, backward = np.vdot(scores, slopes), np.vdot(products, weights) + np.vdot(sums, biases)
    assert forward == pytest.approx(backward, rel=1e-12)


def test_an_anchor_without_rows_has_no_gradient(problem):
    X, indices, codes, slopes = problem
    pairs = codes[:, :, None] * slopes[:, None, :]
    products, sums = gated_gradient(X, indices, pairs, np.ones(len(X), dtype=bool), N_ANCHORS)
    assert not products[-1].any()
    assert not sums[-1].any()
