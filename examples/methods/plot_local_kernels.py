"""
Few local kernels
=================

**Question.** How many local linear models does a curved decision boundary need?

Every training sample is the anchor of one candidate kernel per bandwidth, and MLLKM selects few of
them by multiple kernel learning. The fitted model stores the selected anchors with one linear
model each, and no support vectors.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from nearlinear import MLLKMClassifier

X, y = make_moons(600, noise=0.12, random_state=0)
model = MLLKMClassifier(profile="square", random_state=0).fit(X, y)
ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")[1]
DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", grid_resolution=200, eps=0.2, ax=ax,
    cmap="coolwarm", alpha=0.5, levels=20,
)  # fmt: skip
ax.scatter(*X.T, c=y, cmap="coolwarm", s=8)
sizes = 30 + 230 * model.kernel_weights_ / model.kernel_weights_.max()
ax.scatter(*model.anchors_.T, s=sizes, marker="s", facecolor="none", edgecolor="black")
ax.set_title(f"{model.n_kernels_} kernels of {model.n_priced_:,} candidates")
plt.show()

# %%
# Squares are the anchors of the selected kernels; their size is the kernel weight.
#
# **Where it fails.** Every iteration evaluates all candidates: a fit takes seconds for thousands of
# samples and minutes for tens of thousands. With many features, a local kernel covers few samples.

print("relative duality gap over all candidates:", f"{model.duality_gap_ / model.objective_:.1e}")
