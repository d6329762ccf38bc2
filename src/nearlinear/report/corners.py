"""Where a predictor changes from one piece to the next on a straight way z + s·d, 0 < s < 1.

Each rule names all places where the predictor may have a corner or a jump; at some of them it may
have none. Kinds without a rule are smooth, or are taken for it.
"""

import numpy as np

from ..kinds import kind_of
from ..maps import Affine

_STEPS, _HALVINGS = 128, 40


def corners(predictor, start, step):
    """Places between 0 and 1, in rising order."""
    rule = RULES.get(kind_of(predictor))
    found = np.empty(0) if rule is None else np.asarray(rule(predictor, start, step), np.float64)
    return np.unique(found[(found > 0.0) & (found < 1.0)])


def _met(levels, start, step):
    """Where start + s·step is at these levels; nowhere if it stands still."""
    levels, start, step = np.broadcast_arrays(np.asarray(levels, np.float64), start, step)
    moves = step != 0.0
    with np.errstate(over="ignore"):
        return (levels[moves] - start[moves]) / step[moves]


def _additive(predictor, start, step):
    counts = np.diff(predictor.firsts)
    columns = np.repeat(np.arange(len(counts)), counts)
    return _met(predictor.knots, start[columns], step[columns])


def _forest(predictor, start, step):
    gate = predictor.gate
    first, second = gate.pairs.reshape(-1, 2).T.astype(np.intp)
    factors = gate.factors.reshape(-1, 2).astype(np.float64)

    def with_pairs(z):
        return np.concatenate([z, factors[:, 0] * z[first] + factors[:, 1] * z[second]])

    split = gate.columns >= 0
    columns = gate.columns[split]
    return _met(gate.thresholds[split], with_pairs(start)[columns], with_pairs(step)[columns])


def _tree(predictor, start, step):
    """Splits see the last columns of [x; 1], as many as they have."""
    width = predictor.splits.shape[1]
    splits = predictor.splits.astype(np.float64)
    return _met(
        0.0, splits @ np.append(start, 1.0)[-width:], splits @ np.append(step, 0.0)[-width:]
    )


def _hinges(predictor, start, step):
    """Where a unit of any layer begins or ceases to count; between those before, all are lines."""
    edges = np.array([0.0, 1.0])
    for depth in range(1, len(predictor.weights)):
        thirds = edges[:-1, None] + np.diff(edges)[:, None] * [1 / 3, 2 / 3]
        values = start + thirds[:, :, None] * step
        for weights, biases in zip(predictor.weights[:depth], predictor.biases[:depth]):
            planes = values @ weights.astype(np.float64) + biases
            values = np.maximum(planes, 0.0)
        met = _met(0.0, 2.0 * planes[:, 0] - planes[:, 1], 3.0 * (planes[:, 1] - planes[:, 0]))
        pieces = np.broadcast_to(np.arange(len(thirds))[:, None], planes[:, 0].shape)
        pieces = pieces[planes[:, 1] != planes[:, 0]]
        inside = (met > 0.0) & (met < 1.0)
        found = edges[pieces] + met * np.diff(edges)[pieces]
        edges = np.unique(np.concatenate([edges, found[inside]]))
    return edges


def _locally_linear(predictor, start, step):
    if not predictor.is_sparse or predictor.gate.n_neighbors >= len(predictor.gate.anchors):
        return []
    return _changes(lambda Z: np.sort(predictor.gate.codes(Z)[0], axis=1), predictor, start, step)


def _cells(predictor, start, step):
    return _changes(lambda Z: predictor.cells(Z)[:, None], predictor, start, step)


def _changes(labels, predictor, start, step):
    """Where others begin to answer: seen on a fine grid, then halved to the last digits."""

    def at(places):
        return labels((start + places[:, None] * step).astype(predictor.dtype))

    grid = np.linspace(0.0, 1.0, _STEPS + 1)
    seen = at(grid)
    turns = np.flatnonzero(np.any(seen[1:] != seen[:-1], axis=1))
    low, high, before = grid[turns], grid[turns + 1], seen[turns]
    for _ in range(_HALVINGS if len(turns) else 0):
        middle = (low + high) / 2.0
        is_same = np.all(at(middle) == before, axis=1)
        low, high = np.where(is_same, middle, low), np.where(is_same, high, middle)
    return high


def _mapped(predictor, start, step):
    if not isinstance(predictor.map, Affine):
        return []
    matrix = predictor.map.matrix.astype(np.float64)
    return corners(predictor.predictor, matrix @ np.append(start, 1.0), matrix[:, :-1] @ step)


def _of_all(name):
    def rule(predictor, start, step):
        found = [corners(part, start, step) for part in getattr(predictor, name)]
        return np.concatenate(found)

    return rule


RULES = {
    "Additive": _additive,
    "Forest": _forest,
    "TreePath": _tree,
    "TreeLeaves": _tree,
    "LinkedTree": _tree,
    "LocallyLinear": _locally_linear,
    "GaussianCells": _cells,
    "Hinges": _hinges,
    "Mapped": _mapped,
    "Exponential": lambda predictor, start, step: corners(predictor.predictor, start, step),
    "Averaged": _of_all("members"),
    "Stacked": _of_all("outputs"),
}


def is_of_lines(predictor):
    """Whether its pieces are straight lines, and no calibration bends them."""
    kind = kind_of(predictor)
    if kind in ("Additive", "Forest", "Hinges"):
        return True
    if kind == "LocallyLinear":
        return predictor.is_sparse and predictor.gate.n_neighbors == 1
    if kind in ("TreePath", "TreeLeaves", "LinkedTree"):
        return predictor.node_gate.name == "indicator"
    if kind == "Mapped":
        return isinstance(predictor.map, Affine) and is_of_lines(predictor.predictor)
    if kind == "Averaged":
        is_plain = not predictor.calibrations or len(predictor.members) == 1
        return is_plain and all(is_of_lines(one) for one in predictor.members)
    return False
