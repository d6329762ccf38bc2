"""
One byte a weight
=================

**Question.** What does it cost to store weights in one byte instead of four?

``to_c(model, folder, "int8")`` writes whole numbers of one byte with a scale for each row of
weights. Scores move a little. A label changes only where the two best scores were about equal
before.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from nearlinear import LDKLClassifier, LLCSAPLClassifier, LLSVMClassifier, to_c
from nearlinear.displays.palette import CLASSES

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, train_size=900, random_state=0)
models = {
    "LDKL, a tree": LDKLClassifier(3, max_iter=15, random_state=0),
    "LLSVM, 40 anchors": LLSVMClassifier(40, tol=0.01, random_state=0),
    "LLC-SAPL, 20 anchors": LLCSAPLClassifier(20, max_iter=8, random_state=0),
}

# %%
# The same ten classes in both precisions, on rows that the models have not seen.

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
with tempfile.TemporaryDirectory() as folder:
    for k, (name, model) in enumerate(models.items()):
        model.fit(X_train, y_train)
        for half, (dtype, color) in enumerate(zip(("float32", "int8"), CLASSES)):
            path = Path(folder) / f"{k}{dtype}"
            written = to_c(model, path, dtype, sample=X_test, sample_labels=y_test)
            size = written.table_bytes / 1024
            place = k + 0.38 * (half - 0.5)
            ax.barh(place, size, height=0.36, color=color, label=dtype if k == 0 else None)
            told = f"{size:.0f} kB, {100 * written.accuracy_after:.1f} % right"
            ax.text(size + 1.5, place, told, va="center")
        print(f"{name}: {100 * written.agreement:.1f} % of labels stay")
ax.set_yticks(range(len(models)), models)
ax.invert_yaxis()
ax.set_xlim(0, 160)
ax.set_xlabel("tables of the C source, kB")
ax.set_title("A quarter of the bytes, the same digits", loc="left", fontweight="bold")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
plt.show()

# %%
# **Where it fails.** Sums are float in both, so a chip without a floating-point unit gains flash
# and no time. Forests hold thresholds, which stay as they are.
