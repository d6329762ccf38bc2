"""Sums over a block of rows that a step of all leaf models needs; sums of blocks are added.

The objective is that of ``refit.py``: with leaf models w of a given forest, grown as w₀,

    F(w) = Σ_i weight_i loss(y_i, f_i) + ½ λ Σ_leaves ‖w − w₀‖²,
    f_i = before_i + Σ_t ⟨w_leaf(t, i), z_i⟩.

There a step moves one tree, and scores of all rows are kept. Here no row is kept: a pass over the
rows gives, for the models as they are, the loss, its slope Σ g z by every leaf model, and of its
curvature the part within leaves, Σ h z zᵀ. The sums do not tell which blocks the rows came in, but
for rounding. ``leaf_search.py`` says where the models go from there.
"""

from dataclasses import dataclass

import numpy as np

from ..._compile import compiled, run_blocks
from .leaf_steps import add_scores
from .problem import columns_seen, units_of
from .row_losses import row_loss

_TILE_ENDS = 1 << 22  # rows are looked at together as long as they have no more leaves
_MOST_ROWS, _LEAST_ROWS = 1 << 14, 256


@dataclass(frozen=True)
class LeafFrame:
    """What stays while leaf models move; it can be pickled if its parts can.

    ``gate(X, n_jobs)`` tells the leaf of each row in every tree, and has ``leaf_starts``. Tree t
    adds to the output ``outputs[t]`` if leaves tell one value, else to all. ``before(X)``
    (n_rows, n_outputs) comes before the trees. ``seen(X)`` are the columns that slopes see, or None
    where leaves are constants. ``width`` rounds off the corner of absolute and quantile errors; it
    is 0 for other losses.
    """

    gate: object
    outputs: np.ndarray
    loss: object
    before: object
    seen: object = None
    width: float = 0.0


@dataclass(frozen=True)
class LeafSums:
    """Of some rows: the loss, its slopes (as leaf models are), and its curvature within leaves.

    ``curves`` (n_leaves, n_told, size, size) has lower triangles for models of size ``size``.
    """

    loss: float
    slopes: np.ndarray
    curves: np.ndarray


def leaf_statistics(frame, models, X, targets, weight, n_jobs=None):
    """``LeafSums`` of a block at ``models`` (n_leaves, n_told, 1 + n_slopes).

    ``targets`` (n_rows, n_outputs) and ``weight`` are those of the training rows. The same for any
    ``n_jobs``.
    """
    n_told, size = models.shape[1:]
    starts = frame.gate.leaf_starts
    slopes, curves = np.zeros(models.shape), np.zeros((*models.shape, size))
    units = units_of(frame.outputs, n_told)
    tile = int(np.clip(_TILE_ENDS // len(frame.outputs), _LEAST_ROWS, _MOST_ROWS))
    total = 0.0
    for start in range(0, X.shape[0], tile):
        part = slice(start, start + tile)
        leaves = np.ascontiguousarray(frame.gate(X[part], n_jobs).T)
        Z = columns_seen(None if frame.seen is None else frame.seen(X[part]), leaves.shape[1])
        scores = np.array(np.asarray(frame.before(X[part]), dtype=np.float64).T, order="C")
        for unit in units:
            add_scores(leaves[unit.tree], models[:, unit.told], Z, scores[unit.output])
        y = np.ascontiguousarray(np.asarray(targets[part], dtype=np.float64).T)
        own = np.asarray(weight[part], dtype=np.float64)
        rows = row_loss(frame.loss, scores, y, own, frame.width)
        rows.begin(scores)
        every = slice(0, leaves.shape[1])
        total += rows.smooth_value(scores, every)
        g, h = np.empty((2, *scores.shape))
        for output in range(len(scores)):
            rows.slopes(scores, output, every, g[output], h[output])

        def work(first, last, leaves=leaves, Z=Z, g=g, h=h):
            # the units of one tree have leaves of their own, so threads never meet
            for unit in units[first:last]:
                there = slice(starts[unit.tree], starts[unit.tree + 1])
                add_moments_by_leaf(
                    leaves[unit.tree], starts[unit.tree], g[unit.output], h[unit.output], Z,
                    slopes[there, unit.told], curves[there, unit.told],
                )  # fmt: skip

        run_blocks(work, len(units), max(1, len(units) // 16), n_jobs)
    return LeafSums(float(total), slopes, curves)


def add_sums(one, other):
    """The sums of two blocks together."""
    return LeafSums(one.loss + other.loss, one.slopes + other.slopes, one.curves + other.curves)


@compiled
def add_moments_by_leaf(leaf, first, g, h, Z, slopes, curves):
    """Add Σ g z to ``slopes`` and Σ h z zᵀ to ``curves``, by leaf; leaves count from ``first``."""
    for i in range(len(leaf)):
        slope, curve = slopes[leaf[i] - first], curves[leaf[i] - first]
        slope[0] += g[i]
        curve[0, 0] += h[i]
        for p in range(Z.shape[1]):
            slope[p + 1] += g[i] * Z[i, p]
            scaled = h[i] * Z[i, p]
            curve[p + 1, 0] += scaled
            for q in range(p + 1):
                curve[p + 1, q + 1] += scaled * Z[i, q]
