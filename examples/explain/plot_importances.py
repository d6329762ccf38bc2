"""
Which columns matter, and how
=============================

**Question.** Over all rows, which columns move the answers, and in which direction?

``ImportancesDisplay`` draws the mean size of each column's contribution, as in a report; the thin
line holds the middle 80 % of the rows. ``PartialDependenceDisplay`` of scikit-learn shows the
direction. Of the eight columns here, four decide.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import PartialDependenceDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLRegressor
from nearlinear.displays import ImportancesDisplay
from nearlinear.displays.palette import CLASSES

rng = np.random.default_rng(0)
names = ["heat", "wind", "rain", "slope", "noise 1", "noise 2", "noise 3", "noise 4"]
X = pd.DataFrame(rng.uniform(-1.0, 1.0, (1500, 8)), columns=names)
y = 3.0 * np.abs(X["heat"]) + 2.0 * X["wind"] + np.where(X["rain"] > 0.5, 2.0, 0.0) + X["slope"]
y = y + 0.2 * rng.standard_normal(len(y))
model = make_pipeline(StandardScaler(), LDKLRegressor(3, max_iter=25, random_state=0)).fit(X, y)

figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
ImportancesDisplay.from_estimator(model, X, ax=ax, title="The model has found the four that decide")
plt.show()

# %%
# How the answer changes with each of the four, averaged over all other columns.

figure, axes = plt.subplots(1, 4, figsize=(9.6, 3.2), sharey=True, layout="constrained")
PartialDependenceDisplay.from_estimator(
    model, X, names[:4], ax=axes, kind="average", grid_resolution=40,
    line_kw={"color": CLASSES[0], "linewidth": 3},
)  # fmt: skip
figure.suptitle("Heat bends, wind and slope are straight, rain jumps", fontweight="bold")
plt.show()

# %%
# **Where it fails.** Importances are about the model and not about the world: a column that causes
# nothing but goes along with one that does may get its share. A long line means that a column
# matters to some rows alone: look at single rows there.
