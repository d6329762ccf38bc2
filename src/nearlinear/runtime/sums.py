"""Sums of curves and of other models: what they must be, and their scores in plain NumPy."""

import numpy as np

from .fields import WHOLE, checked, floats, one_type, require
from .outcome import averaged_scores
from .parts import precision_of, values_of

ADDITIVE = ("weights", "intercept", "firsts", "knots", "values")
AVERAGED = ("members", "weights", "calibrations")
_LARGEST_WEIGHT = 1e6


def check_additive(part, n_features):
    _, n_outputs = floats(part.weights, n_features, None, name="weights")
    floats(part.intercept, n_outputs, name="intercept")
    (n_knots,) = floats(part.knots, None, name="knots")
    floats(part.values, n_knots, n_outputs, name="values")
    firsts, knots = part.firsts, part.knots
    good = isinstance(firsts, np.ndarray) and firsts.dtype in WHOLE
    good = good and firsts.shape == (n_features + 1,) and firsts[0] == 0 and firsts[-1] == n_knots
    good = good and np.all(firsts[1:] >= firsts[:-1])
    require(good, "Additive", "its columns have other knots than it has")
    counts = np.diff(firsts)
    require(np.all(counts != 1), "Additive", "a column has one knot alone")
    column = np.repeat(np.arange(n_features), counts)
    ascending = (knots[1:] > knots[:-1]) | (column[1:] > column[:-1])
    require(np.all(ascending), "Additive", "its knots are not ascending")
    one_type(part.weights, part.intercept, knots, part.values, name="Additive")
    return n_outputs


def additive(part, X):
    scores = X @ part.weights + part.intercept
    for d in np.flatnonzero(np.diff(part.firsts)):
        mine = slice(part.firsts[d], part.firsts[d + 1])
        column, knots = X[:, d], part.knots[mine]
        for output, values in enumerate(part.values[mine].T):
            scores[:, output] += np.interp(column, knots, values).astype(scores.dtype)
    return scores


def check_averaged(part, n_features):
    members, weights = part.members, part.weights
    require(isinstance(members, tuple) and members, "Averaged", "it is of nothing")
    found = {checked(member, "predictor", n_features) for member in members}
    require(len(found) == 1, "Averaged", "its members differ in outputs")
    good = isinstance(weights, tuple) and len(weights) == len(members)
    good = good and all(type(w) is float and 0.0 < w <= _LARGEST_WEIGHT for w in weights)
    require(good, "Averaged", "its weights are odd")
    n_outputs = found.pop()
    _calibrations(part, n_outputs)
    return n_outputs


def _calibrations(part, n_outputs):
    given = part.calibrations
    good = isinstance(given, tuple) and len(given) in (0, len(part.members))
    require(good, "Averaged", "not all members are calibrated")
    return [checked(one, "calibration", n_outputs) for one in given]


def averaged(part, X):
    """The weighted mean of scores, or what the log loss takes for that of probabilities."""
    dtype = precision_of(part)
    found = [
        values_of(member, X.astype(precision_of(member), copy=False)) for member in part.members
    ]
    if part.calibrations:
        calibrations = _calibrations(part, found[0].shape[1])
        return averaged_scores(calibrations, part.weights, found).astype(dtype)
    total = sum(one.astype(dtype) * dtype.type(w) for one, w in zip(found, part.weights))
    return total / dtype.type(sum(part.weights))
