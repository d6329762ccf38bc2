"""Places of nodes in the diagram."""

import numpy as np
import pytest

from nearlinear.displays.tree_layout import label_rooms, level_of, place_nodes

TRAFFIC = np.array([1.0, 0.25, 0.75, 0.25, 0.0, 0.5, 0.25])


def test_levels_of_a_heap():
    assert [level_of(node) for node in range(8)] == [0, 1, 1, 2, 2, 2, 2, 3]


def test_nodes_that_no_row_passes_have_no_place():
    assert sorted(place_nodes(TRAFFIC)) == [0, 1, 2, 3, 5, 6]


def test_widths_are_in_proportion_to_traffic():
    places = place_nodes(TRAFFIC)
    widths = {node: right - left for node, (left, right) in places.items()}
    for node, width in widths.items():
        assert width == pytest.approx(TRAFFIC[node] * widths[0])


def test_the_lowest_nodes_fill_the_width_without_touching():
    places = [place_nodes(TRAFFIC)[node] for node in (3, 5, 6)]
    assert places[0][0] == 0.0
    assert places[-1][1] == pytest.approx(1.0)
    assert all(right < left for (_, right), (left, _) in zip(places, places[1:]))  # noqa: RUF007


def test_cousins_stand_further_apart_than_siblings():
    places = place_nodes(np.array([1.0, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]))
    siblings = places[4][0] - places[3][1]
    assert places[5][0] - places[4][1] > siblings > 0
    assert places[6][0] - places[5][1] == pytest.approx(siblings)


def test_a_parent_stands_over_the_middle_of_its_children():
    places = place_nodes(TRAFFIC)
    assert sum(places[2]) == pytest.approx(places[5][0] + places[6][1])
    assert sum(places[1]) == pytest.approx(sum(places[3]))


def test_a_tree_without_splits_has_one_place():
    assert place_nodes(np.ones(1)) == {0: (0.0, 1.0)}


def test_labels_of_neighbors_share_the_room_between_them():
    rooms = label_rooms({0: (0.0, 1.0), 1: (0.0, 0.2), 2: (0.6, 1.0)})
    # middles 0.1 and 0.8: the edge of the picture is nearest to both
    assert rooms[1] == pytest.approx(0.24)
    assert rooms[2] == pytest.approx(0.44)
    rooms = label_rooms({1: (0.3, 0.5), 2: (0.5, 0.7)})
    assert rooms == pytest.approx({1: 0.2, 2: 0.2})
