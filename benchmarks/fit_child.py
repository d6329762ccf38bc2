"""One fit in a process of its own, so that its memory can be told from everything else's.

``python -m benchmarks.fit_child mnist`` prints seconds and peak memory as JSON.
"""

import json
import sys
import time

from benchmarks.shapes import drawn, drawn_sparse, split_of
from reproduce.llc_sapl.methods import parameters_for
from reproduce.memory import forget_peak, peak_bytes, present_bytes
from reproduce.written_out import llc_sapl_classifier


def dense_case(name):
    split, _ = split_of(name)
    model = llc_sapl_classifier(**parameters_for("llc_sapl", name), n_jobs=2, random_state=0)
    return model, split.X_train, split.y_train, split.X_test, split.y_test


def sparse_case():
    X, y = drawn_sparse()
    model = llc_sapl_classifier(n_anchors=100, n_neighbors=8, max_iter=5, random_state=0)
    return model, X, y, X, y


def main(name):
    model, X_train, y_train, X_test, y_test = (
        sparse_case() if name == "sparse" else dense_case(name)
    )
    # Compiled passes are loaded before the clock and the memory are read.
    small = drawn(300, 4, len(set(y_train)))
    llc_sapl_classifier(n_anchors=10, max_iter=2, random_state=0).fit(*small).predict(small[0])
    print(json.dumps(measured_fit(model, X_train, y_train, X_test, y_test)))


def measured_fit(model, X_train, y_train, X_test, y_test):
    """Seconds, accuracy and memory of one fit and a prediction, in bytes."""
    before, peak_of_reading = present_bytes(), peak_bytes()
    forget_peak()
    start = time.perf_counter()
    model.fit(X_train, y_train)
    seconds = time.perf_counter() - start
    accuracy = 100 * model.score(X_test, y_test)
    return {
        "seconds": seconds,
        "accuracy": accuracy,
        "beyond_data": peak_bytes() - before,
        "peak": max(peak_bytes(), peak_of_reading),
        "n_rows": len(y_train),
    }


if __name__ == "__main__":
    main(sys.argv[1])
