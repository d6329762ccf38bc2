"""Scores of models that rows leave early: each is explained by what has answered for it.

Of a cascade, ``active`` is the number of the stage that answered. Of a forest that rows leave, it
has the leaves of the trees that a row has met, and −1 for the others, whose gates are shut.
"""

from dataclasses import replace

import numpy as np

from ..predictors.exiting import first_trees
from .record import Explanation


def explain_exiting(predictor, X, explain):
    """``explain(part, rows)`` explains a part of the model."""
    forest, n_trees = predictor.forest, predictor.forest.gate.n_trees
    stops = predictor.stops(X)
    groups = [(np.flatnonzero(stops == t), t + 1) for t in np.unique(stops)]
    found = [(rows, explain(first_trees(forest, n), X[rows])) for rows, n in groups]
    if not found:
        return explain(forest, X)
    active = np.full((X.shape[0], n_trees), -1)
    gates = np.zeros((X.shape[0], n_trees))
    for rows, one in found:
        active[rows, : one.active.shape[1]] = one.active
        gates[rows, : one.active.shape[1]] = one.gates
    names = ("intercepts", "rows", "parts")
    joined = {name: _joined([(rows, getattr(one, name)) for rows, one in found]) for name in names}
    return replace(found[0][1], **joined, active=active, gates=gates)


def explain_cascaded(predictor, X, explain):
    """One explanation, in the form that the stages share.

    Linear stages have coefficients. With a forest among them all have contributions. With a kernel
    machine, shares of its kernels are followed by one share for each other stage, which is the sum
    of its contributions.
    """
    stops = predictor.stops(X)
    numbers = np.unique(stops) if len(stops) else [len(predictor.stages) - 1]
    found = [
        (number, rows, explain(predictor.stages[number], X[rows]))
        for number in numbers
        for rows in [np.flatnonzero(stops == number)]
    ]
    ones = [one for _, _, one in found]

    def joined(name):
        return _joined([(rows, getattr(one, name)) for _, rows, one in found])

    stages = {"component": "stage", "active": stops[:, None], "gates": np.ones((len(stops), 1))}
    whole = Explanation(joined("intercepts"), **stages)
    if all(one.coefficients is not None for one in ones):
        return replace(whole, coefficients=joined("coefficients"), rows=joined("rows"))
    if all(one.contributions is not None for one in ones):
        rows = joined("rows")
        parts, pairs = _side_by_side(found, "contributions", rows.shape[1])
        return replace(whole, rows=rows, parts=parts, pairs=pairs)
    return replace(whole, kernel_shares=_shares(found))


def _joined(parts):
    """Arrays of rows put back in the order of all rows."""
    n_rows = sum(len(rows) for rows, _ in parts)
    first = parts[0][1]
    whole = np.zeros((n_rows, *first.shape[1:]), dtype=first.dtype)
    for rows, part in parts:
        whole[rows] = part
    return whole


def _side_by_side(found, name, n_shared):
    """The first columns are of all stages, those after them each stage's own."""
    widths = [getattr(one, name).shape[2] - n_shared for _, _, one in found]
    n_rows, n_outputs = sum(len(rows) for _, rows, _ in found), found[0][2].intercepts.shape[1]
    parts, first, pairs = np.zeros((n_rows, n_outputs, n_shared + sum(widths))), n_shared, ()
    for (_, rows, one), width in zip(found, widths, strict=True):
        own = getattr(one, name)
        parts[rows, :, :n_shared] = own[:, :, :n_shared]
        parts[rows, :, first : first + width] = own[:, :, n_shared:]
        first, pairs = first + width, pairs + tuple(one.pairs)
    return parts, pairs


def _shares(found):
    shared = [
        (
            number,
            rows,
            one
            if one.kernel_shares is not None
            else replace(one, kernel_shares=one.contributions.sum(axis=2, keepdims=True)),
        )
        for number, rows, one in found
    ]
    return _side_by_side(shared, "kernel_shares", 0)[0]
