"""
Searching inside a budget
=========================

**Question.** A prediction may cost at most so many multiply-adds. How much accuracy does each
budget buy?

A search that knows its budget tries small models that a search without one would never look at:
short trees, few anchors, few hinge units. The budget is a multiple of what a linear model costs on
the same columns, so it means the same on every machine.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from nearlinear import NearLinearClassifier
from nearlinear.displays.palette import CLASSES, INK, QUIET

X, y = load_digits(return_X_y=True)
X, y = X / 16.0, y % 2  # even or odd: hard for a line
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=700, random_state=0)

budgets, found = [1, 20, 40], []
for budget in budgets:
    model = NearLinearClassifier(
        families=["anchors", "hinge units"], max_times_linear=budget, encoder=None, random_state=0
    ).fit(X_train, y_train)
    found.append((model.cost_.times_linear, 100.0 * model.score(X_test, y_test)))
    print(f"at most {budget} x linear: {model.cost_.times_linear:.1f} x, {found[-1][1]:.1f} %")

# %%
# The dashed line is a support vector machine: every prediction compares the row with hundreds of
# training rows. The square is the linear model.

linear = LogisticRegression(max_iter=2000).fit(X_train, y_train)
machine = SVC(gamma="scale", C=10.0).fit(X_train, y_train)
accuracy = 100.0 * machine.score(X_test, y_test)

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
ax.axhline(accuracy, color=QUIET, linestyle="--", linewidth=2)
ax.text(1.0, accuracy - 0.25, f"SVC, about {len(machine.support_)} x linear", va="top", color=QUIET)
ax.plot(*np.transpose(found), color=CLASSES[0], marker="o", ms=9, linewidth=2.5, label="search")
ax.scatter(
    1, 100.0 * linear.score(X_test, y_test), s=90, marker="s", color=CLASSES[1], zorder=3,
    label="logistic regression",
)  # fmt: skip
ax.set_xscale("log")
ax.set_xticks(budgets, [f"{budget} x" for budget in budgets])
ax.set(xlabel="multiply-adds, as a multiple of a linear model", ylabel="test accuracy, %")
ax.set_title("Most of a kernel machine at a part of its price", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="lower right", labelcolor=INK)
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# **Where it fails.** Multiply-adds are not microseconds: a tree jumps through memory, a linear
# model does not. ``max_us_per_row`` counts microseconds of this machine instead, and then the
# result may differ from machine to machine.
