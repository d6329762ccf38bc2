"""Models that rows may leave early: what they must be, and their scores in plain NumPy."""

import math

import numpy as np

from ..fields import checked, require
from ..parts import values_of
from .scores import told_by_trees

EXITING, CASCADED = ("forest", "thresholds", "shares"), ("stages", "thresholds", "shares")
# Any predictor that gives scores of classes; cascades do not stand in cascades.
_STAGES = (
    "LocallyLinear", "TreePath", "TreeLeaves", "LinkedTree", "Forest", "Exiting",
    "ConformalLinear", "GaussianCells", "KernelExpansion", "GatedExpansion", "Mapped",
    "Stacked", "Additive", "Averaged", "Hinges",
)  # fmt: skip


def takes_missing(part):
    """Whether a predictor knows where rows with NaN go."""
    if part.kind == "Cascaded":
        return all(takes_missing(stage) for stage in part.stages)
    if part.kind == "Averaged":
        return all(takes_missing(member) for member in part.members)
    if part.kind == "Exponential":
        return takes_missing(part.predictor)
    return part.kind in ("Forest", "Exiting")


def check_exiting(part, n_features):
    n_outputs = checked(part.forest, "predictor", n_features, only=("Forest",))
    _check_stops(part, len(part.forest.gate.starts) - 1)
    return n_outputs


def check_cascaded(part, n_features):
    require(isinstance(part.stages, tuple) and part.stages, "Cascaded", "it has no stages")
    found = {checked(stage, "predictor", n_features, only=_STAGES) for stage in part.stages}
    require(len(found) == 1, "Cascaded", "its stages have other outputs")
    _check_stops(part, len(part.stages))
    return found.pop()


def _check_stops(part, n_stages):
    """One threshold for each stage but the last, infinity among them, and the shares of rows."""
    for name, count, most in (
        ("thresholds", n_stages - 1, math.inf), ("shares", n_stages, 1.0 + 1e-9)
    ):  # fmt: skip
        values = getattr(part, name)
        good = isinstance(values, tuple) and len(values) == count
        good = good and all(type(value) is float and 0.0 <= value <= most for value in values)
        require(good, part.kind, f"its {name} are odd")


def _leads(scores):
    """|score| of one output, else the best score less the second."""
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2]


def exiting(part, X):
    """Sums of trees, up to the first after which the lead reaches the threshold."""
    sums, limits = None, (*part.thresholds, math.inf)
    going = np.ones(len(X), dtype=bool)
    for sums_so_far, limit in zip(told_by_trees(part.forest, X), limits):
        sums = sums_so_far.copy() if sums is None else sums
        sums[going] = sums_so_far[going]
        if limit < math.inf:
            going &= ~(_leads(sums) >= limit)
    return sums.astype(part.forest.gate.thresholds.dtype)


def cascaded(part, X):
    """The scores of the first stage that is sure enough; stages see only the rows left to them."""
    scores, rows = None, np.arange(len(X))
    for stage, limit in zip(part.stages, (*part.thresholds, -math.inf)):
        if limit == math.inf or not (len(rows) or scores is None):
            continue
        found = values_of(stage, X[rows])
        if scores is None:
            scores = np.zeros((len(X), found.shape[1]), dtype=found.dtype)
        scores = scores.astype(np.result_type(scores, found), copy=False)
        # the last stage keeps all its rows, those among them that have no scores
        stays = (_leads(found) >= limit) | (limit == -math.inf)
        scores[rows[stays]], rows = found[stays], rows[~stays]
    return scores
