"""Figures 1 and 2 of the paper.

    python -m reproduce.ldkl.figures [1 2] [--seeds 3]

Numbers behind figure 2 go to results/figure2.csv; what is there is not run again.
"""

import sys
from math import ceil

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from reproduce import datasets, drawing
from reproduce.drawing import save_figure
from reproduce.ldkl.methods import MAKERS, STUDY, TITLES, budget_for, sized
from reproduce.protocol import RowStore, linear_yardstick, measure, measure_once
from reproduce.report import current_rows
from reproduce.running import run_method

FIGURE1_DEPTHS = (1, 2, 3)
FIGURE2_DEPTHS = {
    "banana": (1, 2, 3, 4, 5),
    "ijcnn1": (1, 2, 4, 6, 8),
    "letter_halves": (1, 2, 4, 6, 8),
    "magic04": (1, 2, 3, 4, 6),
    "usps_halves": (1, 2, 3, 4, 5),
}
# Methods that grow with LDKL's budget, by the parameter that says how large they are.
SIZES = {
    "rff": "n_components",
    "nystroem": "n_components",
    "llsvm": "n_anchors",
    "mlp": "hidden_layer_sizes",
}
TREES = ((5, 4), (10, 8), (20, 8), (50, 16), (100, 32), (300, 64))
STYLES = {
    "ldkl": ("C3", "o-"),
    "ldkl_original": ("C1", "o--"),
    "rff": ("C0", "s-"),
    "nystroem": ("C9", "s--"),
    "llsvm": ("C2", "^-"),
    "mlp": ("C4", "D-"),
    "lightgbm": ("0.35", "v-"),
    "xgboost": ("0.6", "v--"),
}


def figure1(folder, split, parameters, depths=FIGURE1_DEPTHS, resolution=400):
    """Decision boundaries and cells of trees with 3, 7 and 15 nodes."""
    figure, axes = plt.subplots(1, len(depths), figsize=(4.6 * len(depths), 4.2))
    for axis, depth in zip(axes, depths):
        model = STUDY.build("ldkl", parameters | {"depth": depth}, seed=0)
        model.fit(split.X_train, split.y_train)
        accuracy = 100 * model.score(split.X_test, split.y_test)
        display = DecisionBoundaryDisplay.from_estimator(
            model, split.X_train, response_method="predict", grid_resolution=resolution, eps=0.2,
            ax=axis, cmap="coolwarm", alpha=0.5,
        )  # fmt: skip
        xx0, xx1 = display.xx0, display.xx1
        leaves = model.explain(np.column_stack([xx0.ravel(), xx1.ravel()])).active[:, -1]
        levels = np.unique(leaves)[:-1] + 0.5
        axis.contour(xx0, xx1, leaves.reshape(xx0.shape), levels, colors="k", linewidths=0.6)
        axis.scatter(*split.X_train.T, c=split.y_train, cmap="coolwarm", s=3)
        axis.set_title(f"{2 ** (depth + 1) - 1} nodes: {accuracy:.2f} %")
    save_figure(figure, folder / "figure1.png")


def figure2_settings(dataset):
    """Every method in several sizes: (method, parameters), smaller sizes first."""
    for depth in FIGURE2_DEPTHS[dataset]:
        for method in ("ldkl", "ldkl_original"):
            yield method, STUDY.parameters_for(method, dataset) | {"depth": depth}
        budget = budget_for(dataset, depth=depth)
        for method, size in SIZES.items():
            settings = STUDY.settings_for(method, dataset) | {size: "budget"}
            yield method, sized(method, settings, dataset, budget)
    for n_trees, n_leaves in TREES:
        shapes = {"lightgbm": {"num_leaves": n_leaves}, "xgboost": {"max_depth": _levels(n_leaves)}}
        for method, shape in shapes.items():
            if method in MAKERS:
                settings = STUDY.settings_for(method, dataset)
                yield method, settings | shape | {"n_estimators": n_trees}


def _levels(n_leaves):
    """Depth of a full tree with so many leaves."""
    return n_leaves.bit_length() - 1


def figure2_axis(axis, rows, references):
    """Accuracy against prediction time; one marker per size, means over seeds."""
    curves = {}
    for row in rows:
        curve = curves.setdefault(row["method"], {})
        size = str(sorted(row["parameters"].items()))
        curve.setdefault(size, []).append((row["times_linear"], row["accuracy"]))
    for method, curve in curves.items():
        color, style = STYLES[method]
        points = np.array([np.mean(values, axis=0) for values in curve.values()])
        axis.plot(*points.T, style, color=color, ms=4, lw=1.2, label=TITLES[method])
    for method, style in (("linear", ":"), ("kernel", "--")):
        if found := references.get(method):
            accuracy = np.mean([row["accuracy"] for row in found])
            axis.axhline(accuracy, ls=style, color="k", lw=0.8)
            note = f"{TITLES[method]}, {np.mean([row['times_linear'] for row in found]):.0f} ×"
            axis.annotate(
                note, (0.01, accuracy), xycoords=("axes fraction", "data"), fontsize=7, va="bottom"
            )
            if method == "linear":
                # As in the paper: what is below a line is not worth its time.
                axis.set_ylim(bottom=accuracy - 1)
    axis.set(xscale="log", xlabel="prediction time, linear SVM = 1", ylabel="accuracy (%)")


def figure2(folder, parts, seeds, measure=measure):
    """``parts`` are splits with the settings to try on each."""
    store = RowStore(folder / "figure2.csv", STUDY.measured)
    cells = current_rows(STUDY, folder / "rows.csv")
    n_columns = min(3, len(parts))
    shape = (ceil(len(parts) / n_columns), n_columns)
    figure, axes = plt.subplots(*shape, figsize=(4.6 * shape[1], 3.8 * shape[0]), squeeze=False)
    for axis, (split, settings) in zip(axes.flat, parts):
        yardstick = linear_yardstick(split)
        rows = [
            run_method(STUDY, store, method, parameters, split, seed, yardstick, measure)
            for method, parameters in settings
            for seed in seeds
        ]
        references = {method: cells.get((method, split.name)) for method in ("linear", "kernel")}
        figure2_axis(axis, rows, references)
        axis.set_title(split.name, fontsize=10)
    for axis in axes.flat[len(parts) :]:
        axis.axis("off")
    lines = axes.flat[0].get_legend_handles_labels()
    # a free corner of the grid is the best place for the legend
    axes.flat[-1].legend(*lines, fontsize=7 if axes.size == len(parts) else 9, loc="center")
    save_figure(figure, folder / "figure2.png")


def smoke(folder):
    """Both figures on small data."""
    parameters = STUDY.config["smoke"]
    figure1(folder, datasets.sines(100, 50), parameters["ldkl"], resolution=60)
    settings = [("ldkl", parameters["ldkl"] | {"depth": depth}) for depth in (1, 2)]
    settings += [(method, parameters[method]) for method in STYLES if method in MAKERS]
    parts = [(datasets.digits(200, 100, halves=True), settings)]
    figure2(folder, parts, range(1), measure_once)


def load_figure2(dataset):
    return STUDY.load_split(dataset, seed=0), list(figure2_settings(dataset))


FIGURES = {
    1: lambda folder, seeds: figure1(
        folder, STUDY.load_split("banana", seed=0), STUDY.parameters_for("ldkl", "banana")
    ),
    2: lambda folder, seeds: figure2(
        folder, [load_figure2(name) for name in FIGURE2_DEPTHS], range(seeds)
    ),
}


def main(arguments=None):
    return drawing.main(STUDY, FIGURES, smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
