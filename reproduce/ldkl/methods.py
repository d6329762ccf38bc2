"""The methods of the paper by name, those of today beside them."""

import json
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR, LinearSVC

from nearlinear import CPSPClassifier, LLSVMClassifier, LMKLClassifier
from reproduce.ldkl.baselines import NystroemSVC, boosted_trees, random_features_svc
from reproduce.study import Study
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


# Sizes of the table "basis".
BASIS_SIZES = (10, 50, 200)
_BOOSTED, _BOOSTED_REGRESSORS = boosted_trees()
MAKERS = {
    "linear": LinearSVC,
    "kernel": SVC,
    "ldkl": ldkl_classifier,
    "ldkl_forest": ldkl_classifier,
    "ldkl_compositional": ldkl_classifier,
    "ldkl_original": partial(ldkl_classifier, solver="sgd", loss="hinge"),
    "rff": random_features_svc,
    "nystroem": NystroemSVC,
    "cpsp": CPSPClassifier,
    **{f"cpsp_{size}": CPSPClassifier for size in BASIS_SIZES},
    **{f"nystroem_{size}": NystroemSVC for size in BASIS_SIZES},
    "lmkl": partial(LMKLClassifier, "affine"),
    "llsvm": LLSVMClassifier,
    "mlp": MLPClassifier,
    **_BOOSTED,
}
REGRESSORS = {
    "ridge": Ridge,
    "svr": SVR,
    "ldkl": ldkl_regressor,
    "ldkl_forest": ldkl_regressor,
    "mlp": MLPRegressor,
    **_BOOSTED_REGRESSORS,
}
TITLES = {
    "linear": "Linear SVM",
    "ridge": "Ridge",
    "kernel": "RBF-SVM",
    "svr": "RBF-SVR",
    "ldkl": "LDKL",
    "ldkl_forest": "LDKL, 3 trees",
    "ldkl_compositional": "LDKL, compositional feature",
    "ldkl_original": "LDKL, original schedule",
    "lmkl": "LMKL",
    "rff": "RFF",
    "nystroem": "Nyström",
    "cpsp": "CPSP",
    **{f"cpsp_{size}": f"CPSP, {size} basis vectors" for size in BASIS_SIZES},
    **{f"nystroem_{size}": f"Nyström, {size} landmarks" for size in BASIS_SIZES},
    "llsvm": "LLSVM",
    "mlp": "MLP",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
}
MEASURED = (
    "accuracy",
    "mse",
    "fit_seconds",
    "predict_us_per_row",
    "times_linear",
    "multiply_adds",
    "model_bytes",
    "n_train",
    "n_test",
    "version",
)


def budget_for(dataset, **changed):
    """Multiply-adds per prediction of LDKL as chosen for a data set, or with other parameters."""
    entry = STUDY.config["datasets"][dataset]
    return tree_multiply_adds(
        STUDY.parameters_for("ldkl", dataset) | changed,
        entry["n_features"],
        entry["n_outputs"],
        entry["task"] == "regression",
    )


def sized(method, parameters, dataset, budget=None):
    """Parameters whose size, where it is left open, fits a budget: LDKL's unless one is given."""
    if "budget" not in parameters.values():
        return parameters
    entry = STUDY.config["datasets"][dataset]
    budget = budget or budget_for(dataset)
    return fill_budget(method, parameters, budget, entry["n_features"], entry["n_outputs"])


STUDY = Study(
    folder=Path(__file__).parent,
    makers=MAKERS,
    regressors=REGRESSORS,
    titles=TITLES,
    deterministic=frozenset({"linear", "ridge", "kernel", "svr", "lightgbm", "xgboost"}),
    complete=sized,
    measured=MEASURED,
)
