"""Memberships and paths of a tree, against products over ancestors written out."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from nearlinear.gates.trees.balanced import (
    count_nodes,
    count_splits,
    depth_of,
    hard_paths,
    local_scores_along_paths,
    soft_memberships,
)
from reference import tree

pytestmark = pytest.mark.passes
each_depth = pytest.mark.parametrize("depth", [0, 1, 4])
each_form = pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "CSR"])


@pytest.fixture
def rows(rng):
    Z = rng.standard_normal((30, 4))
    Z[np.abs(Z) < 0.3] = 0.0
    Z[:, -1] = 1.0
    return Z


@pytest.fixture
def splits(rng, depth):
    return rng.standard_normal((2**depth - 1, 4))


def memberships(Z, splits, turn):
    turns = np.ascontiguousarray(turn(splits @ Z.T))
    return soft_memberships(turns, np.empty((2 * len(splits) + 1, len(Z))))


def level_sums(shares):
    """One row for each level of the tree."""
    levels = range(depth_of(len(shares)) + 1)
    return np.array([shares[2**level - 1 : 2 ** (level + 1) - 1].sum(axis=0) for level in levels])


def signs(scores):
    return np.where(scores > 0, 1.0, -1.0)


@pytest.mark.parametrize(("depth", "n_nodes", "n_splits"), [(0, 1, 0), (1, 3, 1), (4, 31, 15)])
def test_every_split_has_two_children(depth, n_nodes, n_splits):
    assert (count_nodes(depth), count_splits(depth)) == (n_nodes, n_splits)


def test_the_depth_follows_from_the_number_of_nodes():
    assert [depth_of(count_nodes(depth)) for depth in range(15)] == list(range(15))


@each_depth
def test_memberships_are_products_over_the_ancestors(rows, splits, depth):
    found = memberships(rows, splits, tree.soft(1.3))
    expected = [
        [tree.membership(z, node, splits, tree.soft(1.3)) for z in rows]
        for node in range(count_nodes(depth))
    ]
    np.testing.assert_allclose(found, expected, atol=1e-14)


@each_depth
@pytest.mark.parametrize("turn", [tree.soft(0.4), signs], ids=["soft", "hard"])
def test_memberships_of_each_level_add_up_to_one(rows, splits, depth, turn):
    np.testing.assert_allclose(level_sums(memberships(rows, splits, turn)), 1.0, atol=1e-14)


@each_depth
def test_float32_memberships_add_up_to_one(rows, splits, depth):
    turns = np.tanh(splits @ rows.T).astype(np.float32)
    shares = soft_memberships(turns, np.empty((count_nodes(depth), 30), dtype=np.float32))
    np.testing.assert_allclose(level_sums(shares), 1.0, atol=1e-6)  # float32


@each_depth
def test_very_sharp_memberships_are_ones_along_the_hard_path(rows, splits, depth):
    expected = np.zeros((count_nodes(depth), len(rows)))
    for i, nodes in enumerate(hard_paths(rows, splits, depth)):
        expected[nodes, i] = 1.0
    np.testing.assert_array_equal(memberships(rows, splits, tree.soft(1e6)), expected)


@each_depth
@each_form
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_paths_follow_the_signs_of_the_splits(rows, splits, depth, form, dtype):
    found = hard_paths(form(rows.astype(dtype)), splits.astype(dtype), depth)
    assert found.tolist() == [tree.path(z, splits, depth) for z in rows]


@each_form
def test_a_row_on_the_border_goes_to_the_right(form):
    Z = form(np.array([[0.0, 1.0], [1.0, 1.0], [-1.0, 1.0]]))
    assert hard_paths(Z, np.array([[1.0, 0.0]]), 1)[:, 1].tolist() == [2, 1, 2]


@each_form
def test_a_row_of_zeros_goes_right_at_every_split(form):
    assert hard_paths(form(np.zeros((1, 2))), np.ones((3, 2)), 2).tolist() == [[0, 2, 6]]


@each_form
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_directions", [1, 3])
def test_answers_are_products_with_the_nodes_of_the_path(rng, rows, form, dtype, n_directions):
    directions = rng.standard_normal((7, n_directions, 4)).astype(dtype)
    paths = np.array([[0, 1, 4], [0, 2, 6]] * 15, dtype=np.int32)
    found = local_scores_along_paths(directions, form(rows.astype(dtype)), paths)
    expected = [[directions[node] @ z for node in nodes] for z, nodes in zip(rows, paths)]
    # sums of four products
    np.testing.assert_allclose(found, expected, atol=20 * np.finfo(dtype).eps)
    assert found.dtype == dtype
