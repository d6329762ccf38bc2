"""
ONNX: the same answers, and how fast
====================================

**Question.** The service runs onnxruntime. Are the answers the same, and what do they cost?

``to_onnx`` writes the model, and all steps before it, with standard operators. We compare scores
and times with ``decision_function``, for batches of growing size.
"""

from timeit import repeat

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearlinear import LLSVMClassifier, to_onnx
from nearlinear.displays.palette import CLASSES

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
model = make_pipeline(StandardScaler(), LLSVMClassifier(40, tol=0.01, random_state=0)).fit(X, y)

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
graph = to_onnx(model).SerializeToString()
session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
(labels,) = session.run(["label"], {"X": X})
(scores,) = session.run(["scores"], {"X": X})
off = np.abs(scores - model.decision_function(X)).max() / np.abs(scores).max()
print(f"{len(graph) / 1024:.0f} kB; scores are off by at most {off:.0e} of the largest")
print("labels that differ:", int((labels != model.predict(X)).sum()), "of", len(X))

# %%
# Microseconds a row, the best of seven calls, one thread.

ways = {
    "predict": model.decision_function,
    "onnxruntime": lambda rows: session.run(["scores"], {"X": rows}),
}
sizes = [1, 4, 16, 64, 256, 1024]
figure, ax = plt.subplots(figsize=(6.8, 4.6), layout="constrained")
for (name, answer), color, marker in zip(ways.items(), CLASSES, "o^"):
    taken = []
    for size in sizes:
        seconds = min(repeat(lambda: answer(X[:size]), number=3, repeat=7)) / 3  # noqa: B023
        taken.append(1e6 * seconds / size)
    ax.plot(sizes, taken, color=color, marker=marker, ms=9, linewidth=2.5, label=name)
ax.set_xscale("log", base=2)
ax.set_yscale("log")
ax.set_xticks(sizes, sizes)
ax.set(xlabel="rows in a call (log scale)", ylabel="microseconds a row (log scale)")
ax.set_title("The same scores; calls, not rows, cost time", loc="left", fontweight="bold")
ax.legend(frameon=False)
ax.grid(alpha=0.3)
plt.show()

# %%
# **Where it fails.** A row within rounding of a split, or as far from one anchor as from the next,
# may take the other side. A graph refuses no row: a missing value makes the scores NaN. Dates have
# no place in ONNX.
