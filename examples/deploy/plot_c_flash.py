"""
Which model fits into the flash of a small chip?
================================================

**Question.** A microcontroller has 32 kB for a model. What is the most accurate one that fits?

``to_c`` writes C99 without allocation and without dependencies, and tells how many bytes of flash
tables and code take, how much stack a call needs and how far scores are from those in Python. We
write a linear model, trees and anchors of several sizes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from nearlinear import LDKLClassifier, LLSVMClassifier, LocalForestClassifier, to_c
from nearlinear.displays.palette import CLASSES, INK, MARKERS, QUIET

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y > 4, random_state=0)
families = {
    "oblique trees": [LDKLClassifier(d, max_iter=20, random_state=0) for d in (0, 1, 3)],
    "anchors": [LLSVMClassifier(n, tol=0.01, random_state=0) for n in (4, 16, 48)],
    "forests": [
        LocalForestClassifier(
            n_trees=n, max_leaves=8, pairs=0, linear_root=False, leaf_model="constant",
            leaf_penalty=None, random_state=0,
        )
        for n in (5, 20, 60)
    ],
}  # fmt: skip

# %%
# Tables and code together, as a 32-bit processor stores them, against the accuracy of the C code
# on test rows.

figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
with tempfile.TemporaryDirectory() as folder:
    for (name, models), color, marker in zip(families.items(), CLASSES, MARKERS):
        kilobytes, accuracies = [], []
        for k, model in enumerate(models):
            model.fit(X_train, y_train)
            path = Path(folder) / f"{name} {k}"
            written = to_c(model, path, sample=X_test, sample_labels=y_test)
            kilobytes.append(written.flash_bytes / 1024)
            accuracies.append(100.0 * written.accuracy_after)
        ax.plot(kilobytes, accuracies, color=color, marker=marker, ms=9, linewidth=2.5, label=name)
        print(f"{name}: largest model off by {written.largest_difference:.1e} in scores,", end=" ")
        print(f"{written.ram_bytes} bytes of stack")
ax.axvline(32, color=QUIET, linestyle="--")
ax.text(30, ax.get_ylim()[0], "32 kB", color=INK, va="bottom", ha="right")
ax.set_xscale("log")
ax.set_xticks([1, 4, 16, 64], [1, 4, 16, 64])
ax.minorticks_off()
ax.set(xlabel="flash, kB (log scale)", ylabel="test accuracy of the C code, %")
ax.set_title("32 kB hold all that this task needs", loc="left", fontweight="bold")
ax.legend(frameon=False, loc="upper left")
ax.grid(axis="y", alpha=0.3)
plt.show()

# %%
# **Where it fails.** Bytes of code are an estimate for one processor; your compiler knows better.
# C refuses no row: a missing value makes the scores NaN. Dates have no place in C.
