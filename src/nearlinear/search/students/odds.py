"""Candidates for several classes that learn the teacher's log odds by least squares, as of two."""

from dataclasses import dataclass, replace

import numpy as np

from ...estimators._base.rows import canonical_order
from ...estimators._base.task import Regression
from ...estimators._base.values.units import TargetUnits
from ..candidates import Anchors

_LEAST_SHARE = 0.1  # a teacher that is surer is believed no more than that


@dataclass(frozen=True)
class OddsAnchors:
    """``Anchors`` on log probabilities, centered in each row, none below ``least_share``."""

    n_anchors: int
    local_scale: float
    C: float
    least_share: float = _LEAST_SHARE
    family = "anchors"
    scores = "margins"  # least squares shrink them: held-out rows say what they are worth
    takes_sparse = True

    def fit(self, rows, seed, n_jobs):
        return self._plain.fit(_of_odds(rows, self.least_share), seed, n_jobs)

    def cost(self, shape):
        return self._plain.cost(shape)

    @property
    def _plain(self):
        return Anchors(self.n_anchors, self.local_scale, self.C)


def with_odds(candidates):
    """Candidates, and behind those around anchors the same on log odds."""
    return [
        twin
        for one in candidates
        for twin in ((one, OddsAnchors(**vars(one))) if isinstance(one, Anchors) else (one,))
    ]


def _of_odds(rows, least_share):
    """Rows whose copies stand for the classes that the teacher thinks possible, each once."""
    numbers = canonical_order(rows.X, rows.labels)[1]
    first = np.unique(numbers, return_index=True)[1]
    shares = np.zeros((len(first), rows.targets.shape[1]))
    np.add.at(shares, (numbers, rows.labels), rows.weight)
    weight = shares.sum(axis=1)
    odds = np.log(np.maximum(shares / weight[:, None], least_share))
    odds -= odds.mean(axis=1, keepdims=True)
    return replace(
        rows.take(first), labels=np.zeros(len(first), dtype=np.intp), weight=weight,
        targets=odds.astype(rows.X.dtype), n_distinct=len(first), task=Regression(TargetUnits()),
    )  # fmt: skip
