"""Which nodes of a tree may go: those whose weights, and those of all below them, are short."""

import numpy as np

from ...gates.trees.balanced import hard_paths, local_scores_along_paths
from .paths import path_features

_MOST_LEVELS = 32  # of pruning that are compared


def node_strengths(model, norm):
    """The largest norm of the weights in the subtree of each node, relative to the tree's largest.

    It never grows on the way down, so the nodes above a level are a tree. ``norm`` is "l1" or "l2".
    """
    flat = model.weights.reshape(len(model.weights), -1).astype(np.float64)
    norms = np.abs(flat).sum(axis=1) if norm == "l1" else np.sqrt((flat**2).sum(axis=1))
    if model.has_linear_root:
        norms[0] = 0.0  # it stays anyway, and says nothing of the others
    for node in range(len(norms) - 1, 0, -1):
        parent = (node - 1) // 2
        norms[parent] = max(norms[parent], norms[node])
    return norms / norms.max(initial=1e-300) if norms.max() > 0 else norms


def kept_nodes(strengths, level):
    """Which nodes stay; the root always does."""
    kept = strengths > level
    kept[0] = True
    return kept


def pruning_levels(strengths):
    """Levels from all but the root pruned to none, some quantiles of the strengths of all trees."""
    found = np.unique(np.concatenate([one[1:] for one in strengths]))
    if len(found) > _MOST_LEVELS:
        places = np.linspace(0, len(found) - 1, _MOST_LEVELS).round().astype(int)
        found = found[np.unique(places)]
    return [*found[::-1], -1.0]


class PrunedScores:
    """Scores of some rows under any pruning of a tree: what each node of a path adds is known."""

    def __init__(self, model, Z):
        seen = model.rows(Z)
        self._paths = hard_paths(seen, model.splits, model.depth)
        features = path_features(model, seen, self._paths)
        self._parts = features[:, :, None] * local_scores_along_paths(
            model.weights, seen, self._paths
        )

    def __call__(self, kept):
        return np.einsum("ik,ikc->ic", kept[self._paths].astype(self._parts.dtype), self._parts)
