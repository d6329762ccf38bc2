"""Figures 1 to 3 of the paper.

    python -m reproduce.llc_sapl.figures [1 2 3] [--seeds 3]

Numbers behind figures 2 and 3 go to results/figure2.csv and results/figure3.csv; what is there is
not run again.
"""

import sys
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import accuracy_score

import nearlinear
from reproduce import datasets, drawing
from reproduce.drawing import save_figure
from reproduce.llc_sapl.methods import STUDY, TITLES, build, load_split, parameters_for
from reproduce.protocol import RowStore, linear_yardstick, measure, measure_once, one_thread

COLORS = {"llsvm": "0.45", "llc_sapl": "C3", "kernel": "C0"}
FIGURE1_METHODS = {
    "llsvm": {"n_anchors": 4, "n_neighbors": 4, "C": 10.0},
    "llc_sapl": {"n_anchors": 4, "n_neighbors": 4, "C": 10.0},
    "kernel": {"gamma": 1.0, "C": 10.0},
}
ANCHOR_COUNTS = (2, 5, 10, 20, 40, 60, 80, 100, 140, 180)
FIGURE2_SETS = ("ijcnn1", "magic04", "letter", "usps")
FIGURE3_SETS = ("ijcnn1", "usps")
EPOCHS = (1, 2, 3, 4, 5, 7, 10, 15)
# Ten counts of anchors, two methods and several seeds: a part of the biggest set is enough.
FIGURE2_ROWS = {"ijcnn1": (10000, 20000)}


def figure1(folder, split, methods):
    """Decision boundaries on two sine-shaped classes with four anchors."""
    figure, axes = plt.subplots(1, len(methods), figsize=(4 * len(methods), 3.4), sharey=True)
    # Learned anchors may lie a little outside the rows.
    left, bottom = split.X_train.min(axis=0) - 0.4
    right, top = split.X_train.max(axis=0) + 0.4
    grid = np.meshgrid(np.linspace(left, right, 300), np.linspace(bottom, top, 300))
    points = np.column_stack([axis.ravel() for axis in grid]).astype(np.float32)
    for axis, (method, parameters) in zip(axes, methods.items()):
        model = build(method, parameters, seed=0).fit(split.X_train, split.y_train)
        for label, marker in ((-1, "o"), (1, "s")):
            chosen = split.X_train[split.y_train == label]
            axis.plot(*chosen.T, marker, ms=1.5, alpha=0.5, color="C2" if label > 0 else "C4")
        scores = model.decision_function(points).reshape(grid[0].shape)
        axis.contour(*grid, scores, levels=[0.0], colors="C3", linewidths=2)
        if method == "kernel":
            size = f"{len(model.support_)} support vectors"
        else:
            axis.plot(*model.anchors_.T, "k*", ms=11)
            size = f"{len(model.anchors_)} anchors"
        accuracy = 100 * model.score(split.X_test, split.y_test)
        axis.set_title(f"{TITLES[method]}: {accuracy:.2f} %, {size}", fontsize=10)
        axis.set(xlim=(left, right), ylim=(bottom, top))
    save_figure(figure, folder / "figure1.png")


def figure2_rows(store, split, counts, seeds, measure):
    """Accuracy of both methods for each number of anchors; at most 8 of them answer."""
    for seed in seeds:
        yardstick = linear_yardstick(split)
        for n_anchors in counts:
            for method in ("llsvm", "llc_sapl"):
                anchors = {"n_anchors": n_anchors, "n_neighbors": min(8, n_anchors)}
                parameters = parameters_for(method, split.name) | anchors
                model = build(method, parameters, seed)
                key = dict(dataset=split.name, method=method, seed=seed, parameters=parameters)
                row, _ = store.get_or_add(key, partial(measure, model, split, yardstick))
                yield row


def figure2(folder, splits, counts, seeds, measure=measure):
    """Accuracy against the number of anchors."""
    store = RowStore(folder / "figure2.csv")
    figure, axes = plt.subplots(1, len(splits), figsize=(4 * len(splits), 3.4), squeeze=False)
    for axis, split in zip(axes[0], splits):
        rows = list(figure2_rows(store, split, counts, seeds, measure))
        for method, style in (("llsvm", "--"), ("llc_sapl", "-")):
            accuracies = [
                np.mean([r["accuracy"] for r in rows if _is_cell(r, method, n_anchors)])
                for n_anchors in counts
            ]
            axis.plot(counts, accuracies, style, marker=".", color=COLORS[method])
            axis.annotate(TITLES[method], (counts[-1], accuracies[-1]), fontsize=8, ha="right")
        axis.set(title=split.name, xlabel="anchors", ylabel="accuracy (%)")
    save_figure(figure, folder / "figure2.png")


