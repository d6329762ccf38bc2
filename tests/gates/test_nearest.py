"""Distances to anchors from one product with the centered anchors."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from nearlinear.gates.nearest import AnchorGeometry
from reference.codes import nearest

pytestmark = pytest.mark.passes
FAR = 1e4


@pytest.fixture
def anchors(rng):
    return rng.standard_normal((12, 4))


@pytest.fixture
def rows(rng):
    return rng.standard_normal((20, 4))


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_half_distances_and_shift_are_half_the_squared_distances(anchors, rows, as_rows):
    geometry = AnchorGeometry(anchors)
    halves = geometry.half_distances(as_rows(rows)) + geometry.shift(as_rows(rows))
    np.testing.assert_allclose(halves, 0.5 * cdist(anchors, rows, "sqeuclidean"), atol=1e-12)


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_nearest_anchors_are_found_nearest_first(anchors, rows, as_rows):
    indices, halves = AnchorGeometry(anchors).nearest(as_rows(rows), 5)
    np.testing.assert_array_equal(indices, [nearest(x, anchors, 5) for x in rows])
    assert np.all(np.diff(halves, axis=1) >= 0)


def test_of_equal_anchors_the_first_is_nearest(anchors, rows):
    indices, _ = AnchorGeometry(np.vstack([anchors, anchors])).nearest(rows, 2)
    np.testing.assert_array_equal(indices[:, 1] - indices[:, 0], len(anchors))


def test_one_anchor_is_its_own_mean(rows):
    geometry = AnchorGeometry(np.ones((1, 4)))
    indices, halves = geometry.nearest(rows, 1)
    assert not indices.any()
    assert not halves.any()


@pytest.mark.parametrize("as_rows", [np.asarray, csr_matrix])
def test_float32_distances_far_from_the_origin_are_accurate(anchors, rows, as_rows):
    # Uncentered products would be off by ‖x‖² ε ≈ 24; centered ones by ‖x‖ ‖u‖ ε ≈ 0.01.
    anchors, rows = (anchors + FAR).astype(np.float32), (rows + FAR).astype(np.float32)
    geometry = AnchorGeometry(anchors)
    halves = geometry.half_distances(as_rows(rows)) + geometry.shift(as_rows(rows))
    exact = 0.5 * cdist(anchors.astype(float), rows.astype(float), "sqeuclidean")
    np.testing.assert_allclose(halves, exact, atol=0.02)
