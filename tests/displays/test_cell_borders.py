"""Exact borders between the cells of a tree."""

import numpy as np
import pytest

from nearlinear.displays.cell_borders import cell_borders, snap
from nearlinear.gates.trees.node_gates import TanhNode
from nearlinear.predictors.tree_path import TreePath
from reference import tree

LOW, HIGH = np.array([0.0, 0.0]), np.array([4.0, 2.0])


def with_splits(splits):
    splits = np.asarray(splits, dtype=float)
    weights = np.zeros((2 * len(splits) + 1, 1, splits.shape[1]))
    return TreePath(splits, weights[:, 0], weights, np.zeros(1), TanhNode())


def as_it_is(points):
    return points


def sorted_ends(border):
    return sorted(border.tolist())


def test_a_split_ends_at_the_picture_and_its_children_end_at_it():
    # x < 1 goes left; there y is parted at 0.5, on the right at x + y = 3
    predictor = with_splits([[-1, 0, 1], [0, 1, -0.5], [1, 1, -3]])
    borders, nodes = cell_borders(predictor, LOW, HIGH, as_it_is)
    assert nodes.tolist() == [0, 1, 2]
    expected = [[[1, 0], [1, 2]], [[0, 0.5], [1, 0.5]], [[1, 2], [3, 0]]]
    for border, ends in zip(borders, expected):
        np.testing.assert_allclose(sorted_ends(border), ends, atol=1e-12)


def test_a_border_outside_its_cell_or_the_picture_is_not_drawn():
    # the left cell is x < 1, where x is never parted at 2; y = 5 lies above the picture
    predictor = with_splits([[-1, 0, 1], [1, 0, -2], [0, 1, -5]])
    _, nodes = cell_borders(predictor, LOW, HIGH, as_it_is)
    assert nodes.tolist() == [0]


def test_a_split_that_parts_nothing_has_no_border():
    borders, nodes = cell_borders(with_splits([[0, 0, 1.0]]), LOW, HIGH, as_it_is)
    assert borders.shape == (0, 2, 2)
    assert len(nodes) == 0


def test_paths_change_across_every_border(rng):
    predictor = with_splits(rng.standard_normal((15, 3)))
    low, high = np.array([-2.0, -2.0]), np.array([2.0, 2.0])
    borders, nodes = cell_borders(predictor, low, high, as_it_is)
    assert len(nodes) > 3
    for (start, end), node in zip(borders, nodes):
        along = (end - start) / np.linalg.norm(end - start)
        aside = 1e-7 * np.array([-along[1], along[0]])
        for share in (0.01, 0.5, 0.99):
            point = start + share * (end - start)
            paths = [
                tree.path(np.append(point + side * aside, 1.0), predictor.splits, 4)
                for side in (-1, 1)
            ]
            level = int(np.log2(node + 1))
            assert paths[0][level] == paths[1][level] == node
            assert paths[0][level + 1] != paths[1][level + 1]


def test_borders_follow_rows_that_were_moved_scaled_and_rotated():
    predictor = with_splits([[1, 0, 0]])  # the tree's own first feature at 0
    borders, _ = cell_borders(
        predictor, LOW, HIGH, lambda points: points @ [[1, 1], [1, -1]] - [3, 0]
    )
    np.testing.assert_allclose(sorted_ends(borders[0]), [[1, 2], [3, 0]], atol=1e-12)


@pytest.mark.parametrize("bend", [np.exp, lambda points: points * points[:, ::-1]])
def test_bent_rows_are_refused(bend):
    with pytest.raises(ValueError, match="keep lines straight"):
        cell_borders(with_splits([[1, 0, 0]]), LOW, HIGH, bend)


def test_only_points_less_than_a_step_away_move_to_a_border():
    border = np.array([[[0.0, 0.0], [10.0, 0.0]]])
    points = np.array([[1.0, 0.1], [2.0, -0.19], [3.0, 0.3], [10.5, 0.1], [20.0, 0.0]])
    moved = snap(points, border, steps=np.array([1.0, 0.2]))
    expected = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.3], [10.0, 0.0], [20.0, 0.0]]
    np.testing.assert_allclose(moved, expected, atol=1e-12)
