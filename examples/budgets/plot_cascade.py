"""
Easy rows stop early
====================

**Question.** Most rows are easy. Why pay the full price for all of them?

``Cascade`` chains classifiers, the cheapest first. A row stops at the first stage that is sure
enough. How sure is chosen on held-out rows, so that at most ``max_loss`` of the accuracy of the
last stage is given up, with stated confidence.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from sklearn.datasets import make_moons

from nearlinear import Cascade, LDKLClassifier, UniformMKLClassifier
from nearlinear.displays.palette import CLASSES, INK

X, y = make_moons(7000, noise=0.12, random_state=0)
stages = [
    LDKLClassifier(0, random_state=0), LDKLClassifier(1, random_state=0),
    UniformMKLClassifier("gaussian"),
]  # fmt: skip
names = ["a linear model", "a tree of one split", "a kernel machine"]
model = Cascade(stages, max_loss=0.01, random_state=0).fit(X[:4000], y[:4000])

# %%
# The map shows which stage answers where. Far from all boundaries a linear model is enough, a small
# tree answers for most others, and the kernel machine is asked in a narrow band.

left, right = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
grid = np.meshgrid(*np.linspace(left, right, 160).T)
plane = np.column_stack([axis.ravel() for axis in grid])
answering = model.explain(plane).active.reshape(grid[0].shape)
shades = ["#eef2f5", "#9cc3d5", CLASSES[0]]

figure, ax = plt.subplots(figsize=(6.8, 5.0), layout="constrained")
ax.pcolormesh(
    *grid, answering, cmap=ListedColormap(shades), vmin=0, vmax=2, shading="nearest",
    rasterized=True,
)  # fmt: skip
ax.contour(
    *grid, model.predict(plane).reshape(grid[0].shape), levels=[0.5], colors=INK, linewidths=2.5
)
for label, marker, color in ((0, "o", "white"), (1, "^", CLASSES[2])):
    rows = X[4000:4600][y[4000:4600] == label]
    ax.scatter(*rows.T, s=14, marker=marker, color=color, edgecolor=INK, linewidth=0.4)
shares = [f"{name}: {100 * share:.0f} % of rows" for name, share in zip(names, model.shares_)]
handles = [Patch(color=shade, label=text) for shade, text in zip(shades, shares)]
figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
ax.set(xlabel="first column", ylabel="second column")
ax.set_title("Only rows near the boundary pay the full price", loc="left", fontweight="bold")
plt.show()

# %%
# **Where it fails.** A cascade pays where rows differ in difficulty. Where every row is near a
# boundary, all go through all stages, and the first ones were for nothing. The mean price hides
# that single rows take longer: ``cost_.spread`` tells how much they vary.

last = model.stages_[-1]
print("accuracy of the cascade:", round(model.score(X[4000:], y[4000:]), 4))
print("multiply-adds:", round(model.cost_.multiply_adds), "+-", round(model.cost_.spread))
print("accuracy of the last stage alone:", round(last.score(X[4000:], y[4000:]), 4))
print("multiply-adds of the last stage:", round(last.cost_.multiply_adds))
