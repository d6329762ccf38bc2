"""How many anchors, or nodes, the data bear: many at first, then fewer, on held-out rows."""

from dataclasses import dataclass, replace

import numpy as np

from ...losses import LOSSES
from ...predictors.locally_linear import LocallyLinear
from ...solvers.anchors.fixed_gate import solve_local_models
from ...solvers.anchors.pruning import keep_anchors, most_effective
from ...solvers.trees.pruning import adapt_tree, node_strengths, pruned_scores, strongest
from ...solvers.watch import Watch
from .anchors import MOST_ANCHORS, make_anchors, make_gate, predictor_of
from .capacity import HOPELESS, TOLERANCE, judge, standard_errors, tell_verdicts

# The share of the rows that a path is judged on.
_HELD_OUT = 0.2
# Epochs of the first stop and of each further one, as parts of those of a whole fit.
_FIRST_PART, _NEXT_PART = 2, 8
_TREE_STEP = 0.7  # share of the nodes that a step of the path leaves
_TREE_EPOCHS = 0.1  # of all epochs, for what is left to adapt in each step
# Models on anchors that stay need not be exact to be judged.
LOOSE, LOOSE_EPOCHS = 1e-2, 30


@dataclass(frozen=True)
class Stop:
    """One number of anchors on the path: the model there, and its losses on held-out rows."""

    n_anchors: int
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


def prune(rows, rng, begin, shorten, losses):
    """The stop with the fewest anchors whose held-out loss is about the lowest, and all stops.

    ``begin(train)`` gives the number of anchors and the model of the first stop, ``shorten(train,
    model, count)`` the model with only ``count`` of the anchors, refitted, and ``losses(model,
    held_out)`` the loss of each row. "About" is within half a standard error of the difference, as
    in ``choose_setting``: fewer anchors cost less and say as much. The path ends where a model
    falls far behind. (None, []) where rows are too few to hold some out.
    """
    train, held_out = rows.split(_HELD_OUT, rng)
    if held_out is None:
        return None, []
    chosen, path = fewest(
        *begin(train),
        lambda model, count: (count // 2, shorten(train, model, count // 2)),
        lambda model: losses(model, held_out),
        held_out.weight,
    )
    return chosen, [(stop, held_out.weight) for stop in path]


def pruned_models(model, rows, setting, rng, tell):
    """LLC-SAPL's setting with as many anchors as the rows ask for, their models, and verdicts.

    Without rows to hold out the setting stays, and there are no models.
    """
    n_epochs = model._epochs(rows)

    def trained(train, start, part):
        watch = Watch(best=start)
        n_neighbors = min(model.n_neighbors, len(start.anchors))
        model._improve(train, start, setting, watch, n_neighbors, rng, -(-n_epochs // part))
        return watch.best

    def begin(train):
        many = replace(setting, n_anchors=MOST_ANCHORS["pruned"])
        start = model._start(train, many, None, rng)
        return len(start.anchors), trained(train, start, _FIRST_PART)

    def shorten(train, before, count):
        predictor = predictor_of(before, model.n_neighbors)
        which = most_effective(train.X, train.weight, predictor, count)
        start = keep_anchors(before, which, model.n_neighbors, train.X)
        return trained(train, start, _NEXT_PART)

    def losses(found, held_out):
        return model._losses(predictor_of(found, model.n_neighbors), held_out, setting)

    chosen, path = prune(rows, rng, begin, shorten, losses)
    if chosen is None:
        return setting, None, []
    tried = [
        judge([(replace(setting, n_anchors=stop.n_anchors), stop.losses)], weight)[0]
        for stop, weight in path
    ]
    tell_verdicts(tell, tried)
    return replace(setting, n_anchors=chosen.n_anchors), chosen.model, tried


def pruned_anchors(model, rows, coding, width, rng):
    """Anchors that stay, as many as the rows ask for; local models read ``width`` columns."""

    def fitted(train, anchors):
        gate = make_gate(model, anchors, train.X, coding)
        solution, _ = solve_local_models(
            train.X[:, :width], *gate.codes(train.X, model.n_jobs), train.targets,
            loss=LOSSES[model.loss], C=model.C * train.weight, n_components=len(anchors),
            tol=LOOSE, max_iter=LOOSE_EPOCHS, rng=rng, n_jobs=model.n_jobs,
        )  # fmt: skip
        return LocallyLinear(gate, solution.weights, solution.biases)

    def begin(train):
        anchors = make_anchors(model, train, rng, MOST_ANCHORS["pruned"])
        return len(anchors), fitted(train, anchors)

    def shorten(train, before, count):
        which = most_effective(train.X, train.weight, before, count)
        return fitted(train, before.gate.anchors[which])

    def losses(found, held_out):
        return LOSSES[model.loss].value(found(held_out.X, model.n_jobs), held_out.targets)

    chosen, _ = prune(rows, rng, begin, shorten, losses)
    if chosen is None:
        return make_anchors(model, rows, rng)
    return chosen.model.gate.anchors


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
