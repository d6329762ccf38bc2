"""Rows that stop early: thresholds of models that have been fitted, by held-out rows."""

import numpy as np

from ....predictors.base import leads
from ....predictors.exiting import Exiting
from ....solvers.exits import choose_exits


def places_of(scores):
    """Numbers of the classes that scores answer."""
    return (scores[:, 0] > 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)


def margins_and_right(scores, labels):
    """Leads of all stages but the last, and whether each stage is right; of scores by stage."""
    found = [(leads(one), places_of(one) == labels) for one in scores]
    margins, right = (np.column_stack(part) for part in zip(*found, strict=True))
    return margins[:, :-1], right


def leave_early(forest, X, labels, *, max_loss, confidence, rng, weight=None):
    """A forest that rows leave early, with what was promised and measured on held-out rows.

    Parameters
    ----------
    forest : Forest
        Of scores of classes.
    X : array or CSR matrix of shape (n_rows, n_features)
        Held-out rows: the forest was not trained on them.
    labels : array of int of shape (n_rows,)
        Numbers of their classes.
    max_loss, confidence : float
        What is promised.
    rng : RandomState
        Divides the rows.
    weight : array of shape (n_rows,) or None
        Weight k counts as k rows.

    Returns
    -------
    Exiting, Exits
    """
    n_trees = forest.gate.n_trees
    X = X.astype(forest.dtype, copy=False)
    margins, right = margins_and_right(forest.sums_after_trees(X, forest.gate(X)), labels)
    if forest.values.shape[1] == 1 and forest.n_outputs > 1:
        # in the middle of a round some classes are a tree ahead of others
        of_round = (np.arange(n_trees - 1) + 1) % forest.n_outputs != 0
        margins[:, of_round] = -np.inf
    exits = choose_exits(
        margins, right, forest.costs_of_trees, max_loss=max_loss, confidence=confidence, rng=rng,
        weight=weight,
    )  # fmt: skip
    return Exiting(forest, exits.thresholds, exits.shares), exits
