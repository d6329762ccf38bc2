"""Which raw columns a prepared one comes from: what all pieces of a column add is its own."""

import numpy as np

_DIGITS = 6  # pair columns whose factors agree so far are one


def origins(preparation):
    """For each prepared column (i,), or (i, j, a, b) for a sum of two; None for anything else.

    Factors are relative: the larger one is 1 or −1.
    """
    found = [_key(sums) for sums in _sums(preparation)]
    return None if None in found else found


def has_pieces(preparation):
    """Whether a raw column became several that rise and fall."""
    if preparation is None:
        return False
    return preparation.fold is not None or has_pieces(preparation.before)


def _sums(preparation):
    """For each prepared column the raw columns in it, with factors."""
    p = preparation
    inputs = [{k: 1.0} for k in range(p.n_inputs)] if p.before is None else _sums(p.before)
    # a fold has no direction of its own
    scales = np.ones(p.n_columns) if p.fold is not None else p.column("scale", 1.0)
    made = [{k: a / c for k, a in inputs[s].items()} for s, c in zip(p.sources, scales)]
    if p.matrix is None:
        return made
    return [_total(made, line) for line in p.matrix]


def _total(columns, line):
    total = {}
    for place in np.flatnonzero(line):
        for k, a in columns[place].items():
            total[k] = total.get(k, 0.0) + line[place] * a
    return total


def _key(sums):
    if len(sums) == 1:
        return tuple(sums)
    if len(sums) != 2:
        return None
    (i, a), (j, b) = sorted(sums.items())
    largest = max(abs(a), abs(b)) or 1.0
    return i, j, round(a / largest, _DIGITS), round(b / largest, _DIGITS)
