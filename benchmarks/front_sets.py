"""The sets of ``benchmarks front``: rows as they are for trees, scaled for all others.

Without the data (NEARLINEAR_DATA), rows of the same shape are drawn. Splits are those of
``reproduce``: by seed where the makers of a set have not divided it. Labels are 0, 1, …; the
targets of a regression are scaled, and ``unit`` leads back.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from benchmarks.shapes import drawn
from reproduce import datasets
from reproduce.split import Split, scaled

# Training rows, test rows, features, classes (0: regression).
SHAPES = {
    "covertype": (522911, 58101, 54, 2),
    "banana": (3533, 1767, 2, 2),
    "magic04": (12680, 6340, 10, 2),
    "letter": (16000, 4000, 16, 26),
    "ijcnn1": (49990, 91701, 22, 2),
    "usps": (7291, 2007, 256, 10),
    "mnist": (60000, 10000, 784, 10),
    "skin": (122529, 122528, 3, 2),
    "a9a": (32561, 16281, 123, 2),
    "concrete": (687, 343, 8, 0),
    "wine_white": (3265, 1633, 11, 0),
    "abalone": (2785, 1392, 8, 0),
    "boston_housing": (337, 169, 13, 0),
    "german_numeric": (750, 250, 24, 2),
    "heart": (189, 81, 13, 2),
    "diabetes": (538, 230, 8, 2),
}
REGRESSIONS = tuple(name for name, shape in SHAPES.items() if shape[3] == 0)
# Small and noisy: what defaults do there is compared with a linear model.
NOISY = ("german_numeric", "heart", "diabetes", "a9a")
SCALINGS = {"covertype": "mixed", "usps": "global", "mnist": "global"}
HAVE_OWN_SPLIT = ("letter", "ijcnn1", "usps", "mnist", "a9a")
SMOKE_ROWS = {"train_rows": 300, "test_rows": 200}
FEW, MANY = 5000, 100_000


@dataclass(frozen=True)
class FrontSet:
    """``raw`` and ``even`` are the same split, as stored and scaled."""

    name: str
    raw: Split
    even: Split
    is_real: bool = True

    @property
    def is_regression(self):
        return self.raw.is_regression

    @property
    def is_binary(self):
        return not self.is_regression and len(np.unique(self.raw.y_train)) == 2

    @property
    def unit(self):
        return self.even.target_scale


def front_set(name, seed=0, smoke=False):
    n_train, n_test, n_features, n_classes = SHAPES[name]
    is_real = datasets.is_available(name)
    scaling = SCALINGS.get(name, "standard")
    if is_real:
        in_whole = None if name in HAVE_OWN_SPLIT else n_train
        raw = datasets.load(name, seed, scaling=None, train_rows=in_whole)
        even = datasets.load(name, seed, scaling=scaling, train_rows=in_whole)
    else:
        if smoke:
            n_train, n_test = SMOKE_ROWS["train_rows"], SMOKE_ROWS["test_rows"]
        X, y = drawn(n_train + n_test, n_features, n_classes or 2, seed)
        y = y if n_classes else (X[:, 0] * X[:, 1] + X[:, 2]).astype(np.float32)
        parts = X[:n_train], X[n_train:], y[:n_train], y[n_train:]
        raw, even = scaled(name, *parts, None), scaled(name, *parts, scaling)
    if smoke:
        raw, even = raw.limited(**SMOKE_ROWS), even.limited(**SMOKE_ROWS)
    if raw.is_regression:
        train, test = (np.asarray(y, dtype=np.float64) for y in (even.y_train, even.y_test))
    else:
        classes = np.unique(raw.y_train)
        train, test = (np.searchsorted(classes, y) for y in (raw.y_train, raw.y_test))
    raw, even = (_in_one_piece(split, train, test) for split in (raw, even))
    return FrontSet(name, raw, even, is_real)


def _in_one_piece(split, y_train, y_test):
    """No model pays for another's favorite order."""
    X_train, X_test = map(np.ascontiguousarray, (split.X_train, split.X_test))
    return replace(split, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)


def held_out_parts(y, seed):
    """(fit, held) places of training rows: four folds below 5,000, else a fifth or a tenth."""
    is_regression = np.issubdtype(y.dtype, np.floating)
    if len(y) < FEW:
        kind = KFold if is_regression else StratifiedKFold
        return list(kind(4, shuffle=True, random_state=seed).split(y, y))
    share = 0.1 if len(y) > MANY else 0.2
    kind = ShuffleSplit if is_regression else StratifiedShuffleSplit
    return list(kind(1, test_size=share, random_state=seed).split(y, y))
