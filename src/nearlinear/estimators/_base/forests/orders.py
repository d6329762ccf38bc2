"""What growers are told: how much to grow, and of which columns."""

from dataclasses import dataclass

import numpy as np

from ....solvers.forests.pairs import PairColumns


@dataclass(frozen=True)
class Shape:
    """How much is grown. ``n_trees`` counts rounds: several classes have a tree each in one."""

    n_trees: int
    max_leaves: int
    learning_rate: float
    min_rows: int = 20  # of a leaf
    l2: float = 0.0
    max_features: float | None = 1.0  # share of columns, drawn for each split; None: the grower's


@dataclass(frozen=True)
class Columns:
    """What is known of the columns, and the pair columns after them."""

    pairs: PairColumns
    categorical: np.ndarray | None = None  # which are categories
    monotonic: np.ndarray | None = None
    interactions: object = None

    @property
    def is_plain(self):
        """Whether any tree of numbers will do."""
        return self.categorical is None and self.monotonic is None and self.interactions is None

    @property
    def _sign(self):
        return np.concatenate([self.monotonic, np.zeros(len(self.pairs), dtype=int)])

    def of_hist(self):
        """Arguments of HistGradientBoosting."""
        found = {"categorical_features": None}
        if self.categorical is not None and self.categorical.any():
            more = np.zeros(len(self.pairs), dtype=bool)
            found["categorical_features"] = np.concatenate([self.categorical, more])
        if self.monotonic is not None:
            found["monotonic_cst"] = self._sign
        if self.interactions is not None:
            found["interaction_cst"] = self.interactions
        return found

    def of_lightgbm(self):
        found = {}
        if self.monotonic is not None:
            found["monotone_constraints"] = self._sign.tolist()
        if self.interactions is not None:
            found["interaction_constraints"] = [sorted(group) for group in self.interactions]
        return found


def told_weight(weight):
    """Equal weights are not told: without them growers are quicker."""
    return None if np.all(weight == weight[0]) else weight
