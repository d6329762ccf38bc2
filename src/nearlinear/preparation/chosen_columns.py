"""The columns that a ColumnTransformer gives to one of its transformers."""

from collections import UserList
from numbers import Integral

import numpy as np


def column_numbers(transformer, chosen):
    """Numbers of columns that were named by names, numbers, a mask or a slice."""
    n_columns = transformer.n_features_in_
    names = {name: d for d, name in enumerate(getattr(transformer, "feature_names_in_", ()))}
    if isinstance(chosen, slice):
        return _of_slice(chosen, names, n_columns)
    if isinstance(chosen, str | Integral):
        chosen = [chosen]
    # scikit-learn 1.6 and 1.7 warn of who looks at the columns of a remainder
    chosen = list(chosen.data if isinstance(chosen, UserList) else chosen)
    if chosen and all(isinstance(one, bool | np.bool_) for one in chosen):
        return np.flatnonzero(chosen).tolist()
    return [names[one] if isinstance(one, str) else range(n_columns)[one] for one in chosen]


def _of_slice(chosen, names, n_columns):
    ends = [names.get(end, end) for end in (chosen.start, chosen.stop)]
    if isinstance(chosen.stop, str):
        ends[1] += 1  # a slice of names ends with its last name
    return list(range(n_columns)[slice(*ends, chosen.step)])
