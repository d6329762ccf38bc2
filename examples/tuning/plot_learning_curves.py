"""
Watching a fit, and stopping it early
=====================================

**Question.** How many epochs does a tree need, and what happens as its splits harden?

``LDKLClassifier`` learns with soft splits, where a row goes both ways a little, and hardens them
toward the end: a prediction follows one path. ``history_`` has every epoch, and ``HistoryDisplay``
draws it. With ``early_stopping=True`` some rows are held out, and the best epoch on them is kept.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLClassifier
from nearlinear.displays import HistoryDisplay

X, y = make_moons(3000, noise=0.3, random_state=1)
X = StandardScaler().fit_transform(X)
model = LDKLClassifier(
    5, max_iter=40, early_stopping=True, validation_fraction=0.3, n_iter_no_change=40,
    random_state=0,
).fit(X[:1500], y[:1500])  # fmt: skip
HistoryDisplay.from_estimator(model, title="Most is learned in the first ten epochs")
plt.show()

# %%
# Both curves are flat after about ten epochs. The curve of soft splits ends where only hard ones
# are left; from there on the weights adapt to them.
#
# **Where it fails.** The held-out curve is noisy, and the best of forty noisy numbers is lucky. On
# small tables the rows that are held out are missed more than the epochs; that is why
# ``early_stopping`` is off by default, and jitter and averages guard against overfitting.

print("accuracy on new rows:", round(model.score(X[1500:], y[1500:]), 3))
print("what hard splits cost at the end of the soft epochs:", round(model.hardening_gap_, 3))
