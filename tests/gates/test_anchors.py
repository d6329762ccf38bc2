"""The three codings, each against its definition."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import reference.codes
from nearlinear.gates.anchors import (
    InverseDistance,
    ReconstructionCodes,
    SoftAssignment,
    default_sharpness,
    densify,
)

pytestmark = pytest.mark.passes
N_NEIGHBORS = 4
GATES = {
    "soft": (lambda anchors: SoftAssignment(anchors, N_NEIGHBORS, 0.7)),
    "inverse": (lambda anchors: InverseDistance(anchors, N_NEIGHBORS)),
    "reconstruction": (lambda anchors: ReconstructionCodes(anchors, N_NEIGHBORS)),
}
DEFINITIONS = {
    "soft": (lambda X, anchors: reference.codes.soft(X, anchors, N_NEIGHBORS, 0.7)),
    "inverse": (lambda X, anchors: reference.codes.inverse(X, anchors, N_NEIGHBORS)),
    "reconstruction": (lambda X, anchors: reference.codes.reconstruction(X, anchors, N_NEIGHBORS)),
}
each_coding = pytest.mark.parametrize("coding", GATES)


@pytest.fixture
def anchors(rng):
    return rng.standard_normal((11, 5))


@pytest.fixture
def rows(rng):
    return rng.standard_normal((30, 5))


@each_coding
def test_codes_follow_their_definition(coding, anchors, rows):
    # inverse: the distance itself comes from a difference of squares, hence √ε
    tolerance = 1e-7 if coding == "inverse" else 1e-9
    codes = GATES[coding](anchors)(rows)
    np.testing.assert_allclose(codes, DEFINITIONS[coding](rows, anchors), atol=tolerance)


@each_coding
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_of_a_row_sum_to_one(coding, anchors, rows, dtype):
    codes = GATES[coding](anchors.astype(dtype))(rows.astype(dtype))
    np.testing.assert_allclose(codes.sum(axis=1), 1.0, atol=4 * np.finfo(dtype).eps)


@each_coding
def test_as_many_codes_differ_from_zero_as_there_are_neighbors(coding, anchors, rows):
    codes = GATES[coding](anchors)(rows)
    np.testing.assert_array_equal(np.count_nonzero(codes, axis=1), N_NEIGHBORS)


@each_coding
def test_sparse_rows_have_the_codes_of_dense_ones(coding, anchors, rows):
    rows[rows < 0] = 0.0
    gate = GATES[coding](anchors)
    np.testing.assert_allclose(gate(csr_matrix(rows)), gate(rows), atol=1e-9)


@each_coding
def test_codes_keep_the_precision_of_the_rows(coding, anchors, rows):
    gate = GATES[coding](anchors.astype(np.float32))
    assert gate(rows.astype(np.float32)).dtype == np.float32


@each_coding
def test_float32_codes_far_from_the_origin_are_accurate(coding, anchors, rows):
    anchors, rows = (anchors + 1e4).astype(np.float32), (rows + 1e4).astype(np.float32)
    codes = GATES[coding](anchors)(rows)
    # Half distances are known to ‖x‖ ‖u‖ ε ≈ 0.01, of which codes feel a part.
    np.testing.assert_allclose(codes, DEFINITIONS[coding](rows, anchors), atol=0.02)


@each_coding
def test_a_row_that_is_an_anchor_belongs_to_it(coding, anchors):
    codes = GATES[coding](anchors)(anchors)
    np.testing.assert_array_equal(codes.argmax(axis=1), np.arange(len(anchors)))
    assert np.all(np.isfinite(codes))


@pytest.mark.parametrize("coding", ["inverse", "reconstruction"])
def test_a_row_that_is_an_anchor_has_code_one_there(coding, anchors):
    codes = GATES[coding](anchors)(anchors)
    # reconstruction: the ridge, 10⁻⁴ of the trace, leaves a few thousandths to the others
    np.testing.assert_allclose(codes, np.eye(len(anchors)), atol=5e-3)


@each_coding
def test_anchors_in_one_place_share_equally(coding):
    codes = GATES[coding](np.ones((4, 3)))(np.ones((2, 3)))
    np.testing.assert_allclose(codes, 0.25)


@each_coding
def test_codes_do_not_depend_on_the_number_of_threads(coding, anchors, rng):
    X = rng.standard_normal((1030, 5))  # two blocks
    gate = GATES[coding](anchors)
    for one, two in zip(gate.codes(X), gate.codes(X, n_jobs=2)):
        np.testing.assert_array_equal(one, two)


@each_coding
def test_a_row_has_the_same_neighbors_alone_and_in_a_block(coding, anchors, rows):
    gate = GATES[coding](anchors)
    indices, values = gate.codes(rows)
    for i in range(5):
        alone, value = gate.codes(rows[i : i + 1])
        np.testing.assert_array_equal(alone[0], indices[i])
        np.testing.assert_allclose(value[0], values[i], atol=1e-9)


def test_reconstruction_rebuilds_rows_in_the_affine_hull_of_their_neighbors(rng):
    anchors = rng.standard_normal((3, 5))
    mixtures = rng.dirichlet(np.ones(3), size=10)
    gate = ReconstructionCodes(anchors, 3, ridge=1e-12)
    np.testing.assert_allclose(gate(mixtures @ anchors), mixtures, atol=1e-6)  # from the ridge


def test_reconstruction_codes_may_be_negative_outside_the_hull(rng):
    anchors = np.array([[0.0], [1.0]])
    codes = ReconstructionCodes(anchors, 2, ridge=1e-12)(np.array([[3.0]]))
    np.testing.assert_allclose(codes, [[-2.0, 3.0]], atol=1e-6)  # from the ridge


def test_sharp_soft_assignment_is_nearest_anchor(anchors, rows):
    codes = SoftAssignment(anchors, N_NEIGHBORS, 1e9)(rows)
    expected = [reference.codes.nearest(x, anchors, 1)[0] for x in rows]
    np.testing.assert_array_equal(codes.argmax(axis=1), expected)
    np.testing.assert_array_equal(codes.max(axis=1), 1.0)


def test_flat_soft_assignment_is_uniform(anchors, rows):
    codes = SoftAssignment(anchors, len(anchors), 1e-12)(rows)
    np.testing.assert_allclose(codes, 1.0 / len(anchors))


def test_soft_assignment_does_not_overflow_far_away(anchors):
    codes = SoftAssignment(anchors, N_NEIGHBORS, 1.0)(np.full((1, 5), 1e6))
    np.testing.assert_allclose(codes.sum(axis=1), 1.0)


def test_default_sharpness_is_one_over_the_mean_spread(anchors, rows):
    squares = np.sort(((rows[:, None] - anchors) ** 2).sum(axis=2), axis=1)[:, :N_NEIGHBORS]
    expected = 1.0 / np.mean(squares.mean(axis=1) - squares[:, 0])
    assert default_sharpness(anchors, N_NEIGHBORS, rows) == pytest.approx(expected)


def test_default_sharpness_follows_the_scale_of_the_data(anchors, rows):
    one = default_sharpness(anchors, N_NEIGHBORS, rows)
    assert default_sharpness(10 * anchors, N_NEIGHBORS, 10 * rows) == pytest.approx(one / 100)


def test_default_sharpness_is_one_where_there_is_no_spread(anchors, rows):
    assert default_sharpness(anchors, 1, rows) == 1.0


def test_densify_puts_values_in_their_columns():
    indices = np.array([[2, 0], [1, 2]], dtype=np.int32)
    values = np.array([[0.7, 0.3], [0.4, 0.6]])
    np.testing.assert_array_equal(densify(indices, values, 3), [[0.3, 0, 0.7], [0, 0.4, 0.6]])
