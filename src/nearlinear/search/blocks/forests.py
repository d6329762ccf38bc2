"""Trees whose leaves all rows refit by sums over blocks.

A single tree counts classes, or averages values, in each leaf. Leaves of boosted trees minimize

    Σ_i weight_i loss(y_i, f(x_i)) + ½ λ Σ ‖w − w₀‖²

with w₀ as grown. λ is chosen on rows that neither grow trees nor count in the sums; one choice is
to leave leaves as they are.
"""

from functools import partial

import numpy as np

from ...estimators._base.capacity import about_best
from ...estimators._base.forests.trials import LAMBDAS
from ...losses import LogLoss, SquaredError
from ...solvers.forests.penalty_path import LeafPath
from ...solvers.forests.problem import models_of
from ...solvers.forests.refit import scores_of
from ...solvers.forests.row_losses import typical_curvature
from ...solvers.forests.statistics import LeafFrame, add_sums, leaf_statistics


def refit_tree(candidate, predictor, rows, seed, n_jobs):
    """Values and covers of the leaves of one tree: shares of classes, or means, of all rows."""
    n_leaves, width = len(predictor.values), rows.n_classes or 2
    sums = np.zeros((n_leaves, width))
    for X, targets, weight in rows.blocks():
        leaf = predictor.gate(X.astype(predictor.dtype, copy=False), n_jobs)[:, 0]
        if rows.is_of_classes:
            told = [(rows.labels_of(targets), weight)]
        else:  # the sum of weights, and that of values
            told = [(0, weight), (1, weight * targets[:, 0])]
        for column, added in told:
            sums += np.bincount(leaf * width + column, added, sums.size).reshape(sums.shape)
    covers = sums.sum(axis=1) if rows.is_of_classes else sums[:, 0]
    if not rows.is_of_classes:
        found = (sums[:, 1] / np.where(covers > 0, covers, 1.0))[:, None] - predictor.intercept
    elif width == 2:
        found = np.log1p(sums[:, 1:]) - np.log1p(sums[:, :1])
    else:  # as many rows and one more of each class
        found = np.log1p(sums)
        found -= found.mean(axis=1, keepdims=True)
    values = np.where(covers[:, None] > 0, found, predictor.values)
    return {
        "values": values.astype(predictor.values.dtype),
        "covers": np.where(covers > 0, covers, predictor.covers).astype(predictor.covers.dtype),
    }


def refit_boosted(candidate, predictor, apart, n_jobs):
    """Values of the leaves; nothing where they are best left as grown."""
    loss = LogLoss() if apart.others.is_of_classes else SquaredError()
    starts, outputs, held = predictor.gate.leaf_starts, predictor.outputs, apart.held

    def scored(values, X):
        X = X.astype(predictor.dtype, copy=False)
        return scores_of(
            predictor.gate(X, n_jobs), starts, values, None, outputs, None,
            predictor.before_trees(X),
        )  # fmt: skip

    def judge(models):
        return loss.value(scored(models[:, :, 0], held.X), held.targets)

    kept = apart.kept
    unit = typical_curvature(loss, scored(predictor.values, kept.X), kept.targets, kept.weight)
    lams = LAMBDAS[1:] if np.isinf(candidate.leaf_penalty) else [candidate.leaf_penalty]
    n_told = predictor.values.shape[1]
    most = len(outputs) if n_told > 1 else int(np.bincount(outputs).max())
    first = models_of(predictor.values, np.zeros((*predictor.values.shape, 0)))
    choose = partial(about_best, weight=held.weight)
    path = LeafPath(first, [lam * unit for lam in lams], most, judge, choose)
    frame = LeafFrame(predictor.gate, outputs, loss, predictor.before_trees)
    while not path.is_over:
        total = None
        for X, targets, weight in apart.others.blocks():
            X = X.astype(predictor.dtype, copy=False)
            found = leaf_statistics(frame, path.trial, X, targets, weight, n_jobs)
            total = found if total is None else add_sums(total, found)
        path.advance(total)
    if np.isinf(path.lam):
        return {}
    return {"values": path.models[:, :, 0].astype(predictor.values.dtype)}
