"""
The cells of an oblique tree
============================

**Question.** A tree of linear splits cuts the plane into cells. Where are they, and what happens
inside?

In each cell one path answers, and one smooth function. So a tree of depth three bends a boundary
in several places at the price of a few linear models. Fields of corn and wheat make a checkerboard
here, which no line can tell. ``TreeCellsDisplay`` draws it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nearlinear import LDKLClassifier
from nearlinear.displays import TreeCellsDisplay

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.0, 3.0, (1500, 2)), columns=["east, km", "north, km"])
is_corn = np.sin(np.pi * X["east, km"]) * np.sin(np.pi * X["north, km"]) > 0.0
y = np.where(is_corn, "corn", "wheat")

figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.7), sharey=True, layout="constrained")
for ax, depth in zip(axes, (1, 3, 5)):
    model = LDKLClassifier(depth, max_iter=40, random_state=0).fit(X, y)
    score = 100.0 * model.score(X, y)
    TreeCellsDisplay.from_estimator(
        model, X, y, ax=ax, resolution=250, title=f"depth {depth}: {score:.0f} % right"
    )
figure.suptitle("A deeper tree bends in more places", fontweight="bold", fontsize=14)
plt.show()

# %%
# Thick lines are where the answer changes, thin ones the borders of the cells.
#
# **Where it fails.** The picture is of two columns; with more, a cell is a body that no plane
# shows. Scores may jump at a border of cells, and deep trees have cells with few rows in them, in
# which the answer is a guess.
