"""What y is: classes or values."""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length

from ..runtime.columns.readings import is_missing, require_values

_FEW, _ROWS_OF_EACH = 20, 10


@dataclass(frozen=True)
class Target:
    """Classes or values, and what ``TargetEncoder`` calls them."""

    values: np.ndarray
    kind: str

    @property
    def largest_class(self):
        """Its number of rows; values are one class."""
        if self.kind == "continuous":
            return len(self.values)
        return int(np.unique(self.values, return_counts=True)[1].max())

    def take(self, rows):
        return Target(self.values[rows], self.kind)


def holds_values(y):
    """Whether numbers are values, not classes.

    They are if any has a fraction, or if there are more than 20 different ones (or more than a
    third of the rows) and some stand in fewer than 10 rows. Two whole numbers are always classes.
    """
    if y.dtype.kind not in "fiu":
        return False
    if (y != np.floor(y)).any():
        return True
    labels, counts = np.unique(y, return_counts=True)
    is_short = len(labels) <= _FEW and 3 * len(labels) <= len(y)
    return not (len(labels) <= 2 or is_short or counts.min() >= _ROWS_OF_EACH)


def target_of(y, target_type, X):
    """The target of a fit; None where there is none, or several."""
    if y is None:
        return None
    check_consistent_length(X, y)
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        return None
    if any(is_missing(one) for one in y.tolist()):
        raise ValueError("Input y contains NaN: leave out the rows whose target is missing.")
    if target_type == "auto":
        type_of_target(y, input_name="y")  # refuses what is neither
        target_type = "values" if holds_values(y) else "classes"
    if target_type == "values":
        require_values(y)
        return Target(y.astype(np.float64), "continuous")
    return Target(y, "binary" if len(np.unique(y)) <= 2 else "multiclass")
