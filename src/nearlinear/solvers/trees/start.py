"""Where a tree starts: splits from the data, top down, so that every node has rows."""

import numpy as np
from sklearn.utils.extmath import randomized_svd

from ...gates.trees.balanced import columns_seen, count_nodes, count_splits
from .model import TreeModel

_MOST_ROWS = 20000  # directions of a split need no more
_LLOYD_STEPS = 5
_PROJECTED_ROWS = 5000
_DEAD = 0.01  # share of a node's rows below which a side counts as empty
_FEWEST_ROWS = 20  # a node with fewer rows has nothing to part


def start_tree(Z, depth, n_outputs, node_gate, rng, *, from_data=True, seen=None):
    """A tree with small random weights; its splits part the rows in equal halves, or at random.

    Splits and slopes see the last ``seen`` columns of the rows, or all.
    """
    n_nodes, width = count_nodes(depth), Z.shape[1]
    n_split_rows, n_slope_rows = node_gate.direction_rows(n_nodes)
    seen = width if seen is None else seen

    def draw(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(Z.dtype)

    splits, slopes = draw(n_split_rows, seen), draw(n_slope_rows, seen)
    weights = Z.dtype.type(0.3) * draw(n_nodes, n_outputs, width)
    if from_data and depth:
        rows = np.arange(Z.shape[0])
        if len(rows) > _MOST_ROWS:
            rows = np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False))
        _split_in_halves(columns_seen(Z[rows], seen), depth, splits, rng)
    return TreeModel(splits, slopes, weights, node_gate)


def start_projection(Z, n_components, rng, first=None):
    """The ``first`` directions, then principal ones, so that projected rows have unit spread."""
    rows = Z[np.sort(rng.choice(Z.shape[0], min(Z.shape[0], _PROJECTED_ROWS), replace=False))]
    rows = rows[:, :-1]
    seed = int(rng.integers(2**31))
    first = np.empty((0, rows.shape[1])) if first is None else first
    n_principal = n_components - len(first)
    _, _, principal = randomized_svd(rows, n_principal, random_state=seed)
    return np.concatenate([_unit_spread(first, rows), _unit_spread(principal, rows)]).astype(
        Z.dtype
    )


def _unit_spread(directions, rows):
    """Scaled together so that the rows' projections have a mean square of one."""
    if not len(directions):
        return directions
    spread = np.sqrt(np.mean(np.asarray(rows @ directions.T, dtype=np.float64) ** 2))
    return directions / max(spread, 1e-12)


def _split_in_halves(Z, depth, splits, rng):
    """Fill ``splits`` from the root down; nodes that no two rows reach keep what they had."""
    members = {0: np.arange(Z.shape[0])}
    for node in range(count_splits(depth)):
        rows = members.pop(node)
        scores = np.zeros(len(rows))
        if len(rows) > 1:
            direction = halving_direction(Z[rows], rng)
            if direction is not None:
                splits[node] = direction
            scores = Z[rows] @ splits[node]
        members[2 * node + 1], members[2 * node + 2] = rows[scores > 0], rows[scores <= 0]


def halving_direction(Z, rng):
    """Between the centers of two clusters, through the median; None where all rows are equal.

    Scaled so that rows lie at a distance of about one.
    """
    first, second = (_row(Z, i) for i in rng.choice(Z.shape[0], 2, replace=False))
    if np.array_equal(first, second):
        # the farthest row is another one if there is any
        second = _row(Z, np.argmax(_squares(Z) - 2.0 * np.asarray(Z @ first).ravel()))
    for _ in range(_LLOYD_STEPS):
        direction = first - second
        middle = 0.5 * (first + second) @ direction
        nearer = np.asarray(Z @ direction).ravel() > middle
        if nearer.all() or not nearer.any():
            break
        first, second = _mean(Z[nearer]), _mean(Z[~nearer])
    direction = (first - second).astype(np.float64)
    direction[-1] = 0.0
    scores = np.asarray(Z @ direction).ravel()
    low, high = np.partition(scores, [(len(scores) - 1) // 2, len(scores) // 2])[
        [(len(scores) - 1) // 2, len(scores) // 2]
    ]
    spread = np.mean(np.abs(scores - 0.5 * (low + high)))
    if not spread > 0:
        return None
    direction[-1] = -0.5 * (low + high)
    return direction / spread


def revive_splits(model, Z, rng):
    """New directions, {node: direction}, for splits that send nearly all rows to one side."""
    if Z.shape[0] > _MOST_ROWS:
        Z = Z[np.sort(rng.choice(Z.shape[0], _MOST_ROWS, replace=False))]
    Z = columns_seen(model.rows(Z), model.splits.shape[1])
    splits, revived = model.splits.copy(), {}
    members = {0: np.arange(Z.shape[0])}
    for node in range(count_splits(model.depth)):
        rows = members.pop(node)
        with np.errstate(invalid="ignore"):  # BLAS flags numbers beyond a short row, now and then
            scores = np.asarray(Z[rows] @ splits[node])
        n_left = np.count_nonzero(scores > 0)
        if len(rows) >= _FEWEST_ROWS and min(n_left, len(rows) - n_left) < _DEAD * len(rows):
            direction = halving_direction(Z[rows], rng)
            if direction is not None:
                # as far from the rows as before, so that the split is as sharp as the others
                splits[node] = revived[node] = direction * np.mean(np.abs(scores))
                scores = np.asarray(Z[rows] @ splits[node])
        members[2 * node + 1], members[2 * node + 2] = rows[scores > 0], rows[scores <= 0]
    return revived


def _mean(rows):
    return np.asarray(rows.mean(axis=0)).ravel()


def _row(Z, i):
    return Z[i] if isinstance(Z, np.ndarray) else Z[[i]].toarray().ravel()


def _squares(Z):
    if isinstance(Z, np.ndarray):
        return np.einsum("id,id->i", Z, Z)
    return np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
