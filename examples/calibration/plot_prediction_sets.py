"""
Sets of answers that hold the truth
===================================

**Question.** Can a classifier answer "one of these two" where it is not sure, and be right in 95 %
of all cases?

Split conformal prediction does it with any probabilities and a few held-out rows: a class is in
the set of a row if its probability is at least a threshold, which is the 5 % quantile of the
probabilities of the true classes of held-out rows. The promise holds whatever the model is; a
better model has smaller sets.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from nearlinear import LLSVMClassifier
from nearlinear.displays.palette import CLASSES

X, y = make_classification(
    5000, n_features=6, n_informative=6, n_redundant=0, n_classes=4, n_clusters_per_class=3,
    class_sep=1.2, random_state=0,
)  # fmt: skip
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=2000, random_state=0)
X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, train_size=400, random_state=0)


def sets_of(model, sure=0.95):
    """For each test row, which classes are in its set."""
    true = model.predict_proba(X_held)[np.arange(len(y_held)), y_held]
    rank = int(np.floor((len(true) + 1) * (1.0 - sure)))
    return model.predict_proba(X_test) >= np.sort(true)[rank - 1]


settings = {"loss": "log_loss", "random_state": 0}
models = {
    "local linear models": LLSVMClassifier(60, **settings),
    "a linear model": LogisticRegression(),
}

# %%
# How many classes the sets hold, and how often the truth is among them.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
for k, ((name, model), color) in enumerate(zip(models.items(), CLASSES)):
    sets = sets_of(model.fit(X_train, y_train))
    covered = 100.0 * sets[np.arange(len(y_test)), y_test].mean()
    shares = 100.0 * np.bincount(sets.sum(axis=1), minlength=5) / len(sets)
    label = f"{name}: {sets.sum(axis=1).mean():.2f} classes a row, {covered:.1f} % hold the truth"
    ax.bar(np.arange(5) + 0.4 * (k - 0.5), shares, width=0.4, color=color, label=label)
ax.set_xticks(range(5), ["none", "1", "2", "3", "4 (all)"])
ax.set(xlabel="classes in the set of a row", ylabel="test rows, %", ylim=(0, 85))
ax.set_title("The same promise, smaller sets", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="upper right")
plt.show()

# %%
# **Where it fails.** The promise is about all rows together: a hard class may be missed far more
# often than an easy one. It needs held-out rows that are drawn as the later ones are. An empty set
# means that no class is likely enough: treat it as "I do not know".
