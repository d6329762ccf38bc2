"""The binary sets that trees are measured on: real where NEARLINEAR_DATA has them, else drawn."""

import numpy as np

from benchmarks.shapes import drawn
from reproduce import datasets
from reproduce.ldkl.methods import STUDY
from reproduce.split import Split

# Training rows, test rows, features.
SHAPES = {
    "ijcnn1": (49990, 91701, 22),
    "letter_halves": (12000, 8000, 16),
    "magic04": (14226, 4794, 10),
    "covertype": (522910, 58102, 54),
}
SMOKE_ROWS = {"train_rows": 600, "test_rows": 300}


def tree_split_of(name, smoke=False):
    """Rows of this set with labels 0 and 1, and whether they are the real ones."""
    is_real = datasets.is_available(name)
    if is_real:
        split = STUDY.load_split(name, seed=0)
        labels = (split.y_train > 0).astype(int), (split.y_test > 0).astype(int)
        # Rows in one piece: no model pays for another's favorite order.
        X_train, X_test = map(np.ascontiguousarray, (split.X_train, split.X_test))
        split = Split(name, X_train, labels[0], X_test, labels[1])
    else:
        n_train, n_test, n_features = SHAPES[name]
        X, y = drawn(n_train + n_test, n_features, n_classes=2)
        split = Split(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:])
    return (split.limited(**SMOKE_ROWS) if smoke else split), is_real


def tree_parameters(name):
    """As the reproduction of the paper chose them on a part of the training rows."""
    return STUDY.parameters_for("ldkl", name)
