"""What conformal kernels take from the training rows: bandwidths and lengths."""

from dataclasses import dataclass

import numpy as np

from .conformal_bank import ConformalBank
from .profiles import Profile
from .row_order import RowOrder
from .row_scales import RowScales

# Lengths of kernels are averaged over about this many rows.
_SAMPLE = 2000
# Median of a squared difference, in variances of a normal variable.
_SQUARED_DIFFERENCE = 0.91


@dataclass(frozen=True)
class ConformalScales:
    """γ of candidates, and the rows over which lengths are taken."""

    profile: Profile
    per_feature: bool
    gammas: np.ndarray
    exponent: float
    typical: float
    X: np.ndarray
    weight: np.ndarray

    @classmethod
    def of_rows(cls, X, weight, profile, per_feature, bandwidths, exponent):
        """``bandwidths`` are relative to typical distances of the rows ``X``."""
        typical = scale = RowScales(X).squared_distance
        if per_feature:
            scale = _SQUARED_DIFFERENCE * float(X.var(axis=0, dtype=np.float64).mean()) or 1.0
        gammas = profile.gamma(np.asarray(bandwidths, dtype=np.float64), scale)
        rows, weight = RowOrder.of(X).choose(_SAMPLE, weight)
        # in double precision, so that an anchor is at no distance from its row
        sample = X[rows].astype(np.float64)
        return cls(profile, per_feature, gammas, exponent, typical, sample, weight)

    def bank(self, anchors):
        """A kernel for every anchor and γ, divided by length^exponent typical^(1 − exponent)."""
        bank = ConformalBank.of_all(anchors, self.gammas, self.profile, self.per_feature)
        bank.normalise(bank.traces(self.X, self.weight), self.exponent, self.typical)
        return bank
