"""
A support vector machine, row by row
====================================

**Question.** Can a kernel machine learn in one pass, and how much of it is left to do at the end?

``LaSVMClassifier`` takes a row, asks whether it matters, and drops others that no longer do. After
each portion we ask how good it is; a machine that has seen all rows at once is the dashed line.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from nearlinear import LaSVMClassifier
from nearlinear.displays.palette import CLASSES, QUIET

X, y = make_moons(6000, noise=0.25, random_state=0)
X_train, y_train, X_test, y_test = X[:2000], y[:2000], X[2000:], y[2000:]
model = LaSVMClassifier(random_state=0)
seen, accuracies, supports = [], [], []
for start in range(0, 2000, 50):
    rows = slice(start, start + 50)
    model.partial_fit(X_train[rows], y_train[rows], classes=[0, 1])
    seen.append(start + 50)
    accuracies.append(100.0 * model.score(X_test, y_test))
    supports.append(model.cost_.n_bytes / 1024)
batch = 100.0 * SVC().fit(X_train, y_train).score(X_test, y_test)

# %%
# Accuracy settles early; the machine goes on growing with the rows that no border can separate.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.8, 5.2), sharex=True, layout="constrained")
top.axhline(batch, color=QUIET, linestyle="--", linewidth=2, label="SVC, all rows at once")
top.plot(seen, accuracies, color=CLASSES[0], linewidth=2.5, label="LaSVM, row by row")
top.set_ylabel("test accuracy, %")
top.legend(frameon=False, loc="lower right")
bottom.plot(seen, supports, color=CLASSES[1], linewidth=2.5)
bottom.set(xlabel="rows seen", ylabel="size of the machine, kB", ylim=(0, None))
for ax in (top, bottom):
    ax.grid(axis="y", alpha=0.3)
top.set_title("As good as the batch after a few hundred rows", loc="left", fontweight="bold")
plt.show()

# %%
# **Where it fails.** Support rows grow with the stream where classes overlap, and with them the
# price of a prediction. For endless streams take a model of fixed size, such as
# ``LLCSAPLClassifier``.
