"""Rows to measure on: the real set where NEARLINEAR_DATA has it, else drawn ones of its shape."""

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

from reproduce import datasets
from reproduce.llc_sapl.methods import load_split
from reproduce.split import Split

# Training rows, test rows, features, classes.
SHAPES = {
    "ijcnn1": (49990, 91701, 22, 2),
    "letter": (16000, 4000, 16, 26),
    "mnist": (60000, 10000, 784, 10),
}


def split_of(name):
    """Rows of this set, and whether they are the real ones."""
    if datasets.is_available(name):
        return load_split(name, seed=0), True
    n_train, n_test, n_features, n_classes = SHAPES[name]
    X, y = drawn(n_train + n_test, n_features, n_classes)
    return Split(name, X[:n_train], y[:n_train], X[n_train:], y[n_train:]), False


def drawn(n_rows, n_features, n_classes, seed=0):
    """Rows around random centers, several of them to a class so that no linear model suffices."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((8 * n_classes, n_features), dtype=np.float32)
    chosen = rng.integers(len(centers), size=n_rows)
    X = centers[chosen]
    X += 0.7 * rng.standard_normal(X.shape, dtype=np.float32)
    return X, chosen % n_classes


def drawn_sparse(n_rows=20000, n_features=47000, density=0.0016, seed=0):
    """Sparse rows of unit length in RCV1's shape, labeled by a hidden direction."""
    rng = np.random.default_rng(seed)
    X = scipy.sparse.random(
        n_rows, n_features, density, format="csr", dtype=np.float32, random_state=rng
    )
    X = normalize(X)
    scores = X @ rng.standard_normal(n_features, dtype=np.float32)
    return X, np.where(scores > 0, 1, -1)
