"""
Which columns matter, and how
=============================

**Question.** Over all rows, which columns move the answers, and in which direction?

The importance of a feature is the mean size of its contribution to the prediction, as in a report.
``PartialDependenceDisplay`` of scikit-learn shows the direction. Only four of the eight features
here influence the target.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.inspection import PartialDependenceDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLRegressor

rng = np.random.default_rng(0)
names = ["heat", "wind", "rain", "slope", "noise 1", "noise 2", "noise 3", "noise 4"]
X = pd.DataFrame(rng.uniform(-1.0, 1.0, (1500, 8)), columns=names)
y = 3.0 * np.abs(X["heat"]) + 2.0 * X["wind"] + np.where(X["rain"] > 0.5, 2.0, 0.0) + X["slope"]
y = y + 0.2 * rng.standard_normal(len(y))
model = make_pipeline(StandardScaler(), LDKLRegressor(3, max_iter=25, random_state=0)).fit(X, y)

contributions = model[-1].explain(X, preparation=model[:-1]).contributions[:, 0]
sizes = pd.DataFrame(np.abs(contributions - contributions.mean(axis=0)), columns=names)
figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
sizes.mean().sort_values().plot.barh(ax=ax)
ax.set(xlabel="mean size of the contribution", title="The model uses the four relevant features")
plt.show()

# %%
# How the answer changes with each of the four, averaged over all other columns.

figure, axes = plt.subplots(1, 4, figsize=(9.6, 3.2), sharey=True, layout="constrained")
PartialDependenceDisplay.from_estimator(
    model, X, names[:4], ax=axes, kind="average", grid_resolution=40,
    line_kw={"linewidth": 3},
)  # fmt: skip
figure.suptitle("Heat bends, wind and slope are straight, rain jumps", fontweight="bold")
plt.show()

# %%
# **Where it fails.** Importances are about the model and not about the world: a column that causes
# nothing but is correlated with one that does may share its importance. The mean hides features
# that matter for few samples only: explain single samples there.
