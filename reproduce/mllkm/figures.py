"""Figures 1 and 2 of the paper; figure 3 shows the bandwidths that its machine chooses.

python -m reproduce.mllkm.figures [1 2 3]
python -m reproduce.mllkm.figures --smoke     few points, in a temporary folder
"""

import sys

import matplotlib.pyplot as plt

from nearlinear import MLLKMClassifier
from nearlinear.displays import ConformalMapsDisplay, LocalKernelsDisplay
from reproduce import drawing
from reproduce.drawing import save_figure
from reproduce.mllkm import questions
from reproduce.mllkm.methods import MAPS, STUDY, TITLES
from reproduce.mllkm.questions import CORNERS, TASKS, bent_line

ANCHOR = (-0.4, 0.3)
FIGURE2_MAPS = ("mllkm_g", "mllkm_s", "mllkm_comp_g", "mllkm_comp_s")


def figure1(folder, n_rows=400):
    """A cloud of points, and what the eight maps around one anchor make of it."""
    display = ConformalMapsDisplay.from_data(*bent_line(n_rows), anchor=ANCHOR, bandwidth=3.0)
    save_figure(display.figure_, folder / "figure1.png")


def figure2(folder, n_rows=400, resolution=300):
    """Decision functions of four maps; C and the rest as in the paper."""
    X, y = bent_line(n_rows)
    X_test, y_test = bent_line(20 * n_rows, seed=1)
    figure, axes = plt.subplots(2, 2, figsize=(12, 11), layout="constrained")
    for axis, method in zip(axes.flat, FIGURE2_MAPS):
        model = MLLKMClassifier(*MAPS[method], C=1000.0, length_exponent=0.0, bias="none").fit(X, y)
        accuracy = 100 * model.score(X_test, y_test)
        title = f"{TITLES[method]}: {accuracy:.1f} %, {model.n_kernels_} kernels"
        LocalKernelsDisplay.from_estimator(
            model, X, y, CORNERS, resolution=resolution, ax=axis, title=title
        )
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
