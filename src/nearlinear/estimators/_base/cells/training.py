"""DC-Pred++ from rows in blocks: cells and landmarks of a sample, coefficients of all rows.

The problem of every cell and output is that in memory, convex and of all rows. A pass over the rows
gives its value and slope, and the first passes also its Hessian: the Gram matrix of the features
and Σ_i 2 C_i φ_i φ_iᵀ over the rows that are active, with a tenth of the others, so that steps do
not go too far. Each is a search of its own by L-BFGS from the last such Hessian
(``solvers/quasi_newton.py``), and starts from the solution for the sample.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ....solvers.cells.newton import Factor
from ....solvers.quasi_newton import Search, advance, restored_search, search_state
from ....solvers.watch import Progress
from ..blocks.training import restore_all, states_of
from .placed import PlacedCells

_TOL, _MOST_PASSES = 1e-6, 20
_INACTIVE = 0.1
_WITH_HESSIAN = 3  # passes: afterwards few rows begin or cease to be active
COPIES = 6  # of all Hessians, at most, that there are at once


@dataclass(frozen=True)
class CellSums:
    """Sums over some rows: of every problem the loss, and one after another slopes and moments.

    A problem is an output of a cell; ``moments`` is None without Hessians.
    """

    losses: np.ndarray
    slopes: np.ndarray
    moments: np.ndarray | None


def add_sums(one, other):
    """The sums of two blocks together."""
    moments = None if one.moments is None else one.moments + other.moments
    return CellSums(one.losses + other.losses, one.slopes + other.slopes, moments)


@dataclass(frozen=True)
class CellPass:
    """The sums of a block at coefficients; weights of the block have a mean of 1."""

    placed: PlacedCells
    units: object
    C: float
    active: object
    n_outputs: int
    plus = staticmethod(add_sums)

    @property
    def bounds(self):
        """Where the slope of each problem begins and ends, and where its moments do."""
        sizes = np.repeat([bumps.size + 1 for bumps in self.placed.bumps], self.n_outputs)
        ends = (np.concatenate([[0], np.cumsum(sizes**power)]).tolist() for power in (1, 2))
        return tuple([slice(*pair) for pair in pairwise(one)] for one in ends)

    def __call__(self, asked, X, targets, weight):
        (coefs, has_hessian), (ends, square_ends) = asked, self.bounds
        losses, slopes = np.zeros(len(ends)), np.zeros(ends[-1].stop)
        moments = np.zeros(square_ends[-1].stop) if has_hessian else None
        C, targets = self.C * weight, self.units.scaled(targets)
        for cell, mine in enumerate(self.placed.members_of(X)):
            if not len(mine):
                continue
            bumps, own = self.placed.bumps[cell], self.placed.centered(X[mine], cell)
            values, prices = bumps.values(own), C[mine]
            for output, some in enumerate(targets[mine].T):
                problem = cell * self.n_outputs + output
                scores = bumps.sums(own, values, coefs[ends[problem]])
                is_active = self.active(some, scores)
                errors = np.where(is_active, some - scores, 0.0)
                losses[problem] = float(prices @ errors**2)
                slopes[ends[problem]] = bumps.correlations(own, values, -2.0 * prices * errors)
                if has_hessian:
                    curves = 2.0 * prices * np.where(is_active, 1.0, _INACTIVE)
                    found = bumps.second_moments(own, values, curves, np.float64)
                    moments[square_ends[problem]] = found.ravel()
        return CellSums(losses, slopes, moments)


class CellTraining:
    """Passes over all rows; ``start`` has the coefficients (size + 1, n_outputs) of each cell."""

    epoch = 0  # all passes are in one order

    def __init__(self, placed, start, units, C, active):
        n_outputs = start[0].shape[1]
        # members are rows of the sample, which no pass asks for
        self.statistics = CellPass(replace(placed, members=[]), units, C, active, n_outputs)
        self._cells = [
            [_Cell(bumps, coef) for coef in coefs.T]
            for bumps, coefs in zip(placed.bumps, start, strict=True)
        ]
        self._sums, self.n_passes = None, 0

    @property
    def _all(self):
        return [one for outputs in self._cells for one in outputs]

    @property
    def objective(self):
        return float(sum(one.search.value for one in self._all))

    @property
    def decrement(self):
        """gᵀH⁻¹g of all problems: half of it is about what is left to gain."""
        return float(sum(one.decrement for one in self._all))

    @property
    def is_over(self):
        is_near = self.n_passes > 0 and self.decrement <= _TOL * self.objective
        return is_near or self.n_passes >= _MOST_PASSES

    def model(self):
        return self.coefs

    @property
    def coefs(self):
        return [np.stack([one.search.point for one in cell], axis=1) for cell in self._cells]

    @property
    def asked(self):
        """What the statistics of a pass are of: coefficients, and whether it has Hessians."""
        coefs = np.concatenate([one.search.trial for one in self._all])
        return coefs, self.n_passes < _WITH_HESSIAN

    def take(self, X, targets, weight):
        """Add the sums of a block, whose weights have a mean of 1."""
        self.add(self.statistics(self.asked, X, targets, weight))

    def add(self, sums):
        self._sums = sums if self._sums is None else add_sums(self._sums, sums)

    def end_epoch(self, watch):
        sums, self._sums = self._sums, None
        self.n_passes += 1
        places = zip(self._all, sums.losses.tolist(), *self.statistics.bounds, strict=True)
        for one, loss, own, square in places:
            moments = None if sums.moments is None else sums.moments[square]
            one.end_pass(loss, sums.slopes[own], moments)
        watch(Progress(self.n_passes, self.objective, self.decrement, state=self.coefs))

    def state(self):
        arrays, plain = states_of(self._all)
        sums = {} if self._sums is None else vars(self._sums)
        arrays |= {f"sums.{name}": one for name, one in sums.items() if one is not None}
        return arrays, plain | {"n_passes": self.n_passes}

    def restore(self, arrays, plain):
        self.n_passes = plain["n_passes"]
        restore_all(self._all, arrays, plain)
        found = [arrays.get(f"sums.{name}") for name in ("losses", "slopes", "moments")]
        self._sums = None if found[0] is None else CellSums(*found)


class _Cell:
    """One output of a cell."""

    def __init__(self, bumps, coef):
        self._gram = bumps.gram()
        self.search, self.decrement = Search.at(np.ascontiguousarray(coef)), np.inf
        self._hessian = self._factor = None

    def end_pass(self, loss, slope, moments):
        """Go on from the sums of all rows; ``moments`` are in one line, or None."""
        coef = self.search.trial
        pulled = self._gram @ coef[:-1]
        value, slope = loss + 0.5 * float(coef[:-1] @ pulled), slope.copy()
        slope[:-1] += pulled
        if self._factor is None or (moments is not None and self.search.takes(value)):
            self._take_hessian(moments.reshape(len(coef), len(coef)).copy())
        self.search = advance(self.search, value, slope, self._factor.solve)
        self.decrement = float(self.search.slope @ self._factor.solve(self.search.slope))

    def _take_hessian(self, moments):
        self._hessian, matrix = moments, moments.copy()
        matrix[:-1, :-1] += self._gram
        # the bias is free: this only serves an output without an active row
        matrix[-1, -1] += max(1e-12 * matrix[-1, -1], 1e-12)
        self._factor = Factor(None, matrix)

    def state(self):
        arrays, plain = search_state(self.search)
        if self._hessian is not None:
            arrays["hessian"] = self._hessian
        return arrays, plain | {"decrement": None if np.isinf(self.decrement) else self.decrement}

    def restore(self, arrays, plain):
        self.search = restored_search(arrays, plain)
        self.decrement = np.inf if plain["decrement"] is None else plain["decrement"]
        if "hessian" in arrays:
            self._take_hessian(arrays["hessian"])
