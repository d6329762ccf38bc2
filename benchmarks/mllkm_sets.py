"""Rows that MLLKM is measured on: the real sets where NEARLINEAR_DATA has them, else drawn ones."""

from benchmarks.shapes import drawn
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
