"""
The cells of an oblique tree
============================

**Question.** The linear splits of a tree divide the plane into cells. Where are the cells, and how
does the prediction change inside a cell?

All samples of a cell follow the same path, and the score is a smooth function of the features
there. Therefore a tree of depth three bends a decision boundary in several places at the cost of a
few linear models. The fields of corn and wheat below form a checkerboard, which no linear model can
separate.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import DecisionBoundaryDisplay

from nearlinear import LDKLClassifier

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.0, 3.0, (1500, 2)), columns=["east, km", "north, km"])
is_corn = np.sin(np.pi * X["east, km"]) * np.sin(np.pi * X["north, km"]) > 0.0
y = np.where(is_corn, "corn", "wheat")

figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.7), sharey=True, layout="constrained")
for ax, depth in zip(axes, (1, 3, 5)):
    model = LDKLClassifier(depth, max_iter=40, random_state=0).fit(X, y)
    display = DecisionBoundaryDisplay.from_estimator(
        model, X, response_method="predict", grid_resolution=250, eps=0.1, ax=ax, cmap="coolwarm",
        alpha=0.5,
    )  # fmt: skip
    xx0, xx1 = display.xx0, display.xx1
    grid = pd.DataFrame({"east, km": xx0.ravel(), "north, km": xx1.ravel()})
    leaves = model.explain(grid).active[:, -1].reshape(xx0.shape)
    levels = np.unique(leaves)[:-1] + 0.5
    ax.contour(xx0, xx1, leaves, levels=levels, colors="black", linewidths=0.6)
    ax.scatter(X["east, km"], X["north, km"], c=y == "wheat", cmap="coolwarm", s=5)
    ax.set_title(f"depth {depth}: training accuracy {100.0 * model.score(X, y):.0f} %")
figure.suptitle("A deeper tree bends in more places", fontweight="bold", fontsize=14)
plt.show()

# %%
# Lines are the borders of the cells; the color is the predicted class.
#
# **Where it fails.** With more than two features no plane shows a whole cell. Scores may be
# discontinuous at a border, and deep trees have cells with few training samples, where predictions
# are unreliable.
