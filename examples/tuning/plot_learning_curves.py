"""
Watching a fit, and stopping it early
=====================================

**Question.** How many epochs does a tree need, and how do scores change when its splits harden?

``LDKLClassifier`` starts with soft splits, where a sample follows both branches with different
weights, and hardens them toward the end: a prediction follows one path. ``history_`` has the
objective and the scores of every epoch. ``early_stopping=True`` scores each epoch on a validation
set and returns the model of the best one.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLClassifier

X, y = make_moons(3000, noise=0.3, random_state=1)
X = StandardScaler().fit_transform(X)
model = LDKLClassifier(
    5, max_iter=40, early_stopping=True, validation_fraction=0.3, n_iter_no_change=40,
    random_state=0,
).fit(X[:1500], y[:1500])  # fmt: skip

epochs = [line.step for line in model.history_]
figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 4.8), sharex=True, layout="constrained")
top.plot(epochs, [line.objective for line in model.history_], color="black")
top.set(ylabel="objective", title="Ten epochs are enough for most of the accuracy")
bottom.plot(epochs, [line.score for line in model.history_], label="validation set")
soft = [line.figures.get("soft splits") for line in model.history_]
bottom.plot(epochs, soft, "--", label="validation set, soft splits")
bottom.set(xlabel="epoch", ylabel="accuracy")
bottom.legend(loc="lower right")
plt.show()

# %%
# Both curves are flat after about ten epochs. The curve of soft splits ends where all splits are
# hard; from there on the weights adapt to the hard splits.
#
# **Where it fails.** The validation score is noisy, and the maximum over forty epochs is biased
# upward. On small tables the validation set is a larger loss than a few unnecessary epochs;
# therefore ``early_stopping`` is off by default, and jitter and averaging reduce overfitting.

print("accuracy on new samples:", round(model.score(X[1500:], y[1500:]), 3))
print("loss of accuracy by hardening:", round(model.hardening_gap_, 3))
