"""Trees side by side, from growers that exist: each is grown on all rows."""

import numpy as np
from sklearn.base import clone

from ....losses import LogLoss
from .orders import told_weight
from .taken import in_scores, steepness_of, taken

# How steep scores are is found by one of five rows, of at most so many.
_HELD_OUT, _MOST_ROWS, _USUAL_STEEPNESS = 5, 20_000, 10.0


def grow_shares(A, y, weight, shape, columns, n_features, loss, *, seed, kinds):
    """Trees side by side, each on all rows; ``kinds`` are classes, classifier and regressor."""
    settings = {"min_samples_leaf": shape.min_rows, "random_state": seed}
    if shape.max_leaves is not None:
        settings["max_leaf_nodes"] = shape.max_leaves
    if shape.max_features is not None:
        settings["max_features"] = shape.max_features
    classifier, regressor = kinds
    if "n_estimators" in classifier().get_params():
        settings["n_estimators"] = shape.n_trees
    if not isinstance(loss, LogLoss):
        model = regressor(**settings).fit(A, y, sample_weight=told_weight(weight))
        return taken(model, columns, n_features, A)
    model = classifier(criterion="entropy", **settings)
    model.fit(A, y, sample_weight=told_weight(weight))
    grown = taken(model, columns, n_features, A)
    return in_scores(grown, 1.0 if grown.gate.n_trees == 1 else _steepness(model, A, y, weight))


def _steepness(model, A, y, weight):
    """Found by such trees and rows they have not seen: of others they know the answers."""
    some = np.random.RandomState(model.random_state).permutation(len(A))[:_MOST_ROWS]
    some = some[np.argsort(y[some], kind="stable")]  # each class in its proportion
    held, kept = some[::_HELD_OUT], np.delete(some, np.s_[::_HELD_OUT])
    if len(np.unique(y[kept])) < 2:
        return _USUAL_STEEPNESS
    other = clone(model).fit(A[kept], y[kept], sample_weight=told_weight(weight[kept]))
    shares = np.zeros((len(held), len(model.classes_)))
    shares[:, np.searchsorted(model.classes_, other.classes_)] = other.predict_proba(A[held])
    return steepness_of(shares, np.searchsorted(model.classes_, y[held]), weight[held])


def _tree_kinds():
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return DecisionTreeClassifier, DecisionTreeRegressor


def _extra_kinds():
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    return ExtraTreesClassifier, ExtraTreesRegressor


SIDE_BY_SIDE = {"tree": _tree_kinds, "extra_trees": _extra_kinds}
