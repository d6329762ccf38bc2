"""Whether the numbers of a target are classes or values."""

import numpy as np

RULE = """\
A target of text is one of classes. Numbers are values, and learned by a regressor, if any has a
fraction, or if there are more than 20 different ones (or more than a third of the rows) and some
stand in fewer than 10 rows. Two whole numbers are always classes. --method decides otherwise."""

_FEW, _ROWS_OF_EACH = 20, 10


def holds_values(y):
    """Whether a target is a quantity: see RULE."""
    if y.dtype.kind not in "fiu":
        return False
    if (y != np.floor(y)).any():
        return True
    labels, counts = np.unique(y, return_counts=True)
    is_short = len(labels) <= _FEW and 3 * len(labels) <= len(y)
    return not (len(labels) <= 2 or is_short or counts.min() >= _ROWS_OF_EACH)
