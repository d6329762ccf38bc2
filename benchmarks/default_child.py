"""Fits of one model with its defaults, in a process that can be ended when one takes too long.

``python -m benchmarks.default_child classification SVC`` says that it is ready, then reads lines
such as ``german 0`` (a table and a fold) and answers each with a JSON line.
"""

import importlib.util
import json
import sys
import time
import warnings
from functools import partial

from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.svm import SVC, SVR, LinearSVC

import nearlinear
from benchmarks.default_tables import fold_of

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


def warm_up(task, name):
    """Compiled passes are loaded before the clock runs; two classes and three go different ways."""
    if task == "regression":
        problems = [make_regression(90, 6, random_state=0)]
    else:
        problems = [
            make_classification(90, 6, n_informative=4, n_classes=n_classes, random_state=0)
            for n_classes in (2, 3)
        ]
    for X, y in problems:
        default_model(task, name).fit(X, y).predict(X)


def measured(task, name, table, fold):
    """Accuracy or R², log loss where there are probabilities, CPU seconds of the fit, µs a row."""
    X_train, y_train, X_test, y_test = fold_of(table, fold)
    model = default_model(task, name)
    fit_seconds, _ = cpu_seconds(lambda: model.fit(X_train, y_train))
    seconds, predicted = cpu_seconds(lambda: model.predict(X_test))
    if seconds < 0.5:
        again = [cpu_seconds(lambda: model.predict(X_test))[0] for _ in range(3)]
        seconds = min(seconds, *again)
    score = r2_score if task == "regression" else accuracy_score
    row = {"score": score(y_test, predicted), "log_loss": None}
    if hasattr(model, "predict_proba"):
        row["log_loss"] = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    return row | {"fit_seconds": fit_seconds, "predict_us": 1e6 * seconds / len(y_test)}


def cpu_seconds(call):
    start = time.process_time()
    value = call()
    return time.process_time() - start, value


def main(task, name):
    warnings.simplefilter("ignore")
    # Answers go to the first standard output; what a library prints must not mix with them.
    answers, sys.stdout = sys.stdout, sys.stderr
    warm_up(task, name)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        table, fold = line.split()
        try:
            row = measured(task, name, table, int(fold))
        except Exception as error:
            row = {"failed": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
        print(json.dumps(row), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
