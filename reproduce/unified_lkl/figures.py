"""Figures 1 and 2 of the paper.

python -m reproduce.unified_lkl.figures [1 2]
python -m reproduce.unified_lkl.figures --smoke     few points, in a temporary folder
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from nearlinear import LDMKLClassifier, LMKLClassifier, UniformMKLClassifier
from nearlinear.kernels import Gaussian, Polynomial
from reproduce import datasets, drawing
from reproduce.drawing import save_figure
from reproduce.protocol import RowStore
from reproduce.unified_lkl.fit_memory import megabytes_here, megabytes_of
from reproduce.unified_lkl.methods import STUDY, TITLES

CLASS_COLORS = {-1: "#92b4d6", 1: "#e0a0a0"}
BOUNDARY = "#1b7837"
# One quadratic and one Gaussian, as in the paper.
TWO_KERNELS = (Polynomial(2, gamma=1.0), Gaussian(gamma=2.0))
_COMMON = {"kernels": TWO_KERNELS, "C": 1.0, "normalization": "diagonal"}
MACHINES = {
    "Uniform": UniformMKLClassifier(**_COMMON),
    "LD-MKL": LDMKLClassifier(**_COMMON, random_state=0),
    "LMKL": LMKLClassifier(**_COMMON, n_copies=1, random_state=0),
}
ROWS = (500, 1000, 2000, 4000, 8000, 16000)
FIGURE2_METHODS = {"lmkl": "o", "clmkl": "s", "swmkl": "^"}
FIGURE2_SOLVERS = {
    "plenty": ("#b2182b", "smo, memory at will"),
    "smo": ("#e08214", "smo, as it comes"),
    "mwu": ("#2166ac", "mwu"),
}


def two_regions(n_rows=400, seed=0):
    """Two classes: a parabola between them on the left, on the right a disc within a ring."""
    rng = np.random.default_rng(seed)
    n_left = n_rows // 2
    y = rng.choice([-1, 1], n_rows)
    y_left, y_right = y[:n_left], y[n_left:]
    x = rng.uniform(-2.2, -0.4, n_left)
    height = y_left * np.abs(rng.normal(scale=0.5, size=n_left))
    left = np.column_stack([x, (x + 1.3) ** 2 - 0.5 + height + rng.normal(scale=0.15, size=n_left)])
    angle = rng.uniform(0, 2 * np.pi, n_rows - n_left)
    radius = np.where(y_right > 0, 0.0, 0.7) + rng.normal(scale=0.15, size=len(angle))
    right = np.column_stack([1.2 + radius * np.cos(angle), radius * np.sin(angle)])
    return np.concatenate([left, right]), y


def support_rows(model):
    """The training rows that a machine on several kernels keeps."""
    return getattr(model.predictor_, "components", model.predictor_).support


def figure1(folder, n_rows=400, resolution=250):
    """One set of kernel weights against local ones: boundaries and support points."""
    X, y = two_regions(n_rows)
    X_test, y_test = two_regions(20 * n_rows, seed=1)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained", sharey=True)
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    grid = np.meshgrid(*np.linspace(low, high, resolution).T)
    points = np.column_stack([axis.ravel() for axis in grid])
    for axis, (name, machine) in zip(axes, MACHINES.items()):
        model = clone(machine).fit(X, y)
        scores = model.decision_function(points).reshape(grid[0].shape)
        axis.contour(*grid, scores, levels=[0.0], colors=BOUNDARY, linewidths=2)
        for label, color in CLASS_COLORS.items():
            axis.scatter(*X[y == label].T, s=9, color=color, linewidths=0)
        support = support_rows(model).T
        axis.scatter(*support, s=22, facecolors="none", edgecolors="k", linewidths=0.7)
        accuracy = 100 * model.score(X_test, y_test)
        axis.set_title(f"{name}: {model.n_support_} support points, {accuracy:.1f} %", fontsize=10)
    save_figure(figure, folder / "figure1.png")


def figure2(folder, split, rows=ROWS, measure=megabytes_of):
    """Megabytes that a fit takes, against the number of rows."""
    store = RowStore(
        folder / "figure2.csv", ("megabytes",), key=("dataset", "method", "parameters")
    )
    figure, axis = plt.subplots(figsize=(8.5, 5), layout="constrained")
    for solver, (color, label) in FIGURE2_SOLVERS.items():
        for method, marker in FIGURE2_METHODS.items():
            measured = [_measured(store, split, method, solver, n_rows, measure) for n_rows in rows]
            name = f"{TITLES[f'{method}_fixed']}, {label}"
            axis.plot(rows, measured, marker=marker, color=color, ms=5, lw=1, label=name)
    n_rows = np.array(rows, dtype=float)
    axis.plot(rows, 8 * n_rows**2 / 1e6, "k--", lw=1, label="8 n² bytes")
    axis.plot(rows, 8 * 3 * n_rows / 1e6, "k:", lw=1, label="8 n m bytes, m = 3")
    axis.set(xscale="log", yscale="log", xlabel="training rows n", ylabel="megabytes of a fit")
    figure.legend(loc="outside right upper", fontsize=8, frameon=False)
    save_figure(figure, folder / "figure2.png")


def _measured(store, split, method, solver, n_rows, measure):
    part = split.limited(train_rows=n_rows)
    key = {"dataset": split.name, "method": method}
    key["parameters"] = {"solver": solver, "n_rows": n_rows}
    row, is_new = store.get_or_add(
        key, lambda: {"megabytes": measure(method, solver, part.X_train, part.y_train)}
    )
    if is_new:
        print(f"{method:6} {solver:9} {n_rows:6} rows  {row['megabytes']:9.1f} MB", flush=True)
    return row["megabytes"]


def smoke(folder):
    """Both figures with few points."""
    figure1(folder, n_rows=60, resolution=40)
    figure2(folder, datasets.tumors(), rows=(60, 100), measure=megabytes_here)


FIGURES = {
    1: lambda folder, seeds: figure1(folder),
    2: lambda folder, seeds: figure2(folder, STUDY.load_split("adult", seed=0)),
}


def main(arguments=None):
    return drawing.main(STUDY, FIGURES, smoke, arguments)


if __name__ == "__main__":
    sys.exit(main())
