"""Where the straight borders of a tree's cells run across a picture of two features."""

import numpy as np

from ..gates.trees.balanced import count_splits

# a + b u + c v >= 0: the four sides of the unit square
_SQUARE = np.array([[0.0, 1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, -1.0]])


# Two more places to see that the tree's rows follow the corners in straight lines.
_PROBES = np.array([[1.0, 1.0], [0.3, 0.7]])


def cell_borders(predictor, low, high, see):
    """The piece of every split's line that lies in its node's cell and in the picture.

    ``low`` and ``high`` are opposite corners of the picture, ``see(points)`` the rows that the
    tree sees there. Returns the ends of the pieces, shape (n_borders, 2, 2), and their nodes.
    """
    lines = _lines_in_picture(predictor, low, high, see)
    borders, nodes = [], []
    for node, line in enumerate(lines):
        piece = _clip(line, np.vstack([_SQUARE, *_way_to(node, lines)]))
        if piece is not None:
            borders.append(low + piece * (high - low))
            nodes.append(node)
    return np.array(borders).reshape(-1, 2, 2), np.array(nodes, dtype=np.intp)


def _lines_in_picture(predictor, low, high, see):
    """Splits as a + b u + c v with u and v in [0, 1] across the picture, from three corners."""
    units = np.vstack([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], _PROBES])
    rows = see(low + units * (high - low)).astype(np.float64)
    corners, probed = rows[:3], rows[3:]
    straight = corners[0] + _PROBES @ (corners[1:] - corners[0])
    if not np.allclose(probed, straight, rtol=1e-4, atol=1e-4):
        raise ValueError(
            "TreeCellsDisplay needs pipeline steps that keep lines straight, such as a scaler."
        )
    splits = predictor.splits[: count_splits(predictor.depth)].astype(np.float64)
    at = splits[:, :-1] @ corners.T + splits[:, -1:]
    return np.column_stack([at[:, 0], at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]])


def snap(vertices, borders, steps):
    """Move points less than a step away from a border onto it.

    Scores may jump there, and a curve interpolated between points of the grid would zigzag.
    """
    moved = vertices / steps
    for start, end in borders / steps:
        along = end - start
        share = np.clip((moved - start) @ along / (along @ along), 0.0, 1.0)
        foot = start + share[:, None] * along
        near = np.linalg.norm(foot - moved, axis=1) < 1.0
        moved[near] = foot[near]
    return moved * steps


def _way_to(node, lines):
    """Half-planes that lead from the root to a node."""
    while node:
        parent = (node - 1) // 2
        yield lines[parent] if node == 2 * parent + 1 else -lines[parent]
        node = parent


def _clip(line, sides):
    """The two ends of ``line`` inside all half-planes ``sides``, or None."""
    normal = line[1:]
    length = normal @ normal
    if length == 0:
        return None
    foot, along = -line[0] * normal / length, np.array([-normal[1], normal[0]])
    values, slopes = sides[:, 0] + sides[:, 1:] @ foot, sides[:, 1:] @ along
    if (values[slopes == 0] < 0).any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = -values / slopes
    first = crossings[slopes > 0].max()
    last = crossings[slopes < 0].min()
    return foot + np.outer([first, last], along) if first < last else None
