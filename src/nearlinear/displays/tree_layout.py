"""Where the nodes of a tree stand in its diagram, and how much room their labels have."""

from itertools import pairwise

from ..gates.trees.balanced import count_splits, depth_of

_GAPS = 0.45  # share of the width that parts the lowest nodes, where there are many


def level_of(node):
    return int(node + 1).bit_length() - 1


def place_nodes(traffic):
    """Left and right end of every node that rows pass, in [0, 1].

    The lowest nodes stand side by side, gaps wider between distant relatives and busy nodes; a
    parent stands over the middle of its children.
    """
    depth = depth_of(len(traffic))
    bottom = [node for node in range(count_splits(depth), len(traffic)) if traffic[node] > 0]
    gaps = [
        _generations_apart(left, right) ** 0.5 * (traffic[left] + traffic[right]) ** 0.5
        for left, right in pairwise(bottom)
    ]
    total = sum(gaps)
    share_of_gaps = _GAPS * len(gaps) / (len(gaps) + 4.0)
    places, left = {}, 0.0
    for node, gap in zip(bottom, [*gaps, 0.0]):
        width = (1 - share_of_gaps) * traffic[node]
        places[node] = (left, left + width)
        left += width + (share_of_gaps * gap / total if total else 0.0)
    for node in range(count_splits(depth) - 1, -1, -1):
        children = [places[child] for child in (2 * node + 1, 2 * node + 2) if child in places]
        if children:
            middle = (children[0][0] + children[-1][1]) / 2
            half = (1 - share_of_gaps) * traffic[node] / 2
            places[node] = (middle - half, middle + half)
    return places


def _generations_apart(left, right):
    """1 between siblings, 2 between cousins, ..."""
    generations = 0
    while left != right:
        left, right = (left - 1) // 2, (right - 1) // 2
        generations += 1
    return generations


def label_rooms(places):
    """Width around the middle of each node that no node of its level shares."""
    rooms = {}
    levels = {}
    for node in sorted(places):
        levels.setdefault(level_of(node), []).append(node)
    for nodes in levels.values():
        middles = [sum(places[node]) / 2 for node in nodes]
        edges = [-0.02, *[(a + b) / 2 for a, b in pairwise(middles)], 1.02]
        for node, middle, left, right in zip(nodes, middles, edges, edges[1:]):
            rooms[node] = 2 * min(middle - left, right - middle)
    return rooms
