"""
What a local map makes of a cloud
=================================

**Question.** The kernels of MLLKM look at rows through a map x ↦ h(x)(x − c) that fades with the
distance from an anchor c. What do the eight maps do to a cloud of points?

Some send far rows back to the middle smoothly, others put them exactly at zero: these are the maps
that can abstain.
"""

import matplotlib.pyplot as plt
import numpy as np

from nearlinear.displays import ConformalMapsDisplay

rng = np.random.default_rng(0)
x = rng.uniform(-3.0, 3.0, 700)
X = np.column_stack([x, np.sin(1.5 * x) + 0.35 * rng.standard_normal(700)])
y = (X[:, 1] > np.sin(1.5 * x)).astype(int)
display = ConformalMapsDisplay.from_data(X, y, anchor=(0.0, 0.0), bandwidth=3.0)
title = "Eight maps: alike near the anchor, different far away"
display.figure_.suptitle(title, fontweight="bold", fontsize=14)
plt.show()

# %%
# Above, one factor h for the whole row; below, one for each column. Around the anchor all maps are
# alike; they differ in what they do with rows that are far away.
#
# **Where it fails.** A map is no model: it takes several anchors, and a linear model at each, to
# make one.
