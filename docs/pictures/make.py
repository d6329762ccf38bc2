"""Make the pictures of the user guide: python docs/pictures/make.py [NAME ...]."""

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_wine, make_moons
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import (
    ClusteredSVMClassifier,
    DCPredClassifier,
    LDKLClassifier,
    LLCSAPLClassifier,
    LMKLClassifier,
    LocalForestClassifier,
    MLLKMClassifier,
    SimpleMKLClassifier,
)
from nearlinear.displays import (
    ExplanationDisplay,
    GateDisplay,
    KernelWeightsDisplay,
    TreeDiagramDisplay,
)

HERE = Path(__file__).parent
COLORS = np.array(["#2a6f97", "#d1495b"])


def moons(noise=0.2, n_rows=600):
    return make_moons(n_rows, noise=noise, random_state=0)


def borders(ax, model, X, y, title):
    """Where a classifier of two columns changes its mind, and the rows."""
    DecisionBoundaryDisplay.from_estimator(
        model, X, ax=ax, response_method="predict", grid_resolution=300, eps=0.2, alpha=0.25,
        cmap="coolwarm",
    )  # fmt: skip
    ax.scatter(*X.T, c=COLORS[y], s=6, linewidth=0)
    ax.set_title(title)


def forests():
    X = np.random.default_rng(0).uniform(-1, 1, (800, 2))
    y = (np.abs(X[:, 0] + X[:, 1]) < 0.5).astype(int)
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    for ax, pairs in zip(figure.subplots(1, 2), (0, 4), strict=True):
        model = LocalForestClassifier(
            3, max_leaves=16, pairs=pairs, linear_root=False, leaf_model="constant",
            leaf_penalty=1.0, random_state=0,
        ).fit(X, y)  # fmt: skip
        borders(ax, model, X, y, f"three trees, {'with' if pairs else 'without'} pair columns")
    return figure


def trees():
    X, y = moons()
    model = LDKLClassifier(2, random_state=0).fit(X, y)
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    borders(left, model, X, y, "cells")
    xx0, xx1 = np.meshgrid(*np.linspace(X.min(axis=0) - 0.2, X.max(axis=0) + 0.2, 300).T)
    leaves = model.explain(np.column_stack([xx0.ravel(), xx1.ravel()])).active[:, -1]
    levels = np.unique(leaves)[:-1] + 0.5
    left.contour(xx0, xx1, leaves.reshape(xx0.shape), levels=levels, colors="k", linewidths=0.6)
    TreeDiagramDisplay.from_estimator(model, X, y, ax=right, title="paths")
    return figure


def cells():
    X, y = moons()
    model = DCPredClassifier(4, n_landmarks=3, random_state=0).fit(X, y)
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    ax = figure.subplots()
    borders(ax, model, X, y, "four cells, three landmarks in each")
    ax.scatter(*model.predictor_.landmarks.T, marker="+", color="black", s=70)
    return figure


def anchors():
    X, y = moons()
    model = LLCSAPLClassifier(8, n_neighbors=4, random_state=0).fit(X, y)
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    ax = figure.subplots()
    borders(ax, model, X, y, "eight anchors, learned")
    ax.scatter(*model.anchors_.T, marker="*", color="black", s=90)
    return figure


def neighbors():
    X, y = moons()
    model = ClusteredSVMClassifier(8, random_state=0).fit(X, y)
    figure = Figure(figsize=(5, 3.6), layout="constrained")
    ax = figure.subplots()
    borders(ax, model, X, y, "a linear model in each of eight clusters")
    ax.scatter(*model.predictor_.gate.anchors.T, marker="*", color="black", s=90)
    return figure


def local_kernels():
    X, y = moons()
    model = LMKLClassifier(n_copies=3, gate="gaussian", C=10, random_state=0).fit(X, y)
    figure = Figure(figsize=(9, 3.5), layout="constrained")
    GateDisplay.from_estimator(model, X, y, resolution=120, ax=figure.subplots(1, 3))
    return figure


def mixtures():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), SimpleMKLClassifier("bank"))
    figure = Figure(figsize=(7, 4), layout="constrained")
    KernelWeightsDisplay.from_estimator(
        model.fit(X, y == 1), ax=figure.subplots(), top=10, feature_names=load_wine().feature_names,
        title="the ten largest of 27 kernel weights",
    )  # fmt: skip
    return figure


def few_kernels():
    X, y = moons(noise=0.12)
    model = MLLKMClassifier(profile="square", bandwidths=[0.5], random_state=0).fit(X, y)
    figure = Figure(figsize=(6, 4.2), layout="constrained")
    ax = figure.subplots()
    shown = DecisionBoundaryDisplay.from_estimator(
        model, X, ax=ax, response_method="decision_function", grid_resolution=300, eps=1.6,
        cmap="coolwarm", alpha=0.5, levels=20,
    )  # fmt: skip
    grid = np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()])
    support = model.support_score(grid).reshape(shown.xx0.shape)
    ax.contourf(
        shown.xx0, shown.xx1, support, levels=[-1, 0.05], colors="lightgray", hatches=["////"]
    )
    ax.scatter(*X.T, c=COLORS[y], s=6, linewidth=0)
    sizes = 30 + 200 * model.kernel_weights_ / model.kernel_weights_.max()
    ax.scatter(*model.anchors_.T, s=sizes, marker="s", facecolor="none", edgecolor="black")
    ax.set_title(f"{model.n_kernels_} local kernels; their anchors as squares")
    return figure


def explain():
    table = load_wine(as_frame=True).data
    y = load_wine().target
    model = make_pipeline(StandardScaler(), LLCSAPLClassifier(8, random_state=0)).fit(table, y)
    figure = Figure(figsize=(8.4, 3.8), layout="constrained")
    ExplanationDisplay.from_estimator(model, table[70:71], axes=figure.subplots(1, 2))
    return figure


PICTURES = [
    forests, trees, cells, anchors, neighbors, local_kernels, mixtures, few_kernels, explain,
]  # fmt: skip


def main():
    wanted = sys.argv[1:]
    for make in PICTURES:
        if wanted and make.__name__ not in wanted:
            continue
        drawn = BytesIO()
        make().savefig(drawn, dpi=100)
        path = HERE / f"{make.__name__}.png"
        Image.open(drawn).convert("RGB").quantize(96).save(path, optimize=True)
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
