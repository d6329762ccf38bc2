"""Pruning of trees: the number of nodes is chosen on validation rows."""

from dataclasses import dataclass

import numpy as np

from ...solvers.trees.pruning import adapt_tree, node_strengths, pruned_scores, strongest
from .capacity import HOPELESS, TOLERANCE, standard_errors

_TREE_STEP = 0.7  # share of the nodes that a step of the path leaves
_TREE_EPOCHS = 0.1  # of all epochs, for what is left to adapt in each step


@dataclass(frozen=True)
class Stop:
    """One number of nodes on the path, the model there and its losses on validation rows."""

    n_nodes: int
    model: object
    losses: np.ndarray


def fewest(count, model, shorten, losses, weight):
    """The stop with the least that is about as good as the best, and all stops.

    ``shorten(model, count)`` gives a smaller count and the model there, ``losses(model)`` the loss
    of each held-out row. "About" is within half a standard error of the difference. The path ends
    at a count of 1, or where a model falls far behind.
    """
    path = []
    while True:
        path.append(Stop(count, model, losses(model)))
        best = min(path, key=lambda stop: np.average(stop.losses, weights=weight))
        behind = [standard_errors(stop.losses - best.losses, weight) for stop in path]
        if count == 1 or behind[-1] >= HOPELESS:
            break
        count, model = shorten(model, count)
    # a fit that has diverged has losses that are no numbers: it stays as it is
    fine = [number for number, errors in enumerate(behind) if errors <= TOLERANCE]
    return path[max(fine, default=0)], path


def prune_trees(norm, trees, train, held_out, loss, n_epochs, **settings):
    """Trees, and for each which nodes stay.

    In each step the nodes of the shortest weights go, by ``norm``, and the others adapt to that.
    The smallest trees are taken whose loss on held-out rows is within half a standard error of the
    lowest. ``train`` and ``held_out`` are scaled rows, targets and weights; ``settings`` go to
    ``adapt_tree``.
    """
    Z, targets, weight = held_out
    n_epochs = max(1, round(_TREE_EPOCHS * n_epochs))

    def nodes_left(trees, count):
        return [strongest(node_strengths(tree, norm), count) for tree in trees]

    def shorten(model, count):
        count = max(1, int(_TREE_STEP * count))
        trees, _ = model
        kept = nodes_left(trees, count)
        pairs = zip(trees, kept, strict=True)
        found = [
            adapt_tree(*train, *one, loss=loss, n_epochs=n_epochs, **settings) for one in pairs
        ]
        return count, (found, kept)

    def losses(model):
        scores = [pruned_scores(tree, Z, nodes) for tree, nodes in zip(*model, strict=True)]
        return loss.value(sum(scores) / len(scores), targets)

    count = len(trees[0].weights)
    start = trees, nodes_left(trees, count)
    return fewest(count, start, shorten, losses, weight)[0].model
