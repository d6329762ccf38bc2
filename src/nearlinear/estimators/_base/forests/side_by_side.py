"""Trees side by side, from growers that exist: each is grown on all rows."""

from ....losses import LogLoss
from .orders import told_weight
from .taken import in_log_shares, taken


def grow_shares(A, y, weight, shape, columns, n_features, loss, *, seed, kinds):
    """Trees side by side, each on all rows; ``kinds`` are classes, classifier and regressor."""
    settings = {"min_samples_leaf": shape.min_rows, "random_state": seed}
    if shape.max_leaves is not None:
        settings["max_leaf_nodes"] = shape.max_leaves
    classifier, regressor = kinds
    if "n_estimators" in classifier().get_params():
        settings["n_estimators"] = shape.n_trees
    if not isinstance(loss, LogLoss):
        model = regressor(**settings).fit(A, y, sample_weight=told_weight(weight))
        return taken(model, columns, n_features, A)
    model = classifier(criterion="entropy", **settings)
    model.fit(A, y, sample_weight=told_weight(weight))
    return in_log_shares(taken(model, columns, n_features, A))


def _tree_kinds():
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return DecisionTreeClassifier, DecisionTreeRegressor


def _extra_kinds():
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    return ExtraTreesClassifier, ExtraTreesRegressor


SIDE_BY_SIDE = {"tree": _tree_kinds, "extra_trees": _extra_kinds}
