"""Scores of local linear models, against the Kronecker features written out."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.blend import gated_scores, group_by_anchor, local_scores, rows_per_block
from reference import kronecker

pytestmark = pytest.mark.passes
N_ANCHORS = 6


def problem(rng, n_outputs, n_features=5, dtype=np.float64, n_rows=40):
    X = rng.standard_normal((n_rows, n_features)).astype(dtype)
    X[X < -0.5] = 0.0
    # anchor 5 answers for nobody
    indices = np.stack([rng.permutation(N_ANCHORS - 1)[:3] for _ in range(n_rows)])
    codes = rng.dirichlet(np.ones(3), size=n_rows).astype(dtype)
    weights = rng.standard_normal((N_ANCHORS, n_features, n_outputs)).astype(dtype)
    biases = rng.standard_normal((N_ANCHORS, n_outputs)).astype(dtype)
    return X, indices.astype(np.int32), codes, weights, biases


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_gated_scores_are_features_times_models(rng, as_rows, n_outputs, dtype):
    X, indices, codes, weights, biases = problem(rng, n_outputs, dtype=dtype)
    scores = gated_scores(as_rows(X), indices, codes, weights, biases)
    gamma = kronecker.densify(indices, codes, N_ANCHORS)
    expected = kronecker.scores(X, gamma, weights, biases)
    np.testing.assert_allclose(scores, expected, atol=50 * np.finfo(dtype).eps)
    assert scores.dtype == dtype


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_local_scores_are_what_each_active_model_says(rng, as_rows, n_outputs):
    X, indices, _, weights, biases = problem(rng, n_outputs)
    local = local_scores(as_rows(X), indices, weights, biases)
    for i in range(len(X)):
        for p, j in enumerate(indices[i]):
            np.testing.assert_allclose(local[i, p], X[i] @ weights[j] + biases[j])


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_constant_models_read_no_feature(rng, as_rows, n_outputs):
    X, indices, codes, _, biases = problem(rng, n_outputs)
    scores = gated_scores(
        as_rows(X)[:, :0], indices, codes, np.zeros((N_ANCHORS, 0, n_outputs)), biases
    )
    gamma = kronecker.densify(indices, codes, N_ANCHORS)
    np.testing.assert_allclose(scores, gamma @ biases)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores_do_not_depend_on_the_number_of_threads(rng, n_outputs):
    problem_of_blocks = problem(rng, n_outputs, n_features=8000, n_rows=150)
    assert rows_per_block(8000) < 100  # so there is more than one block
    one = gated_scores(*problem_of_blocks)
    np.testing.assert_array_equal(gated_scores(*problem_of_blocks, n_jobs=2), one)


def test_pairs_are_grouped_by_anchor_in_their_own_order(rng):
    indices = rng.integers(0, 4, size=(12, 3)).astype(np.int32)
    order, starts = group_by_anchor(indices, 5)
    flat = indices.ravel()
    for j in range(5):
        np.testing.assert_array_equal(order[starts[j] : starts[j + 1]], np.flatnonzero(flat == j))
    assert starts[5] == flat.size


@pytest.mark.parametrize(
    ("n_features", "expected"), [(0, 2048), (256, 2048), (1024, 512), (9999, 64)]
)
def test_blocks_hold_about_as_many_numbers_whatever_the_width(n_features, expected):
    assert rows_per_block(n_features) == expected
