"""
Reading a front, and picking another point of it
================================================

**Question.** The most accurate model is too large for the device. What does the next smaller one
cost in accuracy?

A search keeps all models of its front. ``select`` gives another one of them without another
search: the best inside a number of bytes, of microseconds or of multiply-adds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from nearlinear import NearLinearClassifier
from nearlinear.displays.palette import CLASSES, INK

X, y = make_classification(
    2600, n_features=10, n_informative=6, n_redundant=0, n_clusters_per_class=4, class_sep=1.1,
    random_state=2,
)  # fmt: skip
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=900, random_state=0)
search = NearLinearClassifier(
    families=["decision tree", "hinge units"], max_times_linear=500, encoder=None, random_state=0
).fit(X_train, y_train)  # fmt: skip

# %%
# We ask for the best model below ever smaller numbers of bytes, until there is none.

limits = [2.0**k for k in range(18, 5, -1)]
sizes, accuracies = [], []
for limit in limits:
    try:
        small = search.select(max_bytes=limit)
    except ValueError:  # no fitted model is as small as that
        break
    sizes.append(small.cost_.n_bytes)
    accuracies.append(100.0 * small.score(X_test, y_test))

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
ax.plot(sizes, accuracies, color=CLASSES[0], drawstyle="steps-pre", linewidth=2)
ax.scatter(sizes, accuracies, s=70, color=CLASSES[0], zorder=3, label="select(max_bytes=...)")
ax.set_xscale("log", base=2)
ax.set(xlabel="bytes that a prediction reads (log scale)", ylabel="test accuracy, %")
ax.set_title("Each point is one more select, and no more search", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="lower right", labelcolor=INK)
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# **Where it fails.** The accuracies above are those of test rows, which the search has not seen, so
# a smaller model may happen to be better. A model from a file has its chosen point alone: keep the
# search itself if you want to select later. And the bytes are those behind the encoder.

print({int(size): round(float(accuracy), 1) for size, accuracy in zip(sizes, accuracies)})
print("fewest bytes of all:", int(np.min(sizes)))
