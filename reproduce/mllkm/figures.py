"""Figures 1 and 2 of the paper; figure 3 shows the bandwidths that its machine chooses.

python -m reproduce.mllkm.figures [1 2 3]
python -m reproduce.mllkm.figures --smoke     few points, in a temporary folder
"""

import sys
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay

from nearlinear import MLLKMClassifier
from nearlinear.kernels.candidates import ConformalScales
from nearlinear.kernels.conformal import PROFILES, Conformal
from reproduce import drawing
from reproduce.drawing import save_figure
from reproduce.mllkm import questions
from reproduce.mllkm.methods import MAPS, STUDY, TITLES
from reproduce.mllkm.questions import CORNERS, TASKS, bent_line

ANCHOR = (-0.4, 0.3)
FIGURE2_MAPS = ("mllkm_g", "mllkm_s", "mllkm_comp_g", "mllkm_comp_s")


def figure1(folder, n_rows=400):
    """Points of the plane and their images under the eight maps around one anchor."""
    X, y = bent_line(n_rows)
    panels = [("samples and anchor", X, ANCHOR)]
    for per_feature, profile in product((False, True), PROFILES.values()):
        scales = ConformalScales.of_rows(X, np.ones(n_rows), profile, per_feature, [3.0], 0.0)
        kernel = Conformal(ANCHOR, float(scales.gammas[0]), profile.name, per_feature)
        title = f"{profile.name}, per feature" if per_feature else profile.name
        panels.append((title, kernel.features(X), (0.0, 0.0)))
    limit = 1.08 * max(np.abs(image).max() for _, image, _ in panels[1:])
    figure = plt.figure(figsize=(12.6, 5.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.5, 4))
    axes = [left.subplots(), *right.subplots(2, 4, sharex=True, sharey=True).flat]
    for axis, (title, image, center) in zip(axes, panels, strict=True):
        axis.scatter(*image.T, c=y, cmap="coolwarm", s=8)
        axis.plot(*center, "k+", ms=10)
        axis.set_title(title, fontsize=9.5)
        axis.set_aspect("equal")
    axes[1].set(xlim=(-limit, limit), ylim=(-limit, limit))
    save_figure(figure, folder / "figure1.png")


def figure2(folder, n_rows=400, resolution=300):
    """Decision functions of four maps; C and the rest as in the paper."""
    X, y = bent_line(n_rows)
    X_test, y_test = bent_line(20 * n_rows, seed=1)
    figure, axes = plt.subplots(2, 2, figsize=(12, 11), layout="constrained")
    for axis, method in zip(axes.flat, FIGURE2_MAPS):
        model = MLLKMClassifier(*MAPS[method], C=1000.0, length_exponent=0.0, bias="none").fit(X, y)
        accuracy = 100 * model.score(X_test, y_test)
        title = f"{TITLES[method]}: {accuracy:.1f} %, {model.n_kernels_} kernels"
        DecisionBoundaryDisplay.from_estimator(
            model, X, response_method="decision_function", grid_resolution=resolution, eps=0.1,
            ax=axis, levels=20, cmap="coolwarm", alpha=0.5,
        )  # fmt: skip
        DecisionBoundaryDisplay.from_estimator(
            model, X, plot_method="contour", response_method="decision_function",
            grid_resolution=resolution, eps=0.1, ax=axis, levels=[0.0], colors="k",
            linestyles="--",
        )  # fmt: skip
        axis.plot(*CORNERS.T, "k")
        axis.scatter(*X.T, c=y, cmap="coolwarm", s=14)
        in_margin = y * model.decision_function(X) <= 1.0 + 1e-3  # the solver stops at a gap
        axis.scatter(*X[in_margin].T, s=60, facecolor="none", edgecolor="k")
        sizes = 22 + 238 * model.kernel_weights_ / model.kernel_weights_.max()
        axis.scatter(*model.anchors_.T, s=sizes, marker="s", facecolor="none", edgecolor="k")
        axis.set_title(title)
    save_figure(figure, folder / "figure2.png")


def figure3(folder):
    """Shares of the kernels and of their weight by bandwidth, from results/questions_rows.csv."""
    cells = questions.cells_of(folder / questions.ROWS)
    cells = {name: rows for (name, map_), rows in cells.items() if map_ == questions.MAPS[0]}
    figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained", sharey=True)
    for axis, what in zip(axes, ("kernels", "weight")):
        for name, rows in cells.items():
            # the sets have the six default bandwidths, the drawn tasks two more
            n_known = len(questions.GAMMAS) if name in TASKS else 6
            shares = 100 * questions.gamma_shares(rows, what)
            style = "o--" if name in TASKS else "o-"
            gammas = questions.GAMMAS[:n_known]
            axis.plot(gammas, shares[:n_known], style, ms=4, lw=1.2, label=name)
        axis.set(xscale="log", xlabel="γ × median squared distance", title=f"share of {what} (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", fontsize=9)
    save_figure(figure, folder / "figure3.png")


def smoke(folder):
    """The figures with few points."""
    figure1(folder, n_rows=60)
    figure2(folder, n_rows=60, resolution=40)


FIGURES = {
    1: lambda folder, seeds: figure1(folder),
    2: lambda folder, seeds: figure2(folder),
    3: lambda folder, seeds: figure3(folder),
}


def main(arguments=None):
    return drawing.main(STUDY, FIGURES, smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
