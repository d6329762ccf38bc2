"""As much of an alternative as LDKL's multiply-adds per prediction buy."""

import json
import warnings
from functools import cache

import numpy as np

from reproduce.written_out import ldkl_classifier, ldkl_regressor

# The value that stands in config.toml for "as large as the budget allows".
BUDGET = "budget"
_SIZES = {
    "rff": "n_components",
    "nystroem": "n_components",
    "cpsp": "n_basis",
    "mlp": "hidden_layer_sizes",
    "llsvm": "n_anchors",
}


def tree_multiply_adds(parameters, n_features, n_outputs, regression=False):
    """LDKL's own count, read off a model of this shape that is hardly trained."""
    return _multiply_adds(json.dumps(parameters, sort_keys=True), n_features, n_outputs, regression)


@cache
def _multiply_adds(parameters, n_features, n_outputs, regression):
    n_classes = n_outputs if n_outputs > 1 else 2
    X = np.random.default_rng(0).standard_normal((200, n_features)).astype(np.float32)
    y = X[:, 0] if regression else np.arange(len(X)) % n_classes
    maker = ldkl_regressor if regression else ldkl_classifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tree with more leaves than rows
        model = maker(**json.loads(parameters) | {"max_iter": 1, "random_state": 0})
        return model.fit(X, y).cost_.multiply_adds


def fill_budget(method, parameters, budget, n_features, n_outputs):
    """``parameters`` with the size that the configuration leaves to the budget."""
    size = _SIZES.get(method)
    if parameters.get(size) != BUDGET:
        return parameters
    if method == "llsvm":
        return parameters | _anchors(parameters["n_neighbors"], budget, n_features, n_outputs)
    # Each random feature, landmark or hidden unit costs one product with the row and its weights;
    # CPSP's own count charges one more for the Gaussian.
    per_unit = n_features + n_outputs + (method == "cpsp")
    return parameters | {size: max(1, budget // per_unit)}


def _anchors(n_neighbors, budget, n_features, n_outputs):
    """Distances to all anchors, and an affine model for each neighbor, fewer if they must be."""
    per_neighbor = (n_features + 1) * n_outputs
    n_neighbors = max(1, min(n_neighbors, budget // (n_features + per_neighbor)))
    n_anchors = (budget - n_neighbors * per_neighbor) // n_features
    return {"n_anchors": max(n_neighbors, n_anchors), "n_neighbors": n_neighbors}
