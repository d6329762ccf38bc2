"""Batch prediction of LLC-SAPL (m = 100, k = 8) and LDKL beside SVMs, boosted trees and an MLP.

One thread, all models on the same rows in turns. A prediction costs the same however well the
model was trained, so what is slow to train trains on fewer rows or shorter where no accuracy is
reported. Where rows are real, accuracy against time is drawn in results/predict.png.
"""

import importlib.util
import warnings

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from benchmarks.bench_tree_fit import tree_parameters
from benchmarks.report import FOLDER, Result, publish
from benchmarks.shapes import SHAPES, split_of
from nearlinear.displays.cost_front import CostFrontDisplay, ModelPoint
from reproduce.llc_sapl.methods import parameters_for
from reproduce.protocol import best_seconds, one_thread
from reproduce.written_out import ldkl_classifier, llc_sapl_classifier

MOST_TIMES_LINEAR = 10
LEAST_TIMES_FASTER_THAN_KERNEL = {"ijcnn1": 300, "letter": 300}
# Rows that the models trained for their cost alone see: a full fit would take an hour.
FEW_ROWS = {"mnist": 5000}
OURS, OURS_CONSTANT, TREE = "LLC-SAPL", "LLC-SAPL_lcc", "LDKL"


def alternatives(name):
    """The models we stand beside, and how each is best used on this set."""
    models = {
        "LinearSVC": LinearSVC(C=0.1, tol=1e-3),
        "SVC": SVC(**parameters_for("kernel", name)),
        "MLP": MLPClassifier((100,), random_state=0),
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        models["LightGBM"] = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    return models


def fit_all(name, split):
    models = {OURS: llc_sapl_classifier(**parameters_for("llc_sapl", name), random_state=0)}
    models[TREE] = ldkl_classifier(**tree_parameters(name), random_state=0)
    if name in FEW_ROWS:
        models[OURS].set_params(max_iter=3)
        models[TREE].set_params(max_iter=3)
    else:
        constant = parameters_for("llc_sapl_lcc", name)
        models[OURS_CONSTANT] = llc_sapl_classifier(
            local_model="constant", random_state=0, **constant
        )
    models |= alternatives(name)
    part = split.limited(train_rows=FEW_ROWS.get(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models.values():
            model.fit(part.X_train, part.y_train)
    return models


def refit_in_double(model, split):
    """The same model in float64; a short fit, only its speed is asked for."""
    twin = llc_sapl_classifier(**model.get_params()).set_params(max_iter=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return twin.fit(split.X_train[:5000].astype(np.float64), split.y_train[:5000])


def results_for(name, points):
    """Ratios on one set; where its rows are real, ``points`` receives each model's place."""
    split, is_real = split_of(name)
    note = "" if is_real else "drawn rows of this shape"
    models = fit_all(name, split)
    for dtype in (np.float32, np.float64):
        case = f"{name} {np.dtype(dtype).name}"
        X = split.X_test.astype(dtype)
        if dtype is np.float64:
            models[OURS] = refit_in_double(models[OURS], split)
        calls = {title: lambda m=model, X=X: m.predict(X) for title, model in models.items()}
        for model in models.values():
            model.predict(X[:100])
        seconds = best_seconds(calls, budget=2.0)
        yield Result(case, f"{OURS} µs/row", 1e6 * seconds[OURS] / len(X), "µs", note=note)
        for title in models:
            ratio = seconds[title] / seconds["LinearSVC"]
            target = MOST_TIMES_LINEAR if title == OURS else None
            accuracy = ""
            if is_real and dtype is np.float32 and name not in FEW_ROWS:
                score = 100 * models[title].score(X, split.y_test)
                accuracy = f"accuracy {score:.2f} %"
                microseconds = 1e6 * seconds[title] / len(X)
                points.append(
                    ModelPoint(title, microseconds, score, title.startswith((OURS, TREE)))
                )
            yield Result(
                case, f"{title} / LinearSVC", ratio, "×", target=target, note=accuracy or note
            )
        faster = seconds["SVC"] / seconds[OURS]
        least = LEAST_TIMES_FASTER_THAN_KERNEL.get(name)
        yield Result(case, f"SVC / {OURS}", faster, "×", target=least, at_least=True, note=note)


def draw(fronts):
    """One panel a data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(fronts), figsize=(12, 4.6), layout="constrained")
    for axis, (name, points) in zip(axes, fronts.items()):
        CostFrontDisplay(points).plot(axis, title=name)
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / "predict.png", dpi=130)


def run():
    points = {name: [] for name in SHAPES}
    with one_thread():
        results = [result for name in SHAPES for result in results_for(name, points[name])]
    if fronts := {name: placed for name, placed in points.items() if placed}:
        draw(fronts)
    return results


if __name__ == "__main__":
    publish("predict", run())
