"""Several passes of a refit mixed into a better one.

A pass takes models x to G(x). Anderson mixing (1965, Iterative procedures for nonlinear integral
equations): of all mixtures Σ a_k G(x_k) of the last passes with Σ a_k = 1, the
one is taken whose Σ a_k (G(x_k) − x_k) is least. Scores are linear in the models: they are mixed
the same way, and no row is visited. The caller keeps what came of it only if it is better.
"""

import numpy as np

_MOST_PASSES = 3
_RIDGE = 1e-10  # on the mean diagonal


class PassMixing:
    def __init__(self):
        self._passes = []

    def add(self, before, models, scores):
        """A pass from ``before`` to ``models``; arrays are copied where they may change."""
        passes = [*self._passes, (models - before, models.copy(), scores.copy())]
        self._passes = passes[-_MOST_PASSES:]

    def forget(self):
        self._passes = []

    def mixed(self):
        """Models and scores, or None after a single pass."""
        if len(self._passes) < 2:
            return None
        steps = [step for step, _, _ in self._passes]
        products = np.array([[float((one * other).sum()) for other in steps] for one in steps])
        scale = np.trace(products) / len(steps)
        if not scale > 0.0:
            return None
        parts = np.linalg.solve(products + _RIDGE * scale * np.eye(len(steps)), np.ones(len(steps)))
        parts = (parts / parts.sum()).tolist()
        pairs = list(zip(parts, self._passes, strict=True))
        return tuple(sum(part * one[which] for part, one in pairs) for which in (1, 2))

    @property
    def latest(self):
        return self._passes[-1][1:]
