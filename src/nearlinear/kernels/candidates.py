"""Conformal kernels in numbers: the candidates of a multiple locally linear kernel machine.

No Gram matrix is ever needed: with coefficients a_i, Σ_i a_i φ_m(x_i) has as many numbers as a
row, its squared length is aᵀK_m a, and its products with φ_m(x) are the machine's scores.
Bandwidths and lengths are relative to the training rows.
"""

from dataclasses import dataclass

import numpy as np

from .._compile import run_blocks
from .conformal import Profile
from .pairs import Pairs
from .row_order import RowOrder
from .row_scales import Absolute, RowScales

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
        """``bandwidths`` are relative to typical distances of the rows ``X``, or ``Absolute``."""
        typical = scale = RowScales(X).squared_distance
        if per_feature:
            scale = _SQUARED_DIFFERENCE * float(X.var(axis=0, dtype=np.float64).mean()) or 1.0
        if isinstance(bandwidths, Absolute):
            gammas = np.asarray(bandwidths.value, dtype=np.float64)
        else:
            gammas = profile.gamma(np.asarray(bandwidths, dtype=np.float64), scale)
        rows, weight = RowOrder.of(X).choose(_SAMPLE, weight)
        # in double precision, so that an anchor is at no distance from its row
        sample = X[rows].astype(np.float64)
        return cls(profile, per_feature, gammas, exponent, typical, sample, weight)

    def bank(self, anchors):
        """A kernel for every anchor and γ, divided by length^exponent typical^(1 − exponent)."""
        bank = ConformalBank.of_all(anchors, self.gammas, self.profile, self.per_feature)
        bank.normalize(bank.traces(self.X, self.weight), self.exponent, self.typical)
        return bank


# Distances between this many numbers stay in a core's cache.
_TILE = 1 << 17
_MOST_COLUMNS = 2048
# A kernel whose mean squared length is below this share of the mean over kernels holds nothing.
_SMALLEST_TRACE = 1e-10


