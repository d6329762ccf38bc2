"""
One row at a time
=================

**Question.** A service gets one row, answers, and waits for the next. How long does an answer take?

``predict`` checks its input and prepares for many rows, which takes tens of microseconds whatever
the model is. ``compile()`` makes a scorer for single rows: the same numbers, without the ceremony.
"""

from time import perf_counter_ns

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from nearlinear import LDKLClassifier, LocalForestClassifier
from nearlinear.displays.palette import CLASSES, QUIET

X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
tree = LDKLClassifier(4, max_iter=15, random_state=0).fit(X, y)
forest = LocalForestClassifier(n_trees=100, max_leaves=8, pairs=0, random_state=0).fit(X, y)
linear = LogisticRegression().fit(X, y)
boosted = HistGradientBoostingClassifier(max_iter=100, max_leaf_nodes=8, random_state=0).fit(X, y)


def microseconds(answer, n_calls=200):
    """The middle one of so many calls."""
    times = []
    for k in range(n_calls):
        row = X[k % len(X)]
        start = perf_counter_ns()
        answer(row)
        times.append(perf_counter_ns() - start)
    return np.median(times) / 1e3


one_tree, one_forest = tree.compile(), forest.compile()
assert all(one_tree.predict(row) == label for row, label in zip(X[:50], tree.predict(X[:50])))
ways = {
    "scikit-learn: boosted trees, predict": lambda row: boosted.predict(row[None]),
    "forest of 100 trees, predict": lambda row: forest.predict(row[None]),
    "scikit-learn: logistic regression, predict": lambda row: linear.predict(row[None]),
    "oblique tree, predict": lambda row: tree.predict(row[None]),
    "forest of 100 trees, compile()": one_forest.predict,
    "oblique tree, compile()": one_tree.predict,
}

# %%
# Times are those of the machine that has made this page; the distances between the bars are what
# to look at.

taken = [microseconds(answer) for answer in ways.values()]
figure, ax = plt.subplots(figsize=(7.4, 4.2), layout="constrained")
colors = [CLASSES[0] if "compile" in name else QUIET for name in ways]
bars = ax.barh(list(ways), taken, color=colors)
ax.bar_label(bars, [f"{us:.3g} µs" for us in taken], padding=4)
ax.set_xscale("log")
ax.margins(x=0.15)
ax.invert_yaxis()
ax.set_xlabel("one answer, microseconds (log scale, median of 200)")
ax.set_title("A call costs more than a model", loc="left", fontweight="bold")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# **Where it fails.** Rows that come in batches are quicker in a batch. The first call of a new
# process may have to compile for a second; ``nearlinear warmup`` does that beforehand.
