"""The compiled predictor, its plain form and its arrays."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import reference.codes
from nearlinear.gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
from nearlinear.predictors.locally_linear import LocallyLinear
from reference import kronecker

pytestmark = pytest.mark.passes
GATES = {
    "soft": lambda anchors: SoftAssignment(anchors, 3, 0.8),
    "inverse": lambda anchors: InverseDistance(anchors, 3),
    "reconstruction": lambda anchors: ReconstructionCodes(anchors, 3),
}
each_gate = pytest.mark.parametrize("coding", GATES)
each_size = pytest.mark.parametrize("n_outputs", [1, 3], ids=["binary", "three classes"])
each_width = pytest.mark.parametrize("width", [4, 0], ids=["affine", "constant"])


def make(coding="soft", n_outputs=1, width=4, dtype=np.float64):
    rng = np.random.default_rng(0)
    return LocallyLinear(
        GATES[coding](rng.standard_normal((7, 4)).astype(dtype)),
        rng.standard_normal((7, width, n_outputs)).astype(dtype),
        rng.standard_normal((7, n_outputs)).astype(dtype),
    )


@pytest.fixture
def X(rng):
    rows = rng.standard_normal((30, 4))
    rows[rows < -0.7] = 0.0
    return rows


@each_gate
@each_size
@each_width
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_scores_are_the_plain_ones(X, coding, n_outputs, width, dtype):
    predictor, rows = make(coding, n_outputs, width, dtype), X.astype(dtype)
    scores = predictor(rows)
    # sums of a few dozen products in another order; reconstruction codes reach a size of ten
    np.testing.assert_allclose(scores, predictor.plain(rows), atol=200 * np.finfo(dtype).eps)
    assert scores.dtype == dtype


@each_size
@each_width
def test_scores_follow_the_formula(X, n_outputs, width):
    predictor = make("soft", n_outputs, width)
    gamma = reference.codes.soft(X, predictor.gate.anchors, 3, 0.8)
    expected = kronecker.scores(X[:, :width], gamma, predictor.weights, predictor.biases)
    np.testing.assert_allclose(predictor(X), expected, atol=1e-12)


@each_gate
@each_size
@each_width
def test_sparse_rows_score_as_dense_ones(X, coding, n_outputs, width):
    predictor = make(coding, n_outputs, width)
    # inverse distances come from a difference of squares, in another order
    np.testing.assert_allclose(predictor(csr_matrix(X)), predictor(X), atol=1e-9)


@each_gate
def test_sparse_rows_have_plain_scores_too(X, coding):
    predictor = make(coding, 3)
    np.testing.assert_allclose(predictor.plain(csr_matrix(X)), predictor.plain(X), atol=1e-9)


@each_size
def test_rows_of_many_blocks_score_as_they_do_alone(rng, n_outputs):
    predictor, X = make("soft", n_outputs), rng.standard_normal((1100, 4))
    alone = np.vstack([predictor(X[[0]]), predictor(X[[1023]]), predictor(X[[1024]])])
    np.testing.assert_allclose(predictor(X)[[0, 1023, 1024]], alone, atol=1e-12)


@each_size
def test_the_number_of_threads_does_not_change_a_bit(rng, n_outputs):
    predictor, X = make("soft", n_outputs), rng.standard_normal((1100, 4))
    np.testing.assert_array_equal(predictor(X, n_jobs=2), predictor(X))


def test_cost_counts_distances_and_active_models():
    # 7 anchors of 4 features, then 3 local models of 4 weights and a bias for 3 classes
    assert make("soft", 3).cost.multiply_adds == 7 * 4 + 3 * 5 * 3
    assert make("soft", 3).cost.times_linear == pytest.approx((7 * 4 + 3 * 5 * 3) / (4 * 3))


def test_cost_of_constant_models_has_no_weights():
    assert make("inverse", 1, 0).cost.multiply_adds == 7 * 4 + 3


def test_cost_of_reconstruction_codes_has_a_small_linear_system():
    assert make("reconstruction").cost.multiply_adds == make("soft").cost.multiply_adds + 9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bytes_are_those_of_the_arrays(dtype):
    predictor = make("soft", 3, dtype=dtype)
    numbers = 7 * 4 + 7 * 4 * 3 + 7 * 3  # anchors, weights, biases
    beside = predictor.cost.n_bytes - numbers * np.dtype(dtype).itemsize
    assert 0 <= beside < 100  # the gate's name and its two numbers