class ConformalBank:
    """Kernel m is centered on ``anchors[places[m]]``, fades with ``gammas[m]``, and is divided by
    ``divisors[m]``. All methods take the numbers ``which`` of some kernels.
    """

    def __init__(self, anchors, places, gammas, profile, per_feature=False, divisors=None):
        self.anchors, self.places = anchors, np.asarray(places)
        self.gammas = np.asarray(gammas, dtype=np.float64)
        self.profile, self.per_feature = profile, per_feature
        self.divisors = np.ones(len(self.gammas)) if divisors is None else divisors

    @classmethod
    def of_all(cls, anchors, gammas, profile, per_feature=False):
        """Every anchor with every γ."""
        places = np.repeat(np.arange(len(anchors)), len(gammas))
        return cls(anchors, places, np.tile(gammas, len(anchors)), profile, per_feature)

    def __len__(self):
        return len(self.gammas)

    @property
    def _depth(self):
        """Numbers that a gate has."""
        return self.anchors.shape[1] if self.per_feature else 1

    def take(self, which):
        """These kernels as a bank of their own."""
        used, places = np.unique(self.places[which], return_inverse=True)
        return ConformalBank(
            self.anchors[used], places, self.gammas[which], self.profile, self.per_feature,
            self.divisors[which],
        )  # fmt: skip

    def shifted(self, origin, dtype=None):
        """The same kernels seen from another origin, in the precision of the anchors or another."""
        anchors = (self.anchors - origin).astype(dtype or self.anchors.dtype)
        return ConformalBank(
            anchors, self.places, self.gammas, self.profile, self.per_feature, self.divisors
        )

    def joined(self, other):
        """The kernels of both."""
        return ConformalBank(
            np.concatenate([self.anchors, other.anchors]),
            np.concatenate([self.places, other.places + len(self.anchors)]),
            np.concatenate([self.gammas, other.gammas]), self.profile, self.per_feature,
            np.concatenate([self.divisors, other.divisors]),
        )  # fmt: skip

    def holds(self, other):
        """Which kernels of ``other`` are here, too."""
        own, others = ({*bank._names()} for bank in (self, other))
        shared = own & others
        return np.array([name in shared for name in other._names()], dtype=bool)

    def _names(self):
        # zero is added, since −0 is another string of bits
        anchors = [row.tobytes() for row in self.anchors.astype(np.float64) + 0.0]
        return [
            (anchors[place], gamma) for place, gamma in zip(self.places, self.gammas, strict=True)
        ]

    def anchors_of(self, which):
        return self.anchors[self.places[which]]

    def gates(self, X, which):
        """h_m(x_i), shape (n_rows, len(which)), with n_features in the end if ``per_feature``."""
        if len(which) == 0:
            return np.ones((len(X), 0, X.shape[1]) if self.per_feature else (len(X), 0), X.dtype)
        anchors = self.anchors_of(which).astype(X.dtype, copy=False)
        gammas = self.gammas[which].astype(X.dtype)
        if self.per_feature:
            squares = (X[:, None, :] - anchors) ** 2
            return self.profile.values(squares, gammas[:, None])
        return self.profile.values(Pairs(X, anchors).squared_distances, gammas)

    def gram(self, X, which, factors):
        """Σ_m factor_m ⟨φ_m(x_i), φ_m(x_j)⟩ / divisor_m.

        Whole-vector kernels need no features: ⟨x − c, z − c⟩ = ⟨x, z⟩ − ⟨x, c⟩ − ⟨c, z⟩ + ‖c‖²
        makes it a few products of matrices as wide as there are kernels.
        """
        roots = np.sqrt(factors / self.divisors[which]).astype(X.dtype)
        if self.per_feature:
            return self._gram_of_features(X, which, roots)
        gates = self.gates(X, which)
        anchors = self.anchors_of(which).astype(X.dtype, copy=False)
        gates *= roots
        center = X.mean(axis=0)
        X, anchors = X - center, anchors - center
        toward = X @ anchors.T
        toward *= -1.0
        toward += 0.5 * np.einsum("md,md->m", anchors, anchors)
        toward *= gates
        mixed = toward @ gates.T
        found = X @ X.T
        found *= gates @ gates.T
        found += mixed
        found += mixed.T
        return found

    def _gram_of_features(self, X, which, roots):
        """The same from explicit features, some kernels at a time."""
        found = np.zeros((len(X), len(X)), dtype=X.dtype)
        step = max(1, 4 * _TILE // max(1, X.size))
        for start in range(0, len(which), step):
            some = which[start : start + step]
            features = self.gates(X, some)
            features *= roots[start : start + step, None]
            features *= X[:, None, :] - self.anchors_of(some).astype(X.dtype, copy=False)
            features = features.reshape(len(X), -1)
            found += features @ features.T
        return found

    def collect(self, X, dual_coef, which, n_jobs=None):
        """Σ_i a_i φ_m(x_i), shape (len(which), n_features); divisors are not applied."""
        which, coef = np.asarray(which), dual_coef.astype(X.dtype)
        found = np.zeros((len(which), X.shape[1]))
        if len(X) == 0:
            return found
        center = X.mean(axis=0)  # sums of rows far from the origin would be rounding

        def add(places, left, right):
            rows, shares = X[left:right], coef[left:right]
            for members, away, gates in self._tile(rows, which[places]):
                gates *= shares if not self.per_feature else shares[:, None]
                if self.per_feature:
                    gates *= away
                    found[places[members]] += gates.sum(axis=1)
                else:
                    sums = gates.sum(axis=1)[:, None]
                    found[places[members]] += gates @ (rows - center) - sums * (away - center)

        self._each_tile(X, which, add, n_jobs)
        return found

    def traces(self, X, weight):
        """Weighted mean of ‖φ_m(x_i)‖² over rows, for all kernels."""
        weight = (weight / weight.sum()).astype(X.dtype)
        found, all_kernels = np.zeros(len(self)), np.arange(len(self))

        def add(places, left, right):
            rows, shares = X[left:right], weight[left:right]
            for members, away, gates in self._tile(rows, places):
                if self.per_feature:
                    gates *= away
                    gates *= gates
                    lengths = gates.sum(axis=2)
                else:
                    gates *= gates
                    lengths = gates * Pairs(away, rows).squared_distances
                found[places[members]] += lengths @ shares

        self._each_tile(X, all_kernels, add)
        return found

    def _each_tile(self, X, which, add, n_jobs=None):
        """Call ``add(places, left, right)`` for blocks of kernels and of rows.

        Kernels of one anchor come together: they share its distances.
        """
        order = np.argsort(self.places[which], kind="stable")
        width = max(1, min(_MOST_COLUMNS, len(X)))
        height = max(1, _TILE // (width * self._depth))

        def work(start, stop):
            for left in range(0, len(X), width):
                add(order[start:stop], left, min(left + width, len(X)))

        with np.errstate(under="ignore"):
            run_blocks(work, len(which), height, n_jobs)

    def _tile(self, X, which):
        """Yield (members, away, gates) for the kernels ``which`` of one γ each.

        ``gates`` has shape (len(members), n_rows) and ``away`` are the anchors; if
        ``per_feature``, both have a further axis and ``away`` are the differences x − c.
        """
        numbers, place = np.unique(self.places[which], return_inverse=True)
        anchors = self.anchors[numbers].astype(X.dtype, copy=False)
        if self.per_feature:
            away = X - anchors[:, None, :]
            squares = away**2
        else:
            away, squares = anchors, Pairs(anchors, X).squared_distances
        gammas = self.gammas[which]
        for gamma in np.unique(gammas):
            members = np.flatnonzero(gammas == gamma)
            at = place[members]
            yield members, away[at], self.profile.values(squares[at], X.dtype.type(gamma))

    def scores(self, X, feature_sums, which):
        """⟨φ_m(x_i), images_m⟩ / divisor_m, shape (len(which), n_rows)."""
        found = np.empty((len(which), len(X)), dtype=X.dtype)

        def fill(start, stop, scores):
            found[:, start:stop] = scores.T

        self._each_score(X, feature_sums, which, np.ones(len(which)), fill)
        return found

    def total_scores(self, X, feature_sums, which, factors, n_jobs=None):
        """Σ_m factor_m ⟨φ_m(x_i), images_m⟩ / divisor_m of every row."""
        found = np.empty(len(X))

        def fill(start, stop, scores):
            scores.sum(axis=1, dtype=np.float64, out=found[start:stop])

        self._each_score(X, feature_sums, which, factors, fill, n_jobs)
        return found

    def _each_score(self, X, feature_sums, which, factors, use, n_jobs=None):
        """Call ``use(start, stop, scores)`` with the scores of all kernels, block by block."""
        anchors = self.anchors_of(which).astype(X.dtype, copy=False)
        feature_sums = (feature_sums * (factors / self.divisors[which])[:, None]).astype(X.dtype)
        center = anchors.mean(axis=0) if len(which) else X.dtype.type(0)
        offsets = np.einsum("md,md->m", anchors - center, feature_sums)

        def work(start, stop):
            rows = X[start:stop]
            gates = self.gates(rows, which)
            if self.per_feature:
                gates *= rows[:, None, :] - anchors
                use(start, stop, np.einsum("imd,md->im", gates, feature_sums))
            else:
                local = (rows - center) @ feature_sums.T
                local -= offsets
                local *= gates
                use(start, stop, local)

        with np.errstate(under="ignore"):
            run_blocks(work, len(X), max(1, _TILE // max(1, len(which) * self._depth)), n_jobs)

    def quadratics(self, X, dual_coef, which, n_jobs=None):
        """aᵀK_m a."""
        feature_sums = self.collect(X, dual_coef, which, n_jobs)
        return np.einsum("md,md->m", feature_sums, feature_sums) / self.divisors[which]

    def normalize(self, traces, exponent, typical):
        """Divide kernels by trace^exponent · typical^(1 − exponent); empty ones become zero."""
        holds = traces > _SMALLEST_TRACE * traces.mean()
        safe = np.where(holds, traces, 1.0)
        self.divisors = np.where(holds, safe**exponent * typical ** (1.0 - exponent), np.inf)
