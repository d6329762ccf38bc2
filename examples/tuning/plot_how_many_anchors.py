"""
How many anchors are enough?
============================

**Question.** ``LLSVMClassifier`` has a linear model around each anchor. How many anchors are
needed, and how good is the default, ``n_anchors="auto"``?

We increase the number of anchors and compare with "auto", which chooses the number and ``C`` on a
validation set.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from nearlinear import LLSVMClassifier
from nearlinear.displays.palette import CLASSES, INK

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y % 2, random_state=0)
numbers = [1, 2, 4, 8, 16, 32, 64]
found = []
for n_anchors in numbers:
    model = LLSVMClassifier(n_anchors, tol=0.01, random_state=0).fit(X_train, y_train)
    found.append((model.cost_.multiply_adds, 100.0 * model.score(X_test, y_test)))
auto = LLSVMClassifier(tol=0.01, random_state=0).fit(X_train, y_train)

# %%
# One anchor is a linear model.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
ax.plot(*np.transpose(found), color=CLASSES[0], marker="o", ms=9, linewidth=2.5)
for n_anchors, (cost, accuracy) in zip(numbers, found):
    ax.annotate(n_anchors, (cost, accuracy), (-2, 10), textcoords="offset points", ha="right")
ax.scatter(
    auto.cost_.multiply_adds, 100.0 * auto.score(X_test, y_test), s=170, marker="*",
    color=CLASSES[1], zorder=3, label=f'n_anchors="auto": {len(auto.anchors_)}',
)  # fmt: skip
ax.set_xscale("log")
ax.set_xticks([150, 500, 1500, 5000], [150, 500, 1500, 5000])
ax.minorticks_off()
ax.margins(y=0.15)
ax.set(xlabel="multiply-adds a row (log scale)", ylabel="test accuracy, %")
ax.set_title("Two anchors gain most, thirty the rest", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="lower right", labelcolor=INK)
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# **Where it fails.** "auto" minimizes the validation loss, not the cost of a prediction: fewer
# anchors may have the same accuracy. Anchors stand where samples are dense, not where classes
# meet. With many columns all distances are alike, and anchors do not help: project such samples
# first.
