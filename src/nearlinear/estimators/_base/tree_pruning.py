"""How much of some trees goes: held-out rows choose along a path of prunings."""

from ...solvers.trees.pruning import adapt_tree, node_strengths, pruned_scores, strongest
from .pruning import fewest

_STEP = 0.7  # share of the nodes that a step of the path leaves
_EPOCH_SHARE = 0.1  # of all epochs, for what is left to adapt in each step


def prune_trees(norm, trees, train, held_out, loss, n_epochs, **settings):
    """Trees, and for each which nodes stay.

    In each step the nodes of the shortest weights go, by ``norm``, and the others adapt to that.
    The smallest trees are taken whose loss on held-out rows is within half a standard error of the
    lowest. ``train`` and ``held_out`` are scaled rows, targets and weights; ``settings`` go to
    ``adapt_tree``.
    """
    Z, targets, weight = held_out
    n_epochs = max(1, round(_EPOCH_SHARE * n_epochs))

    def nodes_left(trees, count):
        return [strongest(node_strengths(tree, norm), count) for tree in trees]

    def shorten(model, count):
        count = max(1, int(_STEP * count))
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
