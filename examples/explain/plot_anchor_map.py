"""
Which anchor answers, and what it looks at
==========================================

**Question.** A model of local linear models: who answers where, and does each of them look at the
same column?

``LLSVMClassifier`` shares a row among its nearest anchors. We color the plane by the anchor that
has the most say, and draw the direction in which the model's score grows there: ``coefficients`` of
``explain``, row by row.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons

from nearlinear import LLSVMClassifier
from nearlinear.displays.palette import CLASSES, INK

X, y = make_moons(600, noise=0.15, random_state=0)
model = LLSVMClassifier(8, C=10.0, random_state=0).fit(X, y)

low, high = X.min(axis=0) - 0.25, X.max(axis=0) + 0.25
grid = np.meshgrid(*np.linspace(low, high, 250).T)
plane = np.column_stack([axis.ravel() for axis in grid])
found = model.explain(plane)
winner = found.active[np.arange(len(plane)), found.gates.argmax(axis=1)]
scores = model.decision_function(plane)

# %%
# Diamonds are anchors; arrows point to where class 1 becomes more likely.

figure, ax = plt.subplots(figsize=(7.0, 4.8), layout="constrained")
ax.pcolormesh(
    *grid, winner.reshape(grid[0].shape), cmap=ListedColormap(CLASSES), alpha=0.28, vmin=0, vmax=7,
    shading="nearest", rasterized=True,
)  # fmt: skip
ax.contour(*grid, scores.reshape(grid[0].shape), levels=[0.0], colors=INK, linewidths=3)
for label, marker, color in ((0, "o", "white"), (1, "^", INK)):
    ax.scatter(*X[y == label].T, s=14, marker=marker, color=color, edgecolor=INK, linewidth=0.4)
slopes = model.explain(model.anchors_).coefficients[:, 0]
slopes = slopes / np.linalg.norm(slopes, axis=1, keepdims=True)
ax.quiver(
    *model.anchors_.T, *slopes.T, color=CLASSES[1], scale=14, width=0.008, zorder=5,
)  # fmt: skip
ax.scatter(*model.anchors_.T, s=120, marker="D", color=CLASSES[1], edgecolor="white", zorder=6)
ax.set(xlabel="first column", ylabel="second column")
ax.set_title("Eight linear models, each with a view of its own", loc="left", fontweight="bold")
plt.show()

# %%
# **Where it fails.** Regions are those of the gate, which is soft: near a border two or more
# anchors share the answer. Anchors stand where rows are dense, so a thin bridge between clouds may
# have none.
