"""Which pair columns are worth having: those that explain most of a small forest."""

from dataclasses import replace

import numpy as np

from ....gates.forests.gains import gains_by_column
from ....losses import LogLoss, SquaredError
from ....solvers.forests.pairs import PER_PAIR, PairColumns, best_of, candidates
from .boosting import grow_hist
from .orders import Columns, Shape

_SCREEN_ROWS, _SCREEN_COLUMNS = 60_000, 12
_BYTES = 32  # of a number: as it is, in double precision, as a bin, and in between
_HISTOGRAM_BYTES = 256 * 20  # HistGradientBoosting: 256 bins of one feature in one node
_SCREEN = Shape(5, 255, 0.5)
_FEW_VALUES = 6  # a column of so many is no number to add to others


def column_scales(X, weight):
    """Weighted means and standard deviations of columns; missing values do not count."""
    known = ~np.isnan(X)
    total = np.maximum(known.T @ weight, np.finfo(np.float64).tiny)
    seen = np.where(known, X, 0.0).astype(np.float64)
    means = (weight @ seen) / total
    squares = weight @ np.where(known, (seen - means) ** 2, 0.0)
    return means, np.sqrt(squares / total)


def numeric_columns(X, categorical):
    """Columns of more than a few values that are no categories."""
    some = X[:: max(1, len(X) // 20_000)]
    many = [len(np.unique(column[~np.isnan(column)])) > _FEW_VALUES for column in some.T]
    return np.flatnonzero(many if categorical is None else many & ~categorical)


def screen_pairs(rows, columns, count, loss, seed):
    """The pair columns that explain most of a small forest."""
    constrained = np.zeros(rows.X.shape[1], dtype=bool)
    if columns.monotonic is not None:
        constrained = columns.monotonic != 0
    if columns.interactions is not None:  # a pair would let columns interact
        return PairColumns.none()
    numeric = numeric_columns(rows.X, columns.categorical)
    numeric = numeric[~constrained[numeric]]
    if len(numeric) < 2:
        return PairColumns.none()
    if len(rows.X) > _SCREEN_ROWS:
        some = np.random.RandomState(seed).choice(len(rows.X), _SCREEN_ROWS, replace=False)
        rows = rows.take(np.sort(some))
    if len(numeric) > _SCREEN_COLUMNS:
        gains = _gains(rows, rows.X, Columns(PairColumns.none()), loss, seed)[numeric]
        numeric = np.sort(numeric[np.argsort(-gains, kind="stable")[:_SCREEN_COLUMNS]])
    _, spreads = column_scales(rows.X, rows.weight)
    numeric = numeric[spreads[numeric] > 0]
    found = candidates(numeric, spreads)
    if not len(found):
        return found
    gains = _gains(rows, found.joined_to(rows.X), Columns(found), loss, seed)
    return best_of(found, gains[rows.X.shape[1] :], spreads, count)


def screening_memory(n_rows, n_features):
    """Upper bound in bytes of the features, all candidate pairs and the histograms of one tree."""
    n_rows, n_numeric = min(n_rows, _SCREEN_ROWS), min(n_features, _SCREEN_COLUMNS)
    n_columns = n_features + PER_PAIR * n_numeric * (n_numeric - 1) // 2
    # Histograms are stored for nodes that can be split, and for three nodes during a split.
    n_nodes = min(_SCREEN.max_leaves, n_rows // (2 * _SCREEN.min_rows)) + 3
    return n_columns * (_BYTES * n_rows + _HISTOGRAM_BYTES * n_nodes)


def _gains(rows, A, columns, loss, seed):
    """By column, of a small forest. Several classes are dealt into two groups, anew for a tree."""
    n_features, n_classes = rows.X.shape[1], rows.targets.shape[1]
    shape, sides = _SCREEN, list(rows.targets.T)
    if isinstance(loss, LogLoss) and n_classes > 1:
        rng, shape = np.random.RandomState(seed), replace(_SCREEN, n_trees=1)
        groups = [rng.permutation(np.arange(n_classes) % 2) for _ in range(_SCREEN.n_trees)]
        sides = [2.0 * group[rows.targets.argmax(axis=1)] - 1.0 for group in groups]
    total = 0.0
    for side in sides:
        grown = grow_hist(
            A, side, rows.weight, shape, columns, n_features, SquaredError(), seed=seed
        )
        total = total + gains_by_column(grown.gate, grown.values, grown.covers)
    return total
