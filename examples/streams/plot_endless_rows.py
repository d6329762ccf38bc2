"""
More rows than memory holds
===========================

**Question.** A fit reads its rows in blocks. Does the memory it takes stay the same as rows grow,
and are more rows worth reading?

``streams.deformed_images`` makes as many copies of the digits as we like, each turned, sheared and
bent a little differently, a block at a time. ``fit`` takes such a source, or files, in place of
arrays.
"""

import tracemalloc

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from nearlinear import LLCSAPLClassifier, streams
from nearlinear.displays.palette import CLASSES

images, labels = load_digits(return_X_y=True)
images = (images / 16.0).astype(np.float32)
parts = train_test_split(images, labels, train_size=500, random_state=0)
train, X_test, train_labels, y_test = parts


def digits(n_rows):
    """So many copies of the training images, a thousand at a time."""
    squares = train.reshape(-1, 8, 8)
    return streams.deformed_images(squares, train_labels, n_rows, block_rows=1000, seed=0)


model = LLCSAPLClassifier(10, max_iter=2, random_state=0)
model.fit(digits(2000))  # loads all code, which shall not be counted below
sizes, accuracies, peaks, wholes = [2000, 4000, 8000, 16000], [], [], []
for n_rows in sizes:
    source = digits(n_rows)
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
