"""One fit in a process of its own, so that its memory can be told from everything else's.

``python -m benchmarks.fit_child mnist`` prints seconds and peak memory as JSON.
"""

import json
import resource
import sys
import time
from pathlib import Path

from benchmarks.shapes import drawn, drawn_sparse, split_of
from nearlinear import LLCSAPLClassifier
from reproduce.llc_sapl.methods import parameters_for


def peak_bytes():
    """The most memory this process has held so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def present_bytes():
    """What it holds now, where the system tells; else the peak, which hides part of a fit's use."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return peak_bytes()
    return int(statm.read_text().split()[1]) * resource.getpagesize()


def dense_case(name):
    split, _ = split_of(name)
    model = LLCSAPLClassifier(**parameters_for("llc_sapl", name), n_jobs=2, random_state=0)
    return model, split.X_train, split.y_train, split.X_test, split.y_test


def sparse_case():
    X, y = drawn_sparse()
    model = LLCSAPLClassifier(n_anchors=100, n_neighbors=8, max_iter=5, random_state=0)
    return model, X, y, X, y


def main(name):
    model, X_train, y_train, X_test, y_test = (
        sparse_case() if name == "sparse" else dense_case(name)
    )
    # Compiled passes are loaded before the clock and the memory are read.
    small = drawn(300, 4, len(set(y_train)))
    LLCSAPLClassifier(n_anchors=10, max_iter=2, random_state=0).fit(*small).predict(small[0])
    before = present_bytes()
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    accuracy = 100 * model.score(X_test, y_test)
    measured = {"seconds": seconds, "accuracy": accuracy}
    print(json.dumps(measured | {"beyond_data": peak_bytes() - before, "peak": peak_bytes()}))


if __name__ == "__main__":
    main(sys.argv[1])
