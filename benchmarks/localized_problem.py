"""Rows and models that localized kernel machines are measured on: three kernels, C 1."""

import numpy as np

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
