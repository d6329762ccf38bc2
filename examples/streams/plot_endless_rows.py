"""
More rows than memory holds
===========================

**Question.** A fit reads its rows in blocks. Does the memory it takes stay the same as rows grow,
and are more rows worth reading?

A source is any object that yields the same blocks of rows whenever it is iterated; ``block_rows``
is how many rows a fit holds at a time. The source below yields copies of the digits, each moved by
up to a pixel and with its own noise. ``fit`` takes such a source, or files, in place of arrays.
"""

import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from nearlinear import LLCSAPLClassifier
from nearlinear.displays.palette import CLASSES

images, labels = load_digits(return_X_y=True)
images = (images / 16.0).astype(np.float32)
parts = train_test_split(images, labels, train_size=500, random_state=0)
train, X_test, train_labels, y_test = parts


class NoisyDigits:
    """Blocks of 1,000 copies of training images."""

    block_rows = 1000

    def __init__(self, n_rows):
        self.n_rows = n_rows
        padded = np.pad(train.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
        moved = [padded[:, i : i + 8, j : j + 8] for i in range(3) for j in range(3)]
        self.moved = np.stack(moved).reshape(9, -1, 64)

    def __iter__(self):
        rng = np.random.default_rng(0)
        for _ in range(self.n_rows // self.block_rows):
            chosen = rng.integers(len(train), size=self.block_rows)
            X = self.moved[rng.integers(9, size=self.block_rows), chosen]
            yield X + rng.normal(0.0, 0.1, X.shape).astype(np.float32), train_labels[chosen]


model = LLCSAPLClassifier(10, max_iter=2, random_state=0)
model.fit(NoisyDigits(2000))  # loads all code, which is not counted below
sizes, accuracies, peaks, wholes = [2000, 4000, 8000, 16000], [], [], []
for n_rows in sizes:
    source = NoisyDigits(n_rows)
    tracemalloc.start()
    model.fit(source)
    peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
    wholes.append(n_rows * 64 * 4 / 1e6)
    accuracies.append(100.0 * model.score(X_test, y_test))

# %%
# Above, what new rows bring; below, what they cost.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.8, 5.4), sharex=True, layout="constrained")
top.plot(sizes, accuracies, color=CLASSES[0], marker="o", ms=9, linewidth=2.5)
top.set_ylabel("test accuracy, %")
bottom.plot(
    sizes, wholes, color=CLASSES[1], marker="^", ms=9, linewidth=2.5, linestyle="--",
    label="all rows as one array",
)  # fmt: skip
bottom.plot(
    sizes, peaks, color=CLASSES[0], marker="o", ms=9, linewidth=2.5, label="peak of the fit"
)
bottom.set(xlabel="rows", ylabel="memory, MB", ylim=(0, None))
bottom.set_xticks(sizes, [f"{size:,}" for size in sizes])
bottom.legend(frameon=False)
for ax in (top, bottom):
    ax.grid(axis="y", alpha=0.3)
top.set_title("Memory ends at a few blocks, learning goes on", loc="left", fontweight="bold")
plt.show()

# %%
# **Where it fails.** A source of one part keeps its order but for that within a block: a file that
# is sorted by class must be shuffled first. Anchors and scales come from a sample of the rows.
