"""How much of some trees goes: held-out rows choose along a path of prunings."""

from ...solvers.trees.pruning import adapt_tree, node_strengths, pruned_scores, strongest
from .capacity import is_hopeless, simplest

_STEP = 0.7  # share of the nodes that a step of the path leaves
_EPOCH_SHARE = 0.1  # of all epochs, for what is left to adapt in each step


def prune_trees(norm, trees, train, held_out, loss, n_epochs, **settings):
    """Trees, and for each which nodes stay (None for all).

    In each step the nodes of the shortest weights go, by ``norm``, and the others adapt to that.
    The smallest trees are taken whose loss on held-out rows is within half a standard error of the
    lowest. ``train`` and ``held_out`` are scaled rows, targets and weights; ``settings`` go to
    ``adapt_tree``.
    """
    Z, targets, weight = held_out
    path = {1.0: (trees, [None] * len(trees))}
    losses = {1.0: loss.value(_mean(trees, Z, [_all(tree) for tree in trees]), targets)}
    share, n_epochs = 1.0, max(1, round(_EPOCH_SHARE * n_epochs))
    while any(int(share * len(tree.weights)) > 1 for tree in trees):
        share *= _STEP
        kept = [
            strongest(node_strengths(tree, norm), max(1, int(share * len(tree.weights))))
            for tree in trees
        ]
        trees = [
            adapt_tree(*train, tree, nodes, loss=loss, n_epochs=n_epochs, **settings)
            for tree, nodes in zip(trees, kept, strict=True)
        ]
        path[share], losses[share] = (trees, kept), loss.value(_mean(trees, Z, kept), targets)
        if is_hopeless(losses[share], losses, weight):
            break
    smallest_first = dict(reversed(losses.items()))
    return path[simplest(smallest_first, weight)]


def _mean(trees, Z, kept):
    scores = [pruned_scores(tree, Z, nodes) for tree, nodes in zip(trees, kept, strict=True)]
    return sum(scores) / len(scores)


def _all(tree):
    return strongest(node_strengths(tree, "l2"), len(tree.weights))