def _is_cell(row, method, n_anchors):
    return row["method"] == method and row["parameters"]["n_anchors"] == n_anchors


def measure_objective(method, parameters, split, seed):
    """Objective (12) or (21) of the paper on the training part, and accuracy on the test part."""
    model = build(method, parameters, seed)
    with one_thread():
        model.fit(split.X_train, split.y_train)
    signs = np.where(split.y_train[:, None] == model.classes_, 1, -1)
    scores = model.decision_function(split.X_train)
    scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    # Of two classes one machine answers, so each hinge stands in both columns.
    hinge = np.maximum(0, 1 - signs * scores).sum() / (2 if len(model.classes_) == 2 else 1)
    n_rows = len(split.y_train)
    # Our models also pay for their biases.
    arrays = (model.predictor_.weights, model.predictor_.biases)
    penalty = sum(np.square(a, dtype=np.float64).sum() for a in arrays) / (2 * model.C)
    return {
        "objective": float((penalty + hinge) / n_rows),
        "accuracy": 100 * accuracy_score(split.y_test, model.predict(split.X_test)),
        "version": nearlinear.__version__,
    }


def figure3_rows(store, split, solver, epochs):
    """LLSVM, which training starts from, then a fit of each number of epochs."""
    shared = {"n_anchors": 100, "n_neighbors": 8, "loss": "hinge"}
    shared["C"] = parameters_for("llsvm", split.name).get("C", 1.0)
    settings = [("llsvm", shared)]
    for n_epochs in epochs:
        training = {"solver": solver, "max_iter": n_epochs, "jitter": 0.0}
        settings.append(("llc_sapl", shared | training))
    for method, parameters in settings:
        key = dict(dataset=split.name, method=method, seed=0, parameters=parameters)
        make = partial(measure_objective, method, parameters, split, seed=0)
        yield store.get_or_add(key, make)[0]


def figure3(folder, splits, epochs):
    """Objective and accuracy by epoch, for Algorithm 1 and for Adam.

    Step sizes fall to zero at the last epoch, so every point is a training of its own.
    """
    store = RowStore(folder / "figure3.csv", ("objective", "accuracy", "version"))
    figure, axes = plt.subplots(1, len(splits), figsize=(5 * len(splits), 3.6), squeeze=False)
    for axis, split in zip(axes[0], splits):
        twin = axis.twinx()
        for solver, title, color in (("sgd", "Algorithm 1", "C0"), ("adam", "Adam", "C3")):
            rows = list(figure3_rows(store, split, solver, epochs))
            at = [0, *epochs]
            accuracies = [row["accuracy"] for row in rows]
            axis.plot(at, accuracies, "-", marker=".", color=color, label=title)
            twin.plot(at, [row["objective"] for row in rows], "--", marker=".", color=color)
        axis.set(title=split.name, xlabel="epoch", ylabel="test accuracy (%), solid")
        twin.set_ylabel("objective, broken")
        axis.legend(loc="center right")
    save_figure(figure, folder / "figure3.png")


def smoke(folder):
    """All figures on small data."""
    sines = datasets.sines(100, 50)
    figure1(folder, sines, FIGURE1_METHODS)
    figure2(folder, [sines], counts=(2, 4), seeds=range(1), measure=measure_once)
    figure3(folder, [sines], epochs=(1, 2))


def load_figure2(name):
    return load_split(name, seed=0).limited(*FIGURE2_ROWS.get(name, (None, None)))


FIGURES = {
    1: lambda folder, seeds: figure1(folder, datasets.sines(), FIGURE1_METHODS),
    2: lambda folder, seeds: figure2(
        folder, [load_figure2(name) for name in FIGURE2_SETS], ANCHOR_COUNTS, range(seeds)
    ),
    3: lambda folder, seeds: figure3(
        folder, [load_split(name, 0) for name in FIGURE3_SETS], EPOCHS
    ),
}


def main(arguments=None):
    return drawing.main(STUDY, FIGURES, smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
