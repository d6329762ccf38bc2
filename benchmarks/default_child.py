"""Fits of one model with its defaults, in a process that can be ended when one takes too long.

``python -m benchmarks.default_child classification SVC`` says that it is ready, then reads lines
such as ``german 0`` (a table and a fold) and answers each with a JSON line.
"""

import json
import sys
import time
import warnings

from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import accuracy_score, log_loss, r2_score

from benchmarks.default_models import default_model
from benchmarks.default_tables import fold_of


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
