"""Figures 1 to 3 of the paper, on the motorcycle data.

python -m reproduce.lmkr.figures [1 2 3]
python -m reproduce.lmkr.figures --smoke     few rows, in a temporary folder

Numbers behind figure 3 go to results/motorcycle.csv; what is there is not run again.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from reproduce import drawing
from reproduce.drawing import save_figure
from reproduce.lmkr import motorcycle
from reproduce.lmkr.methods import STUDY, TITLES
from reproduce.lmkr.motorcycle import Scatter

LOCAL = ("lmkl_published", "lmkl_affine")
NAMES = {"degree": "degree q", "width": "width s", "n_copies": "kernels P"}
AXES = {"xlabel": "time after impact (ms)", "ylabel": "acceleration (g)"}
GATE_HEIGHT = 50
# What would dwarf all other errors is cut off.
HIGHEST_ERROR = 3000


def show_rows(axis, scatter, title):
    axis.plot(scatter.X[:, 0], scatter.y, ".", color="0.65", ms=4)
    margin = 0.15 * np.ptp(scatter.y)
    axis.set(ylim=(scatter.y.min() - margin, scatter.y.max() + margin), title=title, **AXES)


def figure1(folder, scatter, n_kernels=3):
    """A machine of three kernels: what each of them would answer alone, and where it is asked."""
    figure, axes = plt.subplots(1, len(LOCAL), figsize=(5.2 * len(LOCAL), 4.0))
    grid = scatter.grid()
    split = scatter.whole_before(grid)
    for axis, method in zip(axes, LOCAL):
        model = motorcycle.fitted(method, n_kernels, split, seed=0)
        show_rows(axis, scatter, TITLES[method])
        local = model.predictor_.local(split.X_test) + model.predictor_.intercept[0]
        gates = model.gate_values(split.X_test)
        for m in range(n_kernels):
            axis.plot(grid, local[:, m], color=f"C{m}", lw=1, label=f"kernel {m + 1}")
            axis.plot(grid, GATE_HEIGHT * gates[:, m], "--", color=f"C{m}", lw=1)
        axis.plot(grid, model.predict(split.X_test), "k", lw=1.8, label="all")
        axis.legend(
            loc="lower right", fontsize=8, title=f"dashed: gate × {GATE_HEIGHT}", title_fontsize=8
        )
    save_figure(figure, folder / "figure1.png")


def mean_curve(method, value, scatter, grid):
    """Mean of the curves that are fitted to the training parts of all folds."""
    return np.mean(
        [
            motorcycle.fitted(method, value, split, seed).predict(split.X_test)
            for seed, split in enumerate(scatter.folds_before(grid))
        ],
        axis=0,
    )


def figure2(folder, scatter):
    """Every method with several sizes, means over folds."""
    figure, axes = plt.subplots(2, 2, figsize=(9.4, 6.8))
    grid = scatter.grid()
    for axis, (method, values) in zip(axes.flat, scatter.curves.items()):
        show_rows(axis, scatter, TITLES[method])
        letter = NAMES[motorcycle.swept(method)[0]].split()[-1]
        for value in values:
            heights = mean_curve(method, value, scatter, grid)
            axis.plot(grid, heights, lw=1.4, label=f"{letter} = {value}")
        axis.legend(fontsize=8)
    save_figure(figure, folder / "figure2.png")


def figure3(folder, scatter):
    """Error on the test folds and support vectors against the size of every method."""
    columns = (("svr",), ("svr_gaussian",), LOCAL)
    figure, axes = plt.subplots(2, len(columns), figsize=(12.5, 6.4), sharex="col", sharey="row")
    for (upper, lower), methods in zip(axes.T, columns):
        for method in methods:
            values = scatter.values[method]
            errors, support = motorcycle.measured(folder, scatter, method)
            upper.plot(values, errors.mean(axis=1), "o-", ms=3, lw=1.2, label=TITLES[method])
            lower.plot(values, support.mean(axis=1), "o-", ms=3, lw=1.2)
        upper.legend(fontsize=8)
        lower.set_xlabel(NAMES[motorcycle.swept(methods[0])[0]])
    axes[0, 0].set(ylabel="mean squared error", ylim=(0, HIGHEST_ERROR))
    axes[1, 0].set(ylabel="support vectors (%)", ylim=(0, 100))
    save_figure(figure, folder / "figure3.png")


def smoke(folder):
    """All figures with few rows of one feature of scikit-learn's diabetes data."""
    X, y = load_diabetes(return_X_y=True)
    sizes = {"svr": [1, 3], "svr_gaussian": [0.5, 1.0], **{method: [1, 3] for method in LOCAL}}
    scatter = Scatter("diabetes_bmi", X[:80, [2]], y[:80], 2, sizes, sizes)
    for figure in (figure1, figure2, figure3):
        figure(folder, scatter)


FIGURES = {
    number: lambda folder, seeds, figure=figure: figure(folder, motorcycle.load())
    for number, figure in ((1, figure1), (2, figure2), (3, figure3))
}


def main(arguments=None):
    return drawing.main(STUDY, FIGURES, smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
