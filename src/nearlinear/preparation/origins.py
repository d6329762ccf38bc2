"""Which raw columns a prepared one comes from: what all columns made of one add is its own."""

import numpy as np

_DIGITS = 6  # pair columns whose factors agree so far are one


def origins(preparation):
    """For each prepared column (i,), or (i, j, a, b) for a sum of two; None for anything else.

    Factors are relative: the larger one is 1 or −1. Categories, curves, pieces and marks of what is
    missing are of their raw column, whatever they make of it; once mixed with those of another raw
    column, they are of none.
    """
    found = [_key(sums) for sums, _ in _sums(preparation)]
    return None if None in found else found


def _sums(preparation):
    """For each prepared column the raw columns in it, with factors, and whether it is bent."""
    p = preparation
    if p.before is None:
        inputs = [({k: 1.0}, False) for k in range(p.n_features)]
        inputs += [({one.column: 1.0}, not one.is_of_numbers) for one in p.readings or ()]
    else:
        inputs = _sums(p.before)
    curves = p.curves or (None,) * p.n_columns
    bent = ~np.isnan(p.column("equals", np.nan)) | [curve is not None for curve in curves]
    bent |= np.isfinite(p.column("low", -np.inf)) | np.isfinite(p.column("high", np.inf))
    if p.fold is not None:
        bent |= np.isfinite(p.fold[:, 3])
    made = []
    for source, scale, is_bent in zip(p.sources, p.column("scale", 1.0), bent):
        sums, was_bent = inputs[source]
        # what is bent has no direction of its own
        factor = 1.0 if is_bent else 1.0 / scale
        made.append(({k: a * factor for k, a in sums.items()}, was_bent or bool(is_bent)))
    return made if p.matrix is None else [_total(made, line) for line in p.matrix]


def _total(columns, line):
    total, places = {}, np.flatnonzero(line)
    for place in places:
        for k, a in columns[place][0].items():
            total[k] = total.get(k, 0.0) + line[place] * a
    is_bent = any(columns[place][1] for place in places)
    return ({}, True) if is_bent and len(places) > 1 and len(total) > 1 else (total, is_bent)


def _key(sums):
    if len(sums) == 1:
        return tuple(sums)
    if len(sums) != 2:
        return None
    (i, a), (j, b) = sorted(sums.items())
    largest = max(abs(a), abs(b)) or 1.0
    return i, j, round(a / largest, _DIGITS), round(b / largest, _DIGITS)
