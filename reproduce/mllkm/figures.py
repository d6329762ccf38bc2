"""Figures 1 and 2 of the paper.

python -m reproduce.mllkm.figures [1 2]
python -m reproduce.mllkm.figures --smoke     few points, in a temporary folder
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from nearlinear import MLLKMClassifier
from nearlinear.displays import ConformalMapsDisplay, LocalKernelsDisplay
from reproduce import drawing
from reproduce.drawing import save_figure
from reproduce.mllkm.methods import MAPS, STUDY, TITLES

# The line between the classes, from left to right.
CORNERS = np.array([(-1.0, -0.2), (-0.5, 0.6), (0.05, -0.6), (0.45, 0.35), (1.0, -0.1)])
ANCHOR = (-0.4, 0.3)
FIGURE2_MAPS = ("mllkm_g", "mllkm_s", "mllkm_comp_g", "mllkm_comp_s")


def bent_line(n_rows=400, seed=0):
    """Points of a square, uniform on both sides of a piecewise linear boundary."""
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, 2))
    return X, np.where(X[:, 1] > np.interp(X[:, 0], *CORNERS.T), 1, -1)


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


def smoke(folder):
    """Both figures with few points."""
    figure1(folder, n_rows=60)
    figure2(folder, n_rows=60, resolution=40)


FIGURES = {1: lambda folder, seeds: figure1(folder), 2: lambda folder, seeds: figure2(folder)}


def main(arguments=None):
    return drawing.main(STUDY, FIGURES, smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
