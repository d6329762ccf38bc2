"""
Watching a fit
==============

**Question.** How many epochs does a tree need, and how do scores change when its splits harden?

``LDKLClassifier`` starts with soft splits, where a sample follows both branches with different
weights, and hardens them toward the end: a prediction follows one path. ``history_`` has the
objective of every epoch, and the training accuracy with soft and with hard splits while splits are
soft.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from nearlinear import LDKLClassifier

X, y = make_moons(3000, noise=0.3, random_state=1)
X = StandardScaler().fit_transform(X)
model = LDKLClassifier(5, max_iter=40, random_state=0).fit(X[:1500], y[:1500])

epochs = [line.step for line in model.history_]
figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 4.8), sharex=True, layout="constrained")
top.plot(epochs, [line.objective for line in model.history_], color="black")
top.set(ylabel="objective")
for name, style in (("hard splits", "-"), ("soft splits", "--")):
    bottom.plot(epochs, [line.figures.get(name) for line in model.history_], style, label=name)
bottom.set(xlabel="epoch", ylabel="training accuracy")
bottom.legend(loc="lower right")
plt.show()

# %%
# The curves end where all splits are hard; from there on the weights adapt to the hard splits.
#
# **Where it fails.** These are scores on training samples: they show how far the soft tree is from
# the tree of prediction, not overfitting. To choose ``max_iter``, use cross-validation.

soft = [line.figures for line in model.history_ if line.figures][-1]
print("accuracy on new samples:", round(model.score(X[1500:], y[1500:]), 3))
print("loss of accuracy by hardening:", round(soft["soft splits"] - soft["hard splits"], 3))
