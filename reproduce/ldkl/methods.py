"""The methods of the paper by name, those of today beside them."""

from functools import partial
from pathlib import Path

from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR, LinearSVC

from nearlinear import CPSPClassifier, LLSVMClassifier, LMKLClassifier
from reproduce.ldkl.baselines import NystroemSVC, boosted_trees, random_features_svc
from reproduce.ldkl.budget import fill_budget, tree_multiply_adds
from reproduce.study import Study
from reproduce.written_out import ldkl_classifier, ldkl_regressor

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
