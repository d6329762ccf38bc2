"""Raw columns that prepared columns are computed from."""

import numpy as np


def origins(preparation):
    """The raw column of each prepared column; None if a column depends on several or on none."""
    sources = _raw_columns(preparation)
    return [min(one) for one in sources] if all(len(one) == 1 for one in sources) else None


def _raw_columns(preparation):
    """The set of raw columns that each prepared column depends on."""
    p = preparation
    if p.before is None:
        inputs = [{k} for k in range(p.n_features)] + [{one.column} for one in p.readings or ()]
    else:
        inputs = _raw_columns(p.before)
    columns = [inputs[source] for source in p.sources]
    if p.matrix is None:
        return columns
    return [set().union(*(columns[j] for j in np.flatnonzero(line))) for line in p.matrix]
