"""
Grid search over an oblique tree
================================

**Question.** Which two numbers of ``LDKLClassifier`` matter most, and how flat is the optimum?

Models of nearlinear are estimators of scikit-learn: ``GridSearchCV`` takes them, alone or in a
pipeline. We look at the depth of the tree and at ``jitter``, the noise that is added to training
rows while it learns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLClassifier
from nearlinear.displays.palette import ink_on

X, y = make_moons(500, noise=0.3, random_state=0)
grid = {"ldklclassifier__depth": [1, 2, 3, 5], "ldklclassifier__jitter": [0.0, 0.1, 0.2, 0.4]}
model = make_pipeline(StandardScaler(), LDKLClassifier(max_iter=20, random_state=0))
search = GridSearchCV(model, grid, cv=3).fit(X, y)

# %%
# One square for each pair of settings: the mean accuracy over three folds.

depths, jitters = grid.values()
scores = 100.0 * search.cv_results_["mean_test_score"].reshape(len(depths), len(jitters))
error = 100.0 * search.cv_results_["std_test_score"].mean() / np.sqrt(3)

figure, ax = plt.subplots(figsize=(6.2, 4.6), layout="constrained")
image = ax.imshow(scores, cmap="viridis", aspect="auto")
for (row, column), score in np.ndenumerate(scores):
    ink = ink_on(image.cmap(image.norm(score)))
    ax.text(column, row, f"{score:.1f}", ha="center", va="center", color=ink, fontsize=13)
best = np.unravel_index(scores.argmax(), scores.shape)
ax.add_patch(
    plt.Rectangle(
        (best[1] - 0.47, best[0] - 0.47), 0.94, 0.94, fill=False, edgecolor="#d1495b", linewidth=4
    )
)
ax.set_xticks(range(len(jitters)), jitters)
ax.set_yticks(range(len(depths)), depths)
ax.set(xlabel="jitter, in standard deviations of a column", ylabel="depth of the tree, levels")
figure.colorbar(image, ax=ax, label="accuracy in three folds, %")
ax.set_title("A wide plateau from depth 3 on", loc="left", fontweight="bold")
plt.show()

# %%
# **Where it fails.** The standard error of a square is about as large as the differences between
# the good ones, so the frame says little. The best score of a search is too good by its nature:
# judge the winner on rows that the search has not seen.

print(f"best: {search.best_params_}; one standard error of a square: {error:.1f} points")
