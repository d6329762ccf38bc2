"""What ``benchmarks defaults`` compares: every estimator as its constructor leaves it."""

import importlib.util
from functools import partial

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR, LinearSVC

import nearlinear

# The linear model that all others are set beside.
LINEAR = {"classification": "LogisticRegression", "regression": "Ridge"}
CLASSIFIERS = {
    "LogisticRegression": LogisticRegression,
    "LinearSVC": LinearSVC,
    "SVC": SVC,
    "MLP": MLPClassifier,
    "HistGradientBoosting": HistGradientBoostingClassifier,
    "LDKL": nearlinear.LDKLClassifier,
    "LLC-SAPL": nearlinear.LLCSAPLClassifier,
    "LLSVM": nearlinear.LLSVMClassifier,
    "LCC+SVM": nearlinear.LCCSVMClassifier,
    "CSVM": nearlinear.ClusteredSVMClassifier,
    "SVM-KNN": nearlinear.SVMKNNClassifier,
    "MLLKM": nearlinear.MLLKMClassifier,
    "CPSP": nearlinear.CPSPClassifier,
    "LaSVM": nearlinear.LaSVMClassifier,
    "UniformMKL": nearlinear.UniformMKLClassifier,
    "SimpleMKL": nearlinear.SimpleMKLClassifier,
    "SequentialMKL": nearlinear.SequentialMKLClassifier,
    "SPG-GMKL": nearlinear.SPGGMKLClassifier,
    "MWUMKL": nearlinear.MWUMKLClassifier,
    "SwMKL": nearlinear.SwMKLClassifier,
    "LD-MKL": nearlinear.LDMKLClassifier,
    "LMKL": nearlinear.LMKLClassifier,
    "C-LMKL": nearlinear.ConvexLMKLClassifier,
    "SAMKL": nearlinear.SAMKLClassifier,
}
REGRESSORS = {
    "Ridge": Ridge,
    "SVR": SVR,
    "MLP": MLPRegressor,
    "HistGradientBoosting": HistGradientBoostingRegressor,
    "LDKL": nearlinear.LDKLRegressor,
    "MLLKM": nearlinear.MLLKMRegressor,
    "LMKL": nearlinear.LMKLRegressor,
    "UniformMKL": nearlinear.UniformMKLRegressor,
    "SimpleMKL": nearlinear.SimpleMKLRegressor,
    "SequentialMKL": nearlinear.SequentialMKLRegressor,
    "SPG-GMKL": nearlinear.SPGGMKLRegressor,
}
if importlib.util.find_spec("lightgbm"):
    from lightgbm import LGBMClassifier, LGBMRegressor

    CLASSIFIERS["LightGBM"] = partial(LGBMClassifier, n_jobs=1, verbose=-1)
    REGRESSORS["LightGBM"] = partial(LGBMRegressor, n_jobs=1, verbose=-1)
MAKERS = {"classification": CLASSIFIERS, "regression": REGRESSORS}
NAMES = tuple(dict.fromkeys([*CLASSIFIERS, *REGRESSORS]))


def is_own(name):
    """Whether it is a method of this library."""
    makers = [models[name] for models in MAKERS.values() if name in models]
    return any(getattr(maker, "__module__", "").startswith("nearlinear") for maker in makers)


def default_model(task, name):
    """Only chance is fixed."""
    model = MAKERS[task][name]()
    has_seed = "random_state" in model.get_params()
    return model.set_params(random_state=0) if has_seed else model
