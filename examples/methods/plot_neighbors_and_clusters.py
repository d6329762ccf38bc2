"""
Locality by neighbors and by clusters
=====================================

**Question.** Two old ways to be local: ask the neighbors of each query (SVM-KNN), or cut the space
into clusters beforehand (CSVM). What do they pay, and what do they get?

SVM-KNN learns nothing until it is asked; then it trains a small machine on the neighbors. CSVM has
one linear model for each cluster, tied to a global one: a prediction is one of them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from nearlinear import ClusteredSVMClassifier, SVMKNNClassifier
from nearlinear.displays.palette import draw_labeled

X, y = make_moons(1400, noise=0.25, random_state=0)
X_train, y_train, X_test, y_test = X[:400], y[:400], X[400:], y[400:]
models = {
    "SVM-KNN, 20 neighbors": SVMKNNClassifier(n_neighbors=20),
    "CSVM, 8 clusters": ClusteredSVMClassifier(8, random_state=0),
}

# %%
# Shades are scores; white is where a model cannot decide.

figure, axes = plt.subplots(1, 2, figsize=(8.8, 4.4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    model.fit(X_train, y_train)
    DecisionBoundaryDisplay.from_estimator(
        model, X_train, ax=ax, response_method="decision_function", plot_method="pcolormesh",
        cmap="RdBu_r", vmin=-2, vmax=2, alpha=0.55, grid_resolution=60, eps=0.2,
    )  # fmt: skip
    DecisionBoundaryDisplay.from_estimator(
        model, X_train, ax=ax, response_method="decision_function", plot_method="contour",
        levels=[0.0], colors="#28323c", linewidths=2.5, grid_resolution=60, eps=0.2,
    )  # fmt: skip
    draw_labeled(ax, X_train, y_train, [0, 1], 18, linewidth=0.3)
    score, cost = 100.0 * model.score(X_test, y_test), model.cost_.multiply_adds
    ax.set_title(f"{name}\n{score:.1f} % right, {cost:,} multiply-adds a row", loc="left")
    ax.set(xlabel="first column", ylabel="second column")
plt.show()

# %%
# **Where they fail.** SVM-KNN keeps all rows, and its price grows with them; its border is ragged
# where neighbors disagree. CSVM jumps at the borders of clusters, and k-means knows nothing of
# classes.
