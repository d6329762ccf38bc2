"""Models of growers, and forests of the user's, as grown forests on columns of float32."""

from dataclasses import replace

import numpy as np

from ....gates.forests.gate import rounded_down
from ....gates.forests.readers.reading import read_forest
from ....losses import LogLoss, PoissonLoss
from .grown import GrownForest


def taken_over(model, columns, rows, loss):
    """A fitted forest of the user's, with scores of the loss."""
    found, classes = read_forest(model, rows.X), rows.attributes.get("classes_")
    if isinstance(loss, LogLoss):
        if found.classes is None or not np.array_equal(found.classes, classes):
            known = "values" if found.classes is None else f"classes {found.classes.tolist()}"
            raise ValueError(f"The forest in grower was fitted to {known}, y has others.")
    elif found.classes is not None or (found.link == "log") != isinstance(loss, PoissonLoss):
        raise ValueError(
            "The forest in grower was fitted to labels, or to logarithms of values (Poisson): give "
            "one for this loss."
        )
    grown = of_float32(found, columns, rows.X.shape[1])
    if found.link == "shares":
        return in_scores(grown, steepness_of(shares_of(grown, rows.X), rows.labels, rows.weight))
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


def in_scores(grown, steepness):
    """A forest of shares of classes as one of scores of the log loss, which are added up.

    Of trees side by side it is the mean of shares, times a steepness. One tree alone holds the
    logarithms of the shares among a leaf's rows and one row more for each class.
    """
    values, intercept = steepness * grown.values, np.zeros_like(grown.intercept)
    if grown.gate.n_trees == 1:
        values, counts = grown.values, grown.covers[:, None].astype(np.float64)
        if len(intercept) == 1:
            values = np.log1p(counts * (1 + values) / 2) - np.log1p(counts * (1 - values) / 2)
        else:
            values = np.log1p(counts * values)
            values -= values.mean(axis=1, keepdims=True)
    return replace(grown, values=values, intercept=intercept)


def steepness_of(shares, labels, weight):
    """The s at which s times shares (n_rows, n_classes) are best as scores of the log loss.

    One row more, of which every tree is wrong, keeps s finite. About 4 is for classes that overlap
    much, 15 for others.
    """
    told, unit = shares[np.arange(len(shares)), labels], weight.mean()

    def slope(s):
        odds = np.exp(s * (shares - shares.max(axis=1, keepdims=True)))
        means = (odds * shares).sum(axis=1) / odds.sum(axis=1)
        return weight @ (means - told) + unit

    low, high = 0.0, 1.0
    while slope(high) < 0.0:  # it rises, to more than 0
        low, high = high, 2.0 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return high


def shares_of(grown, X):
    """What the forest says of rows, (n_rows, n_classes)."""
    found = sum(grown.values[leaf] for leaf in grown.gate(X).T)
    return np.hstack([1.0 - found, 1.0 + found]) / 2.0 if found.shape[1] == 1 else found
