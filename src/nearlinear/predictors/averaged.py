"""The mean of several predictors: of what they tell, or of the probabilities they give classes."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..runtime.outcome import averaged_scores
from .base import Cost, check_width


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
        return self._mean(X, lambda member, rows: member(rows, n_jobs=n_jobs))

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        return self._mean(X, lambda member, rows: member.plain(rows))

    def local_features(self, X):
        """Those of all trees, so that products of rows are the mean of the trees' products."""
        from scipy.sparse import hstack

        parts = zip(self.members, self.weights, strict=True)
        found = [tree.local_features(X) * np.sqrt(weight) for tree, weight in parts]
        return hstack(found, format="csr") / np.sqrt(sum(self.weights))

    def _mean(self, X, score):
        check_width(X, self.n_features)
        found = [
            score(member, X.astype(member.dtype, copy=False))  # a gate of float32 sees such rows
            for member in self.members
        ]
        if self.calibrations:
            return averaged_scores(self.calibrations, self.weights, found).astype(self.dtype)
        return _weighted_mean(found, self.weights, self.dtype)

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
        """The members' together; they do not depend on each other, so variances add up, too."""
        costs = [member.cost for member in self.members]
        return Cost(
            sum(cost.multiply_adds for cost in costs),
            sum(cost.times_linear for cost in costs),
            sum(cost.n_bytes for cost in costs),
            float(np.sqrt(sum(cost.spread**2 for cost in costs))),
        )


def _weighted_mean(scores, weights, dtype):
    parts = (one.astype(dtype) * dtype.type(w) for one, w in zip(scores, weights, strict=True))
    return reduce(np.add, parts) / dtype.type(sum(weights))
