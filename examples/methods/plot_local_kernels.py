"""
A handful of local kernels
==========================

**Question.** How few local linear models can hold a winding boundary?

MLLKM puts a candidate on every training row, in six widths, and lets multiple kernel learning
choose. What is left is a handful of anchors with a linear model each; the rest of the rows is
forgotten.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from nearlinear import MLLKMClassifier
from nearlinear.displays import LocalKernelsDisplay

X, y = make_moons(600, noise=0.12, random_state=0)
names = np.array(["upper", "lower"])
model = MLLKMClassifier(profile="square", random_state=0).fit(X, names[y])
LocalKernelsDisplay.from_estimator(
    model, X, names[y], title=f"{model.n_kernels_} kernels of {model.n_priced_:,} candidates"
)
plt.show()

# %%
# Squares are the kernels, larger where they weigh more. Circled rows hold the boundary, but none of
# them is kept.
#
# **Where it fails.** All candidates are priced again and again: fits take seconds for thousands of
# rows and minutes for tens of thousands. In many columns a local kernel sees few rows.

print("relative duality gap over all candidates:", f"{model.duality_gap_ / model.objective_:.1e}")
