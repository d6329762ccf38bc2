"""Columns a x_i + b x_j for a grower to split: oblique borders at the price of one column.

Candidates are sums and differences of two columns, raw and in several ratios of their spreads. A
small forest is grown on all of them; those that explain most of it are kept, one of a kind.
"""

from dataclasses import dataclass

import numpy as np

_UNITS = (0.25, 0.5, 1.0, 2.0, 4.0)
PER_PAIR = 2 * (1 + len(_UNITS))  # candidates: two signs, ratios of 1 and of the spreads
_ALIKE = 0.995  # cosine from which on two candidates are one


@dataclass(frozen=True)
class PairColumns:
    """``pairs`` (n_pairs, 2) columns, and ``factors`` (n_pairs, 2) in float32."""

    pairs: np.ndarray
    factors: np.ndarray

    @classmethod
    def none(cls):
        return cls(np.empty((0, 2), dtype=np.int32), np.empty((0, 2), dtype=np.float32))

    def __len__(self):
        return len(self.pairs)

    def take(self, which):
        return PairColumns(self.pairs[which], self.factors[which])

    def joined_to(self, X):
        """Rows and their pair columns: each product is rounded, then the sum."""
        if not len(self):
            return X
        out = np.empty((len(X), X.shape[1] + len(self)), dtype=X.dtype)
        out[:, : X.shape[1]] = X
        for p, ((i, j), (a, b)) in enumerate(zip(self.pairs, self.factors, strict=True)):
            np.add(X[:, i] * a, X[:, j] * b, out=out[:, X.shape[1] + p])
        return out


def candidates(columns, spreads):
    """All pairs of the given columns, whose spreads are not zero."""
    pairs, factors = [], []
    for place, i in enumerate(columns):
        for j in columns[place + 1 :]:
            unit = spreads[i] / spreads[j]
            for sign in (1.0, -1.0):
                ratios = [1.0, *(ratio * unit for ratio in _UNITS)]
                pairs += [(i, j)] * len(ratios)
                factors += [(1.0, sign * ratio) for ratio in ratios]
    if not pairs:
        return PairColumns.none()
    return PairColumns(np.array(pairs, dtype=np.int32), np.array(factors, dtype=np.float32))


def best_of(found, gains, spreads, count):
    """At most ``count`` candidates of the largest gains, of which no two are alike."""
    directions = np.abs(found.factors) * spreads[found.pairs]
    directions = np.sign(found.factors) * directions
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    kept = []
    for place in np.argsort(-gains, kind="stable"):
        if len(kept) == count or gains[place] <= 0:
            break
        same = [k for k in kept if np.array_equal(found.pairs[k], found.pairs[place])]
        if all(abs(directions[k] @ directions[place]) < _ALIKE for k in same):
            kept.append(int(place))
    return found.take(np.array(kept, dtype=np.intp))
