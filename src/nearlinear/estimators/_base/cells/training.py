"""DC-Pred++ from rows in blocks: cells and landmarks of a sample, coefficients of all rows.

The problem of every cell and output is that in memory, convex and of all rows. A pass over the rows
gives its value and slope, and the first passes also its Hessian: the Gram matrix of the features
and Σ_i 2 C_i φ_i φ_iᵀ over the rows that are active, with a tenth of the others, so that steps do
not go too far. Each is a search of its own by L-BFGS from the last such Hessian
(``solvers/quasi_newton.py``), and starts from the solution for the sample.
"""

import numpy as np

from ....solvers.cells.newton import Factor
from ....solvers.quasi_newton import Search, advance, restored_search, search_state
from ....solvers.watch import Progress
from ..blocks.training import restore_all, states_of

_TOL, _MOST_PASSES = 1e-6, 20
_INACTIVE = 0.1
_WITH_HESSIAN = 3  # passes: afterwards few rows begin or cease to be active


class CellTraining:
    """Passes over all rows; ``start`` has the coefficients (size + 1, n_outputs) of each cell."""

    epoch = 0  # all passes are in one order

    def __init__(self, placed, start, units, C, active):
        self._placed, self._units, self._active, self._C = placed, units, active, C
        self._cells = [
            [_Cell(bumps, coef) for coef in coefs.T]
            for bumps, coefs in zip(placed.bumps, start, strict=True)
        ]
        self.n_passes = 0

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

    def take(self, X, targets, weight):
        """Add the sums of a block, whose weights have a mean of 1."""
        C, targets = self._C * weight, self._units.scaled(targets)
        for cell, mine in enumerate(self._placed.members_of(X)):
            if not len(mine):
                continue
            own, prices = self._placed.centered(X[mine], cell), C[mine]
            values = self._placed.bumps[cell].values(own)
            for one, some in zip(self._cells[cell], targets[mine].T, strict=True):
                has_hessian = self.n_passes < _WITH_HESSIAN
                one.take(own, values, some, prices, self._active, has_hessian)

    def end_epoch(self, watch):
        self.n_passes += 1
        for one in self._all:
            one.end_pass()
        watch(Progress(self.n_passes, self.objective, self.decrement, state=self.coefs))

    def state(self):
        arrays, plain = states_of(self._all)
        return arrays, plain | {"n_passes": self.n_passes}

    def restore(self, arrays, plain):
        self.n_passes = plain["n_passes"]
        restore_all(self._all, arrays, plain)


class _Cell:
    """One output of a cell."""

    def __init__(self, bumps, coef):
        self._bumps, self._gram = bumps, bumps.gram()
        self.search, self.decrement = Search.at(np.ascontiguousarray(coef)), np.inf
        self._hessian = self._factor = None
        self._forget()

    def _forget(self):
        self._loss, self._slope, self._moments = 0.0, np.zeros_like(self.search.point), None

    def take(self, X, values, targets, C, active, has_hessian):
        scores = self._bumps.sums(X, values, self.search.trial)
        is_active = active(targets, scores)
        errors = np.where(is_active, targets - scores, 0.0)
        self._loss += float(C @ errors**2)
        self._slope += self._bumps.correlations(X, values, -2.0 * C * errors)
        if has_hessian:
            curves = 2.0 * C * np.where(is_active, 1.0, _INACTIVE)
            found = self._bumps.second_moments(X, values, curves, np.float64)
            self._moments = found if self._moments is None else self._moments + found

    def end_pass(self):
        coef = self.search.trial
        pulled = self._gram @ coef[:-1]
        value, slope = self._loss + 0.5 * float(coef[:-1] @ pulled), self._slope
        slope[:-1] += pulled
        if self._factor is None or (self._moments is not None and self.search.takes(value)):
            self._take_hessian(self._moments)
        self.search = advance(self.search, value, slope, self._factor.solve)
        self.decrement = float(self.search.slope @ self._factor.solve(self.search.slope))
        self._forget()

    def _take_hessian(self, moments):
        if moments is None:  # a cell without a row
            moments = np.zeros((len(self.search.point),) * 2)
        self._hessian, matrix = moments, moments.copy()
        matrix[:-1, :-1] += self._gram
        # the bias is free: this only serves an output without an active row
        matrix[-1, -1] += max(1e-12 * matrix[-1, -1], 1e-12)
        self._factor = Factor(None, matrix)

    def state(self):
        arrays, plain = search_state(self.search)
        more = {"sums": self._slope, "hessian": self._hessian, "moments": self._moments}
        arrays |= {name: array for name, array in more.items() if array is not None}
        decrement = None if np.isinf(self.decrement) else self.decrement
        return arrays, plain | {"decrement": decrement, "loss": self._loss}

    def restore(self, arrays, plain):
        self.search = restored_search(arrays, plain)
        self._slope, self._loss = arrays["sums"], plain["loss"]
        self._moments = arrays.get("moments")
        self.decrement = np.inf if plain["decrement"] is None else plain["decrement"]
        if "hessian" in arrays:
            self._take_hessian(arrays["hessian"])
