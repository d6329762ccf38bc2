"""
Which kernel answers where
==========================

**Question.** One half of a problem is linear, the other is not. Can a machine use a linear kernel
here and a Gaussian there?

LMKL with two different kernels learns it: the gate opens the linear one at the left, where a line
is enough, and the Gaussian one at the right, where it is not.
"""

import matplotlib.pyplot as plt
import numpy as np

from nearlinear import LMKLClassifier
from nearlinear.displays import GateDisplay

rng = np.random.default_rng(0)
X = rng.uniform((-3.0, -1.5), (3.0, 1.5), (400, 2))
border = np.where(X[:, 0] < 0.0, 0.3 * X[:, 0], np.sin(3.0 * X[:, 0]))
y = np.where(X[:, 1] > border, "above", "below")
model = LMKLClassifier(["linear", "gaussian"], n_copies=1, C=10.0, random_state=0).fit(X, y)
GateDisplay.from_estimator(model, X, y, title="A line at the left, a Gaussian kernel at the right")
plt.show()

# %%
# **Where it fails.** A Gaussian kernel could do the left half as well, and then nothing forces the
# gate to be tidy: what it tells is one good division of labor, not the only one.

print("accuracy on the same rows:", model.score(X, y))
