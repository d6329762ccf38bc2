"""
Saying nothing where nothing is known
=====================================

**Question.** A classifier answers for every input, also for one that is like nothing it was trained
on. Can it tell?

The kernels of MLLKM with the profile "square" end: beyond their reach ``support_score`` is exactly
0. We fit two moons, then ask about groups of points that are no moon, some near and some far away.
An answer to such a stranger is an error, and a confident one if it is beyond the margin,
abs(f(x)) ≥ 1. Two ways to abstain are compared, both set on held-out rows so that 99 % of them are
answered: where abs(f(x)) is small, and where the support score is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons
from sklearn.inspection import DecisionBoundaryDisplay

from nearlinear import MLLKMClassifier

NEAR = [(-0.9, -1.0), (0.5, 2.2), (2.3, 1.7), (3.1, -0.6), (-2.1, 1.0)]
FAR = [(5.4, 2.6), (-4.5, -2.1), (5.3, -2.3), (-4.4, 2.8)]

X, y = make_moons(3500, noise=0.12, random_state=0)
near, _ = make_blobs(1000, centers=NEAR, cluster_std=0.2, random_state=0)
far, _ = make_blobs(1000, centers=FAR, cluster_std=0.3, random_state=0)
(X, held_out, moons), (y, _, labels) = np.split(X, [500, 1500]), np.split(y, [500, 1500])
model = MLLKMClassifier(profile="square", bandwidths=[0.5], random_state=0).fit(X, y)
n_zero = int((model.support_score(far) == 0.0).sum())
print(f"{model.n_kernels_} kernels from {len(X)} rows")
print(f"far strangers: support score exactly 0 for {n_zero} of {len(far)}")

# %%
# What each rule answers. A small margin does not betray strangers; the support score does.


def percent(chosen):
    return f"{100 * np.mean(chosen):.1f} %"


def certainty(rows):
    return np.abs(model.decision_function(rows))


rules = {
    "always answer": (certainty, 0.0),
    "|f| not small": (certainty, np.quantile(certainty(held_out), 0.01)),
    "support score": (model.support_score, np.quantile(model.support_score(held_out), 0.01)),
}
print(f"{'':14} {'threshold':>9} {'moons':>18} {'near strangers':>19} {'far strangers':>19}")
titles = ["answered", "right", *["answered", "confident"] * 2]
print(" " * 24 + "".join(f"{title:>10}" for title in titles))
for name, (score, threshold) in rules.items():
    answered = score(moons) >= threshold
    shares = [percent(answered), percent((model.predict(moons) == labels)[answered])]
    for strangers in (near, far):
        kept = score(strangers) >= threshold
        shares += [percent(kept), percent(kept & (certainty(strangers) >= 1.0))]
    print(f"{name:14} {threshold:9.3f}" + "".join(f"{share:>10}" for share in shares))

# %%
# The model abstains in the hatched area. The crosses are strangers.

ax = plt.subplots(figsize=(8.4, 6.0), layout="constrained")[1]
display = DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", grid_resolution=300, eps=4.5, ax=ax,
    cmap="coolwarm", alpha=0.5, levels=20,
)  # fmt: skip
grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
support = model.support_score(grid).reshape(display.xx0.shape)
ax.contourf(
    display.xx0, display.xx1, support, levels=[-1.0, threshold], colors="lightgray",
    hatches=["////"],
)  # fmt: skip
ax.scatter(*X.T, c=y, cmap="coolwarm", s=8)
ax.set_title("The model abstains where the support score is small")
white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
for name, strangers, (left, bottom) in (("near", near, NEAR[1]), ("far", far, FAR[0])):
    ax.scatter(*strangers[::4].T, s=14, marker="x", color="black", linewidth=0.8)
    ax.text(left, bottom + 0.9, f"{name} strangers", ha="center", bbox=white)
plt.show()

# %%
# **Where it fails.** Near is near in Euclidean distance: a stranger that differs in one column of
# many is near. Scale the columns as they matter, or this measures the wrong thing.
