"""
Three lines and a gate
======================

**Question.** Localized multiple kernel learning (LMKL) blends a few linear machines by a learned
gate. Which of them answers where?

``GateDisplay`` has a panel for each component: the shade is its gate, the dashed line the boundary
of the whole model, and the thin lines are what the component would answer by itself.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from nearlinear import LMKLClassifier
from nearlinear.displays import GateDisplay

X, y = make_moons(300, noise=0.15, random_state=0)
model = LMKLClassifier(n_copies=3, random_state=0).fit(X, y)
GateDisplay.from_estimator(model, X, y, title="Three straight lines make one bent boundary")
plt.show()

# %%
# Where a panel is dark, its component has the say, and there the dashed boundary follows its own
# line. No support vectors are kept: three linear models and a gate are all that prediction needs.
#
# **Where it fails.** The gate is learned by descent from a random start and may end in a local
# optimum: ``n_init`` tries several. Components that never answer may be left over.

print("cost:", model.cost_)
