"""Training and test part of a data set, scaled, and how parts are drawn."""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.model_selection import train_test_split


@dataclass(frozen=True)
class Split:
    """The two parts of a data set; features are float32 and scaled by the training part.

    So are the targets of a regression; ``target_scale`` leads back to their own unit. ``seed`` drew
    the parts, where they are drawn.
    """

    name: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    target_scale: float = 1.0
    seed: int = 0

    @property
    def is_regression(self):
        return is_regression(self.y_train)

    def limited(self, train_rows=None, test_rows=None, seed=0):
        """The same split with at most so many rows in each part, classes in proportion."""
        X_train, y_train = _sample(self.X_train, self.y_train, train_rows, seed)
        X_test, y_test = _sample(self.X_test, self.y_test, test_rows, seed)
        return replace(self, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)

    def cast(self, dtype):
        """The same numbers in another precision."""
        X_train, X_test = self.X_train.astype(dtype), self.X_test.astype(dtype)
        return replace(self, X_train=X_train, X_test=X_test)

    def in_range(self):
        """The same split, every feature between −1 and 1 on the training part."""
        low, span = self.X_train.min(axis=0), np.ptp(self.X_train, axis=0)
        span = np.where(span > 0, span, 1)
        X_train, X_test = (2 * (X - low) / span - 1 for X in (self.X_train, self.X_test))
        return replace(self, X_train=X_train, X_test=X_test)

    def held_out(self, seed, max_rows=None):
        """Four fifths of the training part to fit on, one fifth to test on; the test part is gone.

        ``max_rows`` of the training part are used at most.
        """
        part = self.limited(train_rows=max_rows, seed=seed)
        X_fit, X_test, y_fit, y_test = divide(part.X_train, part.y_train, seed, test_size=0.2)
        return replace(self, X_train=X_fit, y_train=y_fit, X_test=X_test, y_test=y_test)

    def held_out_block(self, number, n_blocks=5):
        """The same with a run of consecutive training rows held out, the ``number``-th of so many.

        For rows that follow each other in time: a row's neighbors there are like it, and where they
        train, rows drawn at random say more than test rows will.
        """
        rows = np.arange(len(self.y_train))
        is_out = rows * n_blocks // len(rows) == number
        X, y = self.X_train, self.y_train
        return replace(
            self, X_train=X[~is_out], y_train=y[~is_out], X_test=X[is_out], y_test=y[is_out]
        )


def is_regression(y):
    """Labels are whole numbers, the targets of a regression are not stored as such."""
    return np.issubdtype(y.dtype, np.floating)


def divide(X, y, seed, **sizes):
    """Two parts drawn by ``seed``, classes in proportion."""
    strata = None if is_regression(y) else y
    return train_test_split(X, y, stratify=strata, random_state=seed, **sizes)


def scaled(name, X_train, X_test, y_train, y_test, scaling):
    """Center by the training part and divide by each feature's spread (``standard``).

    ``global`` has one scale so that dim pixels stay dim; ``mixed`` leaves the span of 0/1 columns
    at two, since the spread of a rare one would blow it up; None leaves all as it is, which is the
    only choice for sparse rows.
    """
    X_train, X_test = X_train.astype(np.float32), X_test.astype(np.float32)
    if scaling is None:
        return Split(name, X_train, y_train, X_test, y_test)
    is_switch = np.all((X_train == 0) | (X_train == 1), axis=0)
    center = X_train.mean(axis=0, dtype=np.float64).astype(np.float32)
    X_train -= center
    X_test -= center
    if scaling in ("standard", "mixed"):
        scale = X_train.std(axis=0, dtype=np.float64)
        scale[scale == 0] = 1.0
        if scaling == "mixed":
            scale[is_switch] = 0.5
    elif scaling == "global":
        scale = X_train.std(dtype=np.float64)
    else:
        raise ValueError(f"scaling is 'standard', 'global', 'mixed' or None, not {scaling!r}")
    X_train /= np.asarray(scale, dtype=np.float32)
    X_test /= np.asarray(scale, dtype=np.float32)
    if not is_regression(y_train):
        return Split(name, X_train, y_train, X_test, y_test)
    center, scale = y_train.mean(dtype=np.float64), y_train.std(dtype=np.float64)
    y_train, y_test = ((y - center) / scale for y in (y_train, y_test))
    return Split(name, X_train, y_train, X_test, y_test, float(scale))


def _sample(X, y, n_rows, seed):
    if n_rows is None or n_rows >= len(y):
        return X, y
    return divide(X, y, seed, train_size=n_rows)[::2]
