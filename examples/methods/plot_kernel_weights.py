"""
Which kernels a machine has chosen
==================================

**Question.** Given Gaussian and polynomial kernels on every column and on all of them, which few
does a machine need?

``SimpleMKLClassifier`` learns a kernel machine and the weights of its kernels together; most
weights become exactly zero. ``KernelWeightsDisplay`` tells the others in words.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from nearlinear import SimpleMKLClassifier
from nearlinear.displays import KernelWeightsDisplay

data = load_wine(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(data.data.iloc[:, :8])
model = SimpleMKLClassifier("bank").fit(X, data.target == 1)
n_used = int((model.kernel_weights_ > 0).sum())
KernelWeightsDisplay.from_estimator(
    model, top=10, title=f"{n_used} of {len(model.kernels_)} kernels are used"
)
plt.show()

# %%
# Kernels on a single column say which columns matter by themselves; a kernel on all features says
# that they matter together.
#
# **Where it fails.** Among kernels that say the same, sparse weights pick one by a hair: another
# sample of rows may pick its neighbor. Support vectors are kept: this is the accurate, slow end of
# every comparison.
