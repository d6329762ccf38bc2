"""One fit of MLLKM in a process of its own, so that its memory can be told from everything else's.

``python -m benchmarks.mllkm_fit_child ijcnn1 --jobs 2`` prints seconds and memory as JSON.
"""

import argparse
import json
import time

from benchmarks.kernel_fit_child import measured
from benchmarks.shapes import drawn
from nearlinear import MLLKMClassifier
from reproduce import datasets
from reproduce.split import Split

# Training rows, test rows, features.
SHAPES = {
    "ionosphere": (246, 105, 34),
    "ijcnn1": (49990, 91701, 22),
    "covertype": (100_000, 100_000, 54),
}
SMOKE_ROWS = 150


def mllkm_split(name, smoke=False):
    """Two classes, standardized by the training part; seed 0 draws what has no split of its own."""
    n_train, n_test, n_features = SHAPES[name]
    if smoke:
        n_train = n_test = SMOKE_ROWS
    if not datasets.is_available(name):
        X, y = drawn(n_train + n_test, n_features, n_classes=2)
        return Split(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    in_whole = None if datasets.has_own_split(name) else n_train
    split = datasets.load(name, seed=0, scaling="standard", train_rows=in_whole)
    return split.limited(n_train, n_test)


def origin(name):
    """A word on the rows, if they are not the real ones."""
    return "" if datasets.is_available(name) else ", drawn rows of this shape"


def warm_up(n_jobs, dtype="float32"):
    """Compile what fits of few rows, of more and of a sample need."""
    for n_rows, selection_rows in ((300, None), (5000, 2500)):
        model = MLLKMClassifier(n_anchors=20, selection_rows=selection_rows, n_jobs=n_jobs)
        X, y = drawn(n_rows, 4, n_classes=2)
        model.fit(X.astype(dtype), y).predict(X.astype(dtype))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mllkm_fit_child")
    parser.add_argument("name", choices=SHAPES)
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    parser.add_argument("--smoke", action="store_true", help="a few rows")
    options = parser.parse_args(arguments)
    split = mllkm_split(options.name, options.smoke)
    warm_up(options.jobs)
    model = MLLKMClassifier(n_jobs=options.jobs, random_state=0)
    start = time.process_time()
    took = measured(lambda: model.fit(split.X_train, split.y_train))[1]
    took["cpu_seconds"] = time.process_time() - start
    took |= {
        "accuracy": 100 * model.score(split.X_test, split.y_test),
        "train_accuracy": 100 * model.score(split.X_train, split.y_train),
        "n_rows": len(split.y_train),
        "n_kernels": model.n_kernels_,
        "n_priced": model.n_priced_,
        "gap": model.duality_gap_ / model.objective_,
        "rounds": model.n_iter_,
    }
    print(json.dumps(took))


if __name__ == "__main__":
    main()
