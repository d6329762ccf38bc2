"""
Oblique splits where two columns matter together
================================================

**Question.** The difference of two columns decides. Do trees that look at one column at a time
find out?

They do, in stairs. ``LocalForestClassifier`` may split sums and differences of columns, too: it
screens them, keeps those that explain something, and chooses on held-out rows whether to use any.
Both forests below have the same number of trees and leaves, and the same learning rate.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split

from nearlinear import LocalForestClassifier
from nearlinear.displays.palette import CLASSES, draw_labeled

rng = np.random.default_rng(0)
X = rng.uniform(-1.0, 1.0, (1600, 2))
difference = X[:, 0] - X[:, 1]
y = (np.abs(difference) < 0.45).astype(int)
y = np.where(rng.random(len(y)) < 0.05, 1 - y, y)  # some labels are wrong
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=400, random_state=0)

size = {"max_leaf_nodes": 4, "random_state": 0}
plain = HistGradientBoostingClassifier(max_iter=20, learning_rate=0.42, **size)
oblique = LocalForestClassifier(n_trees=20, max_leaves=4, pairs="auto", random_state=0)

# %%
# The colors are what each forest would say in every place of the plane.

figure, axes = plt.subplots(1, 2, figsize=(8.6, 4.5), layout="constrained")
for ax, name, model in ((axes[0], "plain splits", plain), (axes[1], "with pairs", oblique)):
    model.fit(X_train, y_train)
    DecisionBoundaryDisplay.from_estimator(
        model, X_train, ax=ax, response_method="predict", grid_resolution=250, alpha=0.35,
        cmap=ListedColormap(CLASSES[:2]), eps=0.02,
    )  # fmt: skip
    draw_labeled(ax, X_train, y_train, [0, 1], 26, linewidth=0.3)
    score = 100.0 * model.score(X_test, y_test)
    ax.set_title(f"{name}: {score:.1f} % right", loc="left")
    ax.set(xlabel="first column", ylabel="second column")
figure.suptitle("One oblique split replaces a stair", fontweight="bold")
plt.show()

# %%
# **Where it fails.** Pairs are sums and differences of two *numeric* columns. Three columns that
# decide together are out of their reach (see oblique trees, ``LDKLClassifier``), and where no pair
# matters, ``pairs="auto"`` uses none and only the screening was paid for.

print("the plan that held-out rows have chosen:", oblique.plan_)
