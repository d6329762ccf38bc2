"""
A forest that is there already
==============================

**Question.** A random forest is in service. Can it answer single rows faster, travel, and learn
on, without being grown anew?

``from_forest`` reads forests of scikit-learn, LightGBM, XGBoost and CatBoost and gives the same
labels and probabilities. ``refit`` then moves the values in its leaves, all of them together, with
the trees as they are: here on rows that came later.
"""

from timeit import repeat

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from nearlinear import from_forest
from nearlinear.displays.palette import CLASSES, QUIET

X, y = make_classification(
    9000, n_features=12, n_informative=8, n_clusters_per_class=4, flip_y=0.05, random_state=0
)
first, later, test = slice(0, 1500), slice(1500, 4500), slice(4500, None)
theirs = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X[first], y[first])
ours = from_forest(theirs)
print("largest difference of a probability:", abs(
    ours.predict_proba(X[test]) - theirs.predict_proba(X[test])).max())  # fmt: skip
better = from_forest(theirs).set_params(random_state=0).refit(X[later], y[later])
models = {"as grown, scikit-learn": theirs, "the same in nearlinear": ours,
          "leaves refitted to later rows": better}  # fmt: skip

# %%
# Loss on test rows at the left; at the right the time that one single row takes, in scikit-learn by
# ``predict``, in nearlinear by ``compile()``.


def one_row(answer, n_calls=100):
    """Microseconds of a call, the best of several rounds."""
    seconds = min(repeat(lambda: answer(X[0]), number=n_calls, repeat=5))
    return 1e6 * seconds / n_calls


losses = [log_loss(y[test], model.predict_proba(X[test])) for model in models.values()]
times = [one_row(lambda row: theirs.predict(row[None]), 5)]
times += [one_row(model.compile().predict) for model in (ours, better)]
figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
colors = [QUIET, CLASSES[0], CLASSES[1]]
for ax, values, name in zip(
    axes, (losses, times), ("test log loss", "one row, microseconds (log scale)")
):
    bars = ax.barh(list(models), values, color=colors)
    ax.bar_label(bars, [f"{value:.3g}" for value in values], padding=4)
    ax.set_xlabel(name)
    ax.margins(x=0.15)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
axes[1].set_xscale("log")
figure.suptitle("The same forest, quick for single rows, wiser by later ones", fontweight="bold")
plt.show()

# %%
# **Where it fails.** ``refit`` cannot add a split: what the trees do not tell apart, no leaf can.
# It leaves the forest alone where a fifth of the new rows, held out, gain nothing. Of this forest,
# large batches are answered more quickly by scikit-learn itself.

print("accuracies:", {name: round(float(np.mean(model.predict(X[test]) == y[test])), 3)
                      for name, model in models.items()})  # fmt: skip
