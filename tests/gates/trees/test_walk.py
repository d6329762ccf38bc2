"""Blocks of rows down a tree, against one row after the other."""

import numpy as np
import pytest

from nearlinear.gates.trees.balanced import pad
from nearlinear.gates.trees.walk import VECTOR_BYTES, WalkBlock
from reference.tree_problem import make_directions, path_products

pytestmark = pytest.mark.passes
each_type = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def make_block(inner, leaves, n_rows):
    return WalkBlock(pad(inner, VECTOR_BYTES), pad(leaves, VECTOR_BYTES), n_rows)


def assert_walks_as_expected(block, X, inner, leaves):
    block.walk(X)
    products, at_leaf = path_products(X, inner, leaves)
    # sums of up to twenty products of size one
    tolerance = 50 * np.finfo(X.dtype).eps
    np.testing.assert_allclose(block.found.inner[:, :, : len(X)], products, atol=tolerance)
    np.testing.assert_allclose(block.found.leaf[:, : len(X)], at_leaf, atol=tolerance)


@each_type
@pytest.mark.parametrize("depth", [0, 1, 4])
@pytest.mark.parametrize("n_features", [1, 7, 16])
def test_products_are_those_of_the_nodes_on_each_path(rng, depth, n_features, dtype):
    inner, leaves = make_directions(rng, depth, 4, 3, n_features, dtype)
    X = rng.standard_normal((25, n_features)).astype(dtype)
    assert_walks_as_expected(make_block(inner, leaves, 25), X, inner, leaves)


# Four rows and three directions are taken at a time: every remainder occurs here.
@pytest.mark.parametrize("n_rows", range(1, 10))
@pytest.mark.parametrize("n_directions", [1, 2, 3, 5])
def test_remainders_of_rows_and_directions_are_not_forgotten(rng, n_rows, n_directions):
    inner, leaves = make_directions(rng, 2, n_directions, n_directions, 3, np.float64)
    X = rng.standard_normal((n_rows, 3))
    assert_walks_as_expected(make_block(inner, leaves, n_rows), X, inner, leaves)


def test_a_block_used_again_for_fewer_rows_remembers_nothing(rng):
    inner, leaves = make_directions(rng, 3, 2, 2, 3, np.float64)
    block = make_block(inner, leaves, 20)
    block.walk(100.0 * rng.standard_normal((20, 3)))
    assert_walks_as_expected(block, rng.standard_normal((6, 3)), inner, leaves)


def test_rows_that_all_go_one_way_reach_their_leaf(rng):
    inner, leaves = make_directions(rng, 3, 2, 2, 3, np.float64)
    inner[:, 0] = [0.0, 0.0, 0.0, -1.0]
    X = rng.standard_normal((9, 3))
    assert_walks_as_expected(make_block(inner, leaves, 9), X, inner, leaves)


def test_a_row_on_the_border_goes_to_the_right():
    inner, leaves = np.array([[[1.0, 0.0]]]), np.array([[[0.0, 1.0]], [[0.0, 2.0]]])
    block = make_block(inner, leaves, 3)
    block.walk(np.array([[0.0], [1.0], [-1.0]]))
    assert block.found.leaf[0].tolist() == [2.0, 1.0, 2.0]
