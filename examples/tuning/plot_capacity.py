"""
How much can the data bear?
===========================

**Question.** Without any settings, how does ``LDKLClassifier`` know how deep a tree to grow?

It finds out on rows that it holds out, beginning with a linear model: ``settings_tried_`` has what
it tried, ``setting_`` what it took. We give it ever more rows of the same problem.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from nearlinear import LDKLClassifier
from nearlinear.displays.palette import CLASSES, INK

rng = np.random.default_rng(0)


def make_rows(n_rows):
    X = rng.standard_normal((n_rows, 4))
    score = X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3]
    return X, score + 0.5 * rng.standard_normal(n_rows) > 0.0


X_test, y_test = make_rows(5000)
sizes, ours, lines, costs = [60, 150, 400, 1200], [], [], []
for n_rows in sizes:
    X, y = make_rows(n_rows)
    model = LDKLClassifier(n_trees=1, random_state=0).fit(X, y)
    ours.append(100.0 * model.score(X_test, y_test))
    lines.append(100.0 * LogisticRegression().fit(X, y).score(X_test, y_test))
    costs.append(f"{model.cost_.times_linear:.0f} x a line")

# %%
# Beside each point stands what a prediction costs, as a multiple of a linear model: how much was
# grown.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
ax.plot(
    sizes, lines, color=CLASSES[1], marker="^", ms=9, linewidth=2.5, linestyle="--",
    label="logistic regression",
)  # fmt: skip
ax.plot(sizes, ours, color=CLASSES[0], marker="o", ms=9, linewidth=2.5, label="LDKLClassifier()")
for size, accuracy, cost in zip(sizes, ours, costs):
    ax.annotate(cost, (size, accuracy), (-6, 10), textcoords="offset points", ha="center")
ax.set_xscale("log")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.margins(x=0.12, y=0.2)
ax.set(xlabel="training rows (log scale)", ylabel="test accuracy, %")
ax.set_title("More rows bear a better tree", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="lower right", labelcolor=INK)
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# **Where it fails.** On sixty rows, twelve that are held out decide: the choice is a matter of luck
# there. If you know that a line is enough, say so (``LDKLClassifier(0)``), and nothing is held out.

for verdict in model.settings_tried_[:4]:
    print(verdict)
