"""Models of growers, and forests of the user's, as grown forests on columns of float32."""

from dataclasses import replace

import numpy as np

from ....gates.forests.gate import rounded_down
from ....gates.forests.readers.reading import read_forest
from ....losses import LogLoss, PoissonLoss
from .grown import GrownForest


def taken_over(model, columns, n_features, rows, loss, classes):
    """A fitted forest of the user's, with scores of the loss."""
    found = read_forest(model, rows)
    if isinstance(loss, LogLoss):
        if found.classes is None or not np.array_equal(found.classes, classes):
            known = "values" if found.classes is None else f"classes {found.classes.tolist()}"
            raise ValueError(f"The forest in grower was fitted to {known}, y has others.")
    elif found.classes is not None or (found.link == "log") != isinstance(loss, PoissonLoss):
        raise ValueError(
            "The forest in grower was fitted to labels, or to logarithms of values (Poisson): give "
            "one for this loss."
        )
    grown = of_float32(found, columns, n_features)
    if found.link == "shares":
        return in_log_shares(grown)
    return grown.times(found.steepness)


def taken(model, columns, n_features, rows=None):
    """What was read of a grower's model, on columns of float32 with pairs after them."""
    return of_float32(read_forest(model, rows), columns, n_features)


def of_float32(found, columns, n_features):
    gate = replace(
        found.gate,
        n_features=n_features,
        pairs=columns.pairs.pairs,
        factors=columns.pairs.factors,
        thresholds=rounded_down(found.gate.thresholds, np.dtype(np.float32)),
    )
    return GrownForest(gate, found.values, found.outputs, found.covers, found.intercept)


def in_log_shares(grown):
    """A forest of shares of classes as one of scores of the log loss, which are added up.

    A leaf then holds the logarithms of the shares among its rows and one row more for each class.
    """
    counts, values = grown.covers[:, None].astype(np.float64), grown.gate.n_trees * grown.values
    if len(grown.intercept) == 1:
        values = np.log1p(counts * (1 + values) / 2) - np.log1p(counts * (1 - values) / 2)
    else:
        values = np.log1p(counts * values)
        values -= values.mean(axis=1, keepdims=True)
    return replace(grown, values=values, intercept=np.zeros_like(grown.intercept))
