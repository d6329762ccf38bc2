"""
Learning on while the world turns
=================================

**Question.** Rows come day by day, and what decides slowly changes. How far does a model fall
behind that was fitted once, and one that learns on?

The border between the classes turns by six degrees a day. Every day we first score the new rows,
then let the model see them: ``partial_fit`` of ``LLCSAPLClassifier``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from nearlinear import LLCSAPLClassifier
from nearlinear.displays.palette import CLASSES

rng = np.random.default_rng(0)


def rows_of(day, n_rows=200):
    """A wavy border that turns."""
    X = rng.uniform(-2.0, 2.0, (n_rows, 2))
    turn = np.deg2rad(6.0 * day)
    along, across = (X @ [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]).T
    return X, (across > 0.5 * np.sin(2.0 * along)).astype(int)


model = LLCSAPLClassifier(12, random_state=0)
first = [rows_of(0) for _ in range(5)]
X, y = np.vstack([X for X, _ in first]), np.concatenate([y for _, y in first])
frozen = clone(model).fit(X, y)
learning = clone(model)
for _ in range(3):
    learning.partial_fit(X, y, classes=[0, 1])

days, scores = np.arange(30), []
for day in days:
    X, y = rows_of(day)
    scores.append([100.0 * frozen.score(X, y), 100.0 * learning.score(X, y)])
    learning.partial_fit(X, y)

# %%
# Points are days, lines are means of a week.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
names = ["fitted once", "partial_fit, day by day"]
for name, curve, color, marker in zip(names, np.transpose(scores), CLASSES[1::-1], "^o"):
    smooth = np.convolve(curve, np.ones(7) / 7, mode="valid")
    ax.scatter(days, curve, s=16, color=color, marker=marker, alpha=0.5)
    ax.plot(days[3:-3], smooth, color=color, linewidth=3, label=name)
ax.set(xlabel="day (the border turns by 6 degrees a day)", ylabel="accuracy of the day's rows, %")
ax.set_title("A model that learns on stays right", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="lower left")
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# **Where it fails.** Anchors stay near where the first rows were: if the rows themselves wander
# off, fit anew. A model that learns on also learns from wrong labels; keep an old one to compare
# with.
