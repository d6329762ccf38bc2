"""Binary sets and machines that kernel solvers are measured on; drawn where NEARLINEAR_DATA lacks
them.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.shapes import drawn
from nearlinear.kernels import Gaussian
from reproduce import datasets

# Training rows, features.
SHAPES = {"ijcnn1": (49990, 22), "a9a": (32561, 123), "letter_halves": (12000, 16)}
_ONES = 14  # of each row of a9a
SMOKE_ROWS = 700


@dataclass(frozen=True)
class MachineCase:
    """A set with a Gaussian kernel and C near those that suit it."""

    name: str
    C: float
    gamma: float

    @property
    def kernel(self):
        return Gaussian(gamma=self.gamma)


MACHINES = (
    MachineCase("ijcnn1", C=10.0, gamma=0.1),
    MachineCase("a9a", C=1.0, gamma=1 / 123),
    MachineCase("letter_halves", C=8.0, gamma=0.2),
)


def kernel_rows(name, n_rows=None):
    """The first training rows of a set in double precision, with labels of ±1."""
    X, y = _real_rows(name) if datasets.is_available(name) else _drawn_rows(name)
    signs = np.where(y == y.max(), 1.0, -1.0)
    if name != "a9a":  # whose features are all 0 or 1
        X = StandardScaler().fit_transform(X)
    return X[:n_rows], signs[:n_rows]


def origin(name):
    """A word on the rows, if they are not the real ones."""
    return "" if datasets.is_available(name) else "; drawn rows of this shape"


def _real_rows(name):
    with np.load(datasets.archive_path(name), allow_pickle=False) as archive:
        X, y = archive["X_train"].astype(np.float64), archive["y_train"]
    task = datasets.BINARY_TASKS.get(name)
    if task:
        y = np.where(np.isin(y, task.positive), 1, -1)
        X, y = X[: task.first_rows], y[: task.first_rows]
    return X, y


def _drawn_rows(name):
    n_rows, n_features = SHAPES[name]
    if name != "a9a":
        X, y = drawn(n_rows, n_features, n_classes=2)
        return X.astype(np.float64), y
    rng = np.random.default_rng(0)
    X = np.zeros((n_rows, n_features))
    chosen = rng.random((n_rows, n_features)).argpartition(_ONES, axis=1)[:, :_ONES]
    np.put_along_axis(X, chosen, 1.0, axis=1)
    scores = X @ rng.standard_normal(n_features) + 2.0 * rng.standard_normal(n_rows)
    return X, scores > np.quantile(scores, 0.76)
