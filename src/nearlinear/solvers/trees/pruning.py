"""Which nodes of a tree may go: those whose weights, and those of all below them, are short."""

from dataclasses import replace

import numpy as np

from ...gates.trees.balanced import hard_paths, local_scores_along_paths
from ..minibatch import Batches, RowNoise, one_cycle
from .adam import TreeInTraining
from .paths import path_features
from .phases import HardPhase


def node_strengths(model, norm):
    """The largest norm of weights in the subtree of each node; ``norm`` is "l1" or "l2".

    It never grows on the way down, so the strongest nodes are a tree.
    """
    flat = model.weights.reshape(len(model.weights), -1).astype(np.float64)
    norms = np.abs(flat).sum(axis=1) if norm == "l1" else np.sqrt((flat**2).sum(axis=1))
    for node in range(len(norms) - 1, 0, -1):
        parent = (node - 1) // 2
        norms[parent] = max(norms[parent], norms[node])
    return norms


def strongest(strengths, count):
    """Which nodes stay if so many do; of equal ones, those further up."""
    kept = np.zeros(len(strengths), dtype=bool)
    kept[np.argsort(-strengths, kind="stable")[:count]] = True
    return kept


def pruned_scores(model, Z, kept):
    """Scores along hard paths, to which only the nodes that are ``kept`` add."""
    seen = model.rows(Z)
    paths = hard_paths(seen, model.splits, model.depth)
    gates = path_features(model, seen, paths) * kept[paths]
    return np.einsum("ik,ikc->ic", gates, local_scores_along_paths(model.weights, seen, paths))


def adapt_tree(
    Z, targets, sample_weight, start, kept, *, loss, C, direction_ridges, n_epochs, batch_size,
    learning_rate, jitter, rng,
):  # fmt: skip
    """The tree after some hard epochs in which only the nodes that are ``kept`` answer."""
    weights = np.where(kept[:, None, None], start.weights, 0.0).astype(start.weights.dtype)
    start = replace(start, weights=weights)
    tree = TreeInTraining(start, learning_rate, 1.0 / (C * sample_weight.sum()), direction_ridges)
    phase = HardPhase(RowNoise(Z, jitter, rng, start.rows), loss, kept)
    rows, row_weight = phase.rows(start, Z), sample_weight / sample_weight.mean()
    batches = Batches(rows, targets, row_weight, batch_size, rng)
    for step in range(n_epochs * batches.n_batches):
        if step % batches.n_batches == 0:
            waiting = iter(batches)
        _, gradients = phase.gradients(tree.now(), *next(waiting), 0.0)
        factor = one_cycle(step, n_epochs * batches.n_batches)
        tree.step(gradients, factor, move_splits=False)
    return tree.averaged()
