"""The mean of several predictors: of what they tell, or of the probabilities they give classes."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..runtime.outcome import FLOOR, LogLoss, Sigmoids, Temperature, averaged_scores
from .base import Cost, check_width

_BLOCK = 2048  # rows
_LARGEST_LOG = 60.0  # beyond it a probability is below the floor, or 1 to the last digit


@dataclass(frozen=True)
class Averaged:
    """Members that see the same rows, each with a weight; a member's share is its part of all.

    Without ``calibrations`` scores are averaged. With them, one of ``LogLoss``, ``Shares``,
    ``Sigmoids``, ``Temperature`` and ``Tables`` (``nearlinear.runtime.outcome``) for each member,
    these turn its scores into probabilities of classes, and their mean p is given back as scores of
    the log loss: log p₁ − log p₀ of two classes, log p_k of several. ``LogLoss`` makes p of them
    again. A p below 1e-6 counts as 1e-6, so that all scores are finite, and alike in float32.

    Members may be of several kinds and precisions. Scores have the widest precision of them.
    """

    members: tuple
    weights: tuple
    calibrations: tuple = ()

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        found = self._told(X, lambda member, rows: member(rows, n_jobs=n_jobs))
        if not self.calibrations:
            return _weighted_mean(found, self.weights, self.dtype)
        lines = [line_of(one) for one in self.calibrations]
        if None in lines or self.n_outputs > 1:
            return self._averaged(found)
        return _mean_odds(found, lines, self.shares, self.dtype)

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        found = self._told(X, lambda member, rows: member.plain(rows))
        if not self.calibrations:
            return _weighted_mean(found, self.weights, self.dtype)
        return self._averaged(found)

    def local_features(self, X):
        """Those of all trees, so that products of rows are the mean of the trees' products."""
        from scipy.sparse import hstack

        parts = zip(self.members, self.weights, strict=True)
        found = [tree.local_features(X) * np.sqrt(weight) for tree, weight in parts]
        return hstack(found, format="csr") / np.sqrt(sum(self.weights))

    def _told(self, X, score):
        """What each member says of rows, in its own precision: a gate of float32 sees such rows."""
        check_width(X, self.n_features)
        return [score(member, X.astype(member.dtype, copy=False)) for member in self.members]

    def _averaged(self, scores):
        return averaged_scores(self.calibrations, self.weights, scores).astype(self.dtype)

    @property
    def shares(self):
        """What each member counts, together 1."""
        return tuple(weight / sum(self.weights) for weight in self.weights)

    @property
    def n_features(self):
        return self.members[0].n_features

    @property
    def n_outputs(self):
        return self.members[0].n_outputs

    @property
    def dtype(self):
        return np.result_type(*(member.dtype for member in self.members))

    @property
    def takes_missing(self):
        return all(getattr(member, "takes_missing", False) for member in self.members)

    @property
    def cost(self):
        """The sum of the costs of all members."""
        costs = [member.cost for member in self.members]
        return Cost(
            sum(cost.multiply_adds for cost in costs),
            sum(cost.times_linear for cost in costs),
            sum(cost.n_bytes for cost in costs),
        )


def _weighted_mean(scores, weights, dtype):
    parts = (one.astype(dtype) * dtype.type(w) for one, w in zip(scores, weights, strict=True))
    return reduce(np.add, parts) / dtype.type(sum(weights))


def line_of(calibration):
    """a and b where the odds of the second of two classes are exp(a score + b), else None."""
    if isinstance(calibration, LogLoss):
        return 1.0, 0.0
    if isinstance(calibration, Temperature):
        return 2.0 * float(calibration.factor[0]), 0.0
    if isinstance(calibration, Sigmoids):
        return -float(calibration.slopes[0]), -float(calibration.offsets[0])
    return None


def _mean_odds(scores, lines, shares, dtype):
    """Log odds of the mean probability of two classes, block by block in the first cache.

    Both probabilities come from one exponential, so that neither loses its digits beside 1.
    """
    n_rows, floor = len(scores[0]), dtype.type(FLOOR)
    out = np.empty((n_rows, 1), dtype=dtype)
    for start in range(0, n_rows, _BLOCK):
        block = slice(start, min(start + _BLOCK, n_rows))
        first, second = np.zeros((2, block.stop - start), dtype=dtype)
        for one, (slope, offset), share in zip(scores, lines, shares, strict=True):
            odds = one[block, 0].astype(dtype)
            odds *= dtype.type(slope)
            odds += dtype.type(offset)
            np.clip(odds, -_LARGEST_LOG, _LARGEST_LOG, out=odds)
            np.exp(odds, out=odds)
            part = dtype.type(share) / (odds + 1)
            first += part
            odds *= part
            second += odds
        np.maximum(first, floor, out=first)
        np.maximum(second, floor, out=second)
        second /= first
        np.log(second, out=out[block, 0])
    return out
