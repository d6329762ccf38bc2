"""Prediction of MLLKM with 25 kernels on 34 features beside a product and other models.

One thread, all on the same rows in turns, the fewest CPU seconds of many: the clock's would count
what other processes take. Models are fitted to ionosphere; the rows to predict are its rows, drawn
many times with a little noise. What is slow predicts fewer of them, and its time is taken per row.
"""

import importlib.util
import time
import warnings

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from benchmarks.bench_mllkm_fit import mllkm_split, origin
from benchmarks.quiet import say_load
from benchmarks.report import FOLDER, Result, publish
from nearlinear import MLLKMClassifier, SimpleMKLClassifier
from reproduce.protocol import one_thread

N_ROWS, N_KERNELS = 200_000, 25
FEW_ROWS = 5000  # for what takes microseconds a row
SLOW = ("SimpleMKL", "SVC", "LightGBM")
TURNS = 150
MOST_TIMES_PRODUCT = 15
LEAST_TIMES_FASTER_THAN_MIXTURE = 50
OURS, MIXTURE = "MLLKM", "SimpleMKL"


def models_of_set():
    """More kernels than asked for would be in use: the least important leave."""
    models = {
        OURS: MLLKMClassifier(C=100.0, length_exponent=0.75, max_kernels=N_KERNELS),
        "LinearSVC": LinearSVC(C=0.1),
        "MLP": MLPClassifier((100,), max_iter=500, random_state=0),
        "SVC": SVC(C=10.0),
        MIXTURE: SimpleMKLClassifier("bank", C=100.0),
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        models["LightGBM"] = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    return models


def rows_like(X, n_rows, seed=0):
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(len(X), size=n_rows)]
    rows += 0.1 * rng.standard_normal(rows.shape).astype(X.dtype)
    return rows


def calls_on(models, X):
    """What is timed, by name, with the number of rows it gets."""
    ours = models[OURS]
    w = models["LinearSVC"].coef_[0].astype(X.dtype)
    slow = X[:FEW_ROWS]
    calls = {
        "X @ w": (lambda: X @ w, X),
        f"{OURS} predictor": (lambda: ours.predictor_(X), X),
        f"{OURS} decision_function": (lambda: ours.decision_function(X), X),
        f"{OURS} predict": (lambda: ours.predict(X), X),
    }
    for name, model in models.items():
        if name != OURS:
            rows = slow if name in SLOW else X
            calls[f"{name} predict"] = (lambda m=model, rows=rows: m.predict(rows), rows)
    return calls


def microseconds(models, X, budget):
    """Per row, the fewest of many turns; each call is made until it has used its budget."""
    calls = calls_on(models, X)
    for model in models.values():
        model.predict(X[:100])
    fewest, used = dict.fromkeys(calls, np.inf), dict.fromkeys(calls, 0.0)
    for _ in range(TURNS):
        for name, (call, _) in calls.items():
            if used[name] < budget:
                start = time.process_time()
                call()
                seconds = time.process_time() - start
                fewest[name] = min(fewest[name], seconds)
                used[name] += seconds
    return {name: 1e6 * fewest[name] / len(rows) for name, (_, rows) in calls.items()}


def results_for(split, n_rows, budget):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {
            name: model.fit(split.X_train, split.y_train) for name, model in models_of_set().items()
        }
    everything = np.concatenate([split.X_train, split.X_test])
    took = microseconds(models, rows_like(everything, n_rows), budget)
    ours = models[OURS]
    n_features = everything.shape[1]
    case = f"{n_rows} rows, {n_features} features, {ours.n_kernels_} kernels, {everything.dtype}"
    accuracies = {
        f"{name} predict": f"test accuracy {100 * model.score(split.X_test, split.y_test):.1f} %"
        for name, model in models.items()
    }
    in_use = np.count_nonzero(models[MIXTURE].kernel_weights_)
    accuracies[f"{MIXTURE} predict"] += f", {in_use} kernels, {models[MIXTURE].n_support_} rows"
    for name, value in took.items():
        note = accuracies.get(name, "") + origin("ionosphere")
        yield Result(case, f"{name}, per row", value, "µs", note=note)
    for name in took:
        if name.startswith(OURS):
            target = MOST_TIMES_PRODUCT if "predictor" in name else None
            ratio = took[name] / took["X @ w"]
            yield Result(case, f"{name} / X @ w", ratio, "×", target=target)
    ours_predict = f"{OURS} predict"
    ratio = took[ours_predict] / took["LinearSVC predict"]
    yield Result(case, f"{ours_predict} / LinearSVC predict", ratio, "×")
    for name in took:
        if name.endswith("predict") and name not in (ours_predict, "LinearSVC predict"):
            target = LEAST_TIMES_FASTER_THAN_MIXTURE if name.startswith(MIXTURE) else None
            ratio = took[name] / took[ours_predict]
            yield Result(case, f"{name} / {ours_predict}", ratio, "×", target, at_least=True)


def run(smoke=False, folder=FOLDER):
    say_load()
    split = mllkm_split("ionosphere", smoke)
    n_rows, budget = (500, 0.01) if smoke else (N_ROWS, 2.5)
    with one_thread():
        return [
            result
            for dtype in (np.float32, np.float64)
            for result in results_for(split.cast(dtype), n_rows, budget)
        ]


if __name__ == "__main__":
    publish("mllkm_predict", run())
