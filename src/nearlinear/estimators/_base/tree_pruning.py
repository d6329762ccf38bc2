"""How much of some trees goes: held-out rows choose."""

import numpy as np

from ...solvers.trees.pruning import PrunedScores, kept_nodes, node_strengths, pruning_levels
from .capacity import simplest


def pruned_nodes(norm, trees, Z, targets, weight, loss):
    """For each tree, which nodes stay.

    Nodes go by the norm of their weights, at one level for all trees. The highest level is taken
    whose loss on held-out rows is within half a standard error of the lowest.
    """
    strengths = [node_strengths(tree, norm) for tree in trees]
    scores = [PrunedScores(tree, Z) for tree in trees]

    def kept(level):
        return [kept_nodes(one, level) for one in strengths]

    losses = {}
    for level in pruning_levels(strengths):
        parts = [score(nodes) for score, nodes in zip(scores, kept(level), strict=True)]
        losses[level] = loss.value(np.mean(parts, axis=0), targets)
    return kept(simplest(losses, weight))
