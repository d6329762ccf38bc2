"""The unit in which a regression measures its values, so that C and epsilon mean the same in any.

½‖f‖² + C Σ_i max(0, |y_i − f(x_i)| − ε) for values s y is s² times the same problem for y with
C / s and ε / s. So machines learn (y − center) / spread, and the predictor is put back.
"""

from dataclasses import dataclass

import numpy as np

# Values further than this many interquartile ranges beyond the quartiles are drawn in to there.
_FENCE = 3.0
# Values further from the center than so many spreads count as that far: none will be reached, and
# their losses would fill the objective, of which ``tol`` is a share.
_REACH = 1e3
# A mean of equal values may be off by this share of them.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class TargetUnits:
    """Center and spread of the values; those of classes are units of their own.

    Machines count values up to ``reach`` spreads from the center.
    """

    center: float = 0.0
    spread: float = 1.0
    reach: float = np.inf

    @classmethod
    def of_values(cls, values, weight=None):
        """Mean and standard deviation, after values that lie far out have been drawn in.

        The interquartile range says what is far out. Where that is zero, all values count as they
        are; where all values are equal, the spread is 1.
        """
        values = np.asarray(values, dtype=np.float64)
        weight = np.ones(len(values)) if weight is None else np.asarray(weight, dtype=np.float64)
        low, high = _quartiles(values, weight)
        if high > low:
            reach = _FENCE * (high - low)
            values = np.clip(values, low - reach, high + reach)
        unit = float(np.abs(values).max()) or 1.0
        scaled = values / unit  # squares of tiny and of huge numbers would be 0 and ∞
        center = float(np.average(scaled, weights=weight))
        spread = float(np.sqrt(np.average((scaled - center) ** 2, weights=weight)))
        is_constant = spread <= _ROUNDING * abs(center)
        return cls(center * unit, 1.0 if is_constant else spread * unit, _REACH)

    def scaled(self, values):
        """Values as the machine learns them."""
        return (values.astype(np.float64) - self.center) / self.spread

    def unscaled(self, values):
        """What the machine answers, in the values' own unit."""
        return self.spread * values + self.center


def _quartiles(values, weight):
    """The first and the third one, each a value that there is; −values have them swapped."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    above = np.cumsum(weight[order][::-1])
    quarter = 0.25 * below[-1]
    first = np.searchsorted(below, quarter)
    last = np.searchsorted(above, quarter)
    return values[order][first], values[order][::-1][last]
