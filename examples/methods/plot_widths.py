"""
A width of its own for each column
==================================

**Question.** Only two of eight columns matter. Does a kernel machine find out which?

``ProductMKLClassifier`` learns k(x, z) = Π exp(−β_m (x_m − z_m)²): one width for each column. A
column with β = 0 is not looked at. ``SVC`` has one width for all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

from nearlinear import ProductMKLClassifier
from nearlinear.displays.palette import CLASSES, QUIET

rng = np.random.default_rng(0)
X = rng.standard_normal((2300, 8))
y = np.sin(2.0 * X[:, 0]) > 0.7 * X[:, 1]
X_train, y_train, X_test, y_test = X[:300], y[:300], X[300:], y[300:]
model = ProductMKLClassifier(C=10.0).fit(X_train, y_train)
plain = SVC(C=10.0).fit(X_train, y_train)
ours, theirs = (100.0 * one.score(X_test, y_test) for one in (model, plain))

# %%
# Bars are the exponents; the dashed line is the one that ``SVC`` uses for all columns.

weights = np.ravel(model.kernel_weights_)
figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
colors = [CLASSES[0] if column < 2 else CLASSES[1] for column in range(8)]
ax.bar(range(8), weights, color=colors)
ax.axhline(1.0 / (8 * X_train.var()), color=QUIET, linestyle="--", linewidth=2, label="SVC")
ax.set_xticks(range(8), ["bends", "linear", *[f"noise {k}" for k in range(1, 7)]], rotation=20)
ax.set(ylabel="exponent β of a column", xlabel="column")
ax.set_title("The machine looks away from noise", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="upper right")
ax.text(0.98, 0.7, f"test rows right: {ours:.1f} %\nSVC: {theirs:.1f} %", ha="right",
        transform=ax.transAxes)  # fmt: skip
plt.show()

# %%
# **Where it fails.** The problem in β is not convex, so there is no certificate for it. Every step
# solves a machine anew: keep it to some thousand rows and some hundred columns.
