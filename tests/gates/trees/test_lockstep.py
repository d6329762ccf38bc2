"""Narrow rows down a tree side by side, against one row after the other."""

import numpy as np
import pytest

from nearlinear.gates.trees.balanced import pad
from nearlinear.gates.trees.lockstep import VECTOR_BYTES, LockstepBlock
from reference.tree_problem import make_directions, path_products

pytestmark = pytest.mark.passes


def make_block(inner, leaves, n_rows):
    return LockstepBlock(pad(inner, VECTOR_BYTES), pad(leaves, VECTOR_BYTES), n_rows)


def assert_walks_as_expected(block, X, inner, leaves):
    block.walk(X)
    products, at_leaf = path_products(X, inner, leaves)
    # sums of up to twenty products of size one
    tolerance = 50 * np.finfo(X.dtype).eps
    # the products with the splits themselves are not asked for
    np.testing.assert_allclose(block.found.inner[:, 1:, : len(X)], products[:, 1:], atol=tolerance)
    np.testing.assert_allclose(block.found.leaf[:, : len(X)], at_leaf, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("depth", [0, 1, 4])
@pytest.mark.parametrize("n_features", [1, 7, 16])
def test_products_are_those_of_the_nodes_on_each_path(rng, depth, n_features, dtype):
    inner, leaves = make_directions(rng, depth, 3, 2, n_features, dtype)
    X = rng.standard_normal((25, n_features)).astype(dtype)
    assert_walks_as_expected(make_block(inner, leaves, 25), X, inner, leaves)


# Rows are taken 128 at a time.
@pytest.mark.parametrize("n_rows", [1, 127, 128, 129, 300])
def test_any_number_of_rows_is_taken(rng, n_rows):
    inner, leaves = make_directions(rng, 2, 3, 2, 3, np.float64)
    X = rng.standard_normal((n_rows, 3))
    assert_walks_as_expected(make_block(inner, leaves, n_rows), X, inner, leaves)


def test_a_block_used_again_for_fewer_rows_remembers_nothing(rng):
    inner, leaves = make_directions(rng, 3, 3, 2, 3, np.float64)
    block = make_block(inner, leaves, 20)
    block.walk(100.0 * rng.standard_normal((20, 3)))
    assert_walks_as_expected(block, rng.standard_normal((6, 3)), inner, leaves)


def test_a_row_on_the_border_goes_to_the_right():
    inner = np.array([[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]])
    leaves = np.array([[[0.0, 1.0], [0.0, 0.0]], [[0.0, 2.0], [0.0, 0.0]]])
    block = make_block(inner, leaves, 3)
    block.walk(np.array([[0.0], [1.0], [-1.0]]))
    assert block.found.leaf[0].tolist() == [2.0, 1.0, 2.0]
