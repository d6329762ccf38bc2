"""One fit on a9a in a process of its own, so that its memory can be told from everything else's.

``python -m benchmarks.localized_fit_child clmkl --rows 2000 --solver mwu`` prints seconds and
memory as JSON.
"""

import argparse
import contextlib
import ctypes
import json
import time
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone

import nearlinear
from benchmarks.kernel_fit_child import measured
from benchmarks.kernel_sets import kernel_rows
from benchmarks.shapes import drawn
from nearlinear import (
    ConvexLMKLClassifier,
    LDMKLClassifier,
    LMKLClassifier,
    SAMKLClassifier,
    SwMKLClassifier,
)
from reproduce import datasets
from reproduce.split import Split, divide
from reproduce.unified_lkl.methods import three_kernels

# Training rows, test rows, features.
SHAPES = {
    "breast_cancer": (512, 171, 9),
    "diabetes": (576, 192, 8),
    "german_numeric": (750, 250, 24),
    "liver_disorders": (259, 86, 6),
}
SMOKE_ROWS = 100
A9A_ROWS = 24421  # three quarters
MAKERS = {
    "lmkl": LMKLClassifier,
    "clmkl": ConvexLMKLClassifier,
    "swmkl": SwMKLClassifier,
    "ldmkl": LDMKLClassifier,
    "samkl": SAMKLClassifier,
}
TITLES = {
    "lmkl": "LMKL",
    "clmkl": "C-LMKL",
    "swmkl": "SwMKL",
    "ldmkl": "LD-MKL",
    "samkl": "SAMKL",
    "affine_lmkl": "LMKL of affine copies",
}


def small_split(name, smoke=False):
    """A set of the paper in double precision, standardized; seed 0 draws the training part."""
    n_train, n_test, n_features = SHAPES[name]
    if datasets.is_available(name):
        split = datasets.load(name, seed=0, train_rows=n_train)
    else:
        X, y = drawn(n_train + n_test, n_features, n_classes=2)
        split = Split(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    return (split.limited(SMOKE_ROWS, SMOKE_ROWS) if smoke else split).cast("float64")


def a9a_split(n_rows=None):
    """So many rows of the training part of a9a (None: all of it) and the quarter left to test."""
    X, signs = kernel_rows("a9a")
    parts = divide(X, signs.astype(np.int16), seed=0, train_size=A9A_ROWS)
    X_train, X_test, y_train, y_test = parts
    return Split("a9a", X_train[:n_rows], y_train[:n_rows], X_test, y_test)


def localized_model(method, n_features, **settings):
    """A method on three kernels of unit diagonal, one gate for each; or on copies of one kernel."""
    shared = {"C": 1.0} | ({} if method == "samkl" else {"random_state": 0})
    if method == "affine_lmkl":
        return LMKLClassifier(**shared | settings)
    shared |= {"normalization": "diagonal"} | ({"n_copies": 1} if method == "lmkl" else {})
    return MAKERS[method](three_kernels(1.0, n_features), **shared | settings)


_WARM_ROWS = 150


def give_back_free_memory():
    """Let go of pages that were used before: a fit that fits into them would seem to need none."""
    with contextlib.suppress(OSError, AttributeError):  # the C library of Linux has this
        ctypes.CDLL(None).malloc_trim(0)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.localized_fit_child")
    parser.add_argument("method", choices=(*MAKERS, "affine_lmkl"))
    parser.add_argument("--rows", type=int, help="default: three quarters of a9a")
    parser.add_argument("--form", choices=("dense", "csr"), default="csr", help="of the rows")
    parser.add_argument("--solver", help="default: the method's own")
    parser.add_argument("--max-iter", type=int, help="default: the method's own")
    parser.add_argument("--max-memory", type=float, help="bytes")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    options = parser.parse_args(arguments)
    asked = {"solver": options.solver, "max_iter": options.max_iter}
    settings = {name: value for name, value in asked.items() if value is not None}
    split = a9a_split(options.rows)
    # Single precision, as sums of kernels are beyond a thousand rows: one compilation is enough.
    X, y = split.X_train.astype("float32"), split.y_train
    if options.form == "csr":
        X = csr_matrix(X)
    model = localized_model(options.method, X.shape[1], n_jobs=options.jobs, **settings)
    nearlinear.set_config(max_memory=options.max_memory)
    warnings.simplefilter("ignore")
    clone(model).fit(X[:_WARM_ROWS], y[:_WARM_ROWS])
    give_back_free_memory()
    start = time.process_time()
    took = measured(lambda: model.fit(X, y))[1]
    took["cpu_seconds"] = time.process_time() - start
    took |= {
        "n_rows": len(y),
        "gap": model.duality_gap_ / model.objective_,
        "n_iter": model.n_iter_,
        "n_support": model.n_support_,
        "accuracy": 100 * model.score(split.X_test, split.y_test),
    }
    print(json.dumps(took))


if __name__ == "__main__":
    main()
