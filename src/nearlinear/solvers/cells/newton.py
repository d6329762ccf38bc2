"""The best function of some Gaussians and their derivatives, by Newton's method.

Minimizes, for each output by itself, with Φ the features of ``Bumps`` and W their Gram matrix,

    ½ βᵀ W β + Σ_{i active} C_i (y_i − Φ_i β − b)².

Active are the rows that ``active(targets, scores)`` names: all of them for squared errors, those
with y f < 1 for the squared hinge, of which (y − f)² = (1 − y f)². The active rows rarely change
much between two steps, so the matrix of the system is corrected for those that do. It may be
rounded or a little out of date: conjugate gradients on the exact system mend that, at a few
products with the rows. Scores and slopes are in float64.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

_MOST_HALVINGS = 30
_SUFFICIENT_DECREASE = 1e-4
_RIDGES = 10.0 ** np.arange(-9, 1)  # on a unit diagonal, the first that serves
_SMALL_CHANGE = 0.1  # share of the active rows that may differ from those of a matrix in use
_RESIDUAL, _MOST_PRODUCTS = 1e-3, 60


@dataclass(frozen=True)
class CellSolution:
    """Coefficients, shape (size + 1, n_outputs), and what they are worth.

    ``decrement`` is the squared Newton decrement gᵀH⁻¹g, summed over the outputs: half of it is
    what the quadratic model has left to gain.
    """

    coef: np.ndarray
    objective: float
    decrement: float
    n_iter: int


def inside_margin(targets, scores):
    return targets * scores < 1.0


def every_row(targets, scores):
    return np.ones(len(targets), dtype=bool)


def constant_cell(values):
    """The solution of a cell in which every output is the same for all rows: it needs no bumps."""
    return CellSolution(values[None], 0.0, 0.0, 0)


def solving_memory(size):
    """Bytes that a solve takes beside what it has for each row."""
    return 8 * 6 * (size + 1) ** 2


def solve_cell(bumps, X, targets, C, active, *, dtype, tol=1e-9, max_iter=50):
    """``X`` and ``targets`` in float64; products of features are of type ``dtype``."""
    system = _System(bumps, X, C, dtype)
    found = [_solve_output(system, y, active, tol, max_iter) for y in targets.T]
    return CellSolution(
        np.stack([one.coef for one in found], axis=1),
        sum(one.objective for one in found),
        sum(one.decrement for one in found),
        max(one.n_iter for one in found),
    )


class _System:
    """What the outputs share: features, their Gram matrix and the matrix where all are active."""

    def __init__(self, bumps, X, C, dtype):
        self.bumps, self.X, self.C, self._dtype = bumps, X, C, dtype
        self._values, self._gram = bumps.values(X), bumps.gram()
        # the bias is free: this only serves an output without an active row
        self._bias_ridge = 1e-12 * C.sum()
        self._of_all = None

    def norm(self, coef, other):
        return coef[:-1] @ (self._gram @ other[:-1])

    def scores(self, coef):
        return self.bumps.sums(self.X, self._values, coef)

    def gradient(self, coef, slopes):
        """Of ½ βᵀWβ + loss, for slopes of the loss in the scores."""
        return self._plus_gram(self.bumps.correlations(self.X, self._values, slopes), coef)

    def _plus_gram(self, found, coef):
        found[:-1] += self._gram @ coef[:-1]
        return found

    def product(self, is_active):
        """The function v → (W + 2 Φᵀ diag(C) Φ) v over the active rows, in float64."""
        X, values, C = self.X[is_active], self._values[is_active], 2.0 * self.C[is_active]

        def times(v):
            slopes = C * self.bumps.sums(X, values, v)
            found = self._plus_gram(self.bumps.correlations(X, values, slopes), v)
            found[-1] += self._bias_ridge * v[-1]
            return found

        return times

    def factor(self, is_active, known=None):
        """The same matrix, about, and its inverse; ``known`` is what was found for other rows."""
        if is_active.all():
            if self._of_all is None:
                matrix = self._moments(is_active)
                self._of_all = Factor(is_active, self._with_gram(matrix))
            return self._of_all
        n_active = np.count_nonzero(is_active)
        if known is None:
            return Factor(is_active, self._with_gram(self._moments(is_active)))
        changed = known.is_active != is_active
        n_changed = np.count_nonzero(changed)
        if n_changed <= _SMALL_CHANGE * n_active:
            return known
        if n_changed >= n_active:
            return self.factor(is_active)
        come, gone = changed & is_active, changed & known.is_active
        return Factor(is_active, known.matrix + self._moments(come) - self._moments(gone))

    def _with_gram(self, moments):
        moments[:-1, :-1] += self._gram
        moments[-1, -1] += self._bias_ridge
        return moments

    def _moments(self, rows):
        X, values, C = self.X[rows], self._values[rows], self.C[rows]
        return self.bumps.second_moments(X, values, 2.0 * C, self._dtype)


class Factor:
    """A matrix that is positive definite up to rounding, and what comes close to its inverse."""

    def __init__(self, is_active, matrix):
        self.is_active, self.matrix = is_active, matrix
        diagonal = np.maximum(np.diagonal(matrix), np.finfo(np.float64).tiny)
        self._scale = 1.0 / np.sqrt(diagonal)
        for ridge in _RIDGES:
            scaled = matrix * self._scale
            scaled *= self._scale[:, None]
            scaled[np.diag_indices_from(scaled)] += ridge
            try:
                self._lower = cholesky(scaled, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                continue
            return
        raise np.linalg.LinAlgError("the rows' numbers are too large")

    def solve(self, right):
        scaled = self._scale * right
        return self._scale * cho_solve((self._lower, True), scaled, check_finite=False)


def _solve_output(system, y, active, tol, max_iter):
    C, coef = system.C, np.zeros(system.bumps.size + 1)
    if np.all(y == y[0]):  # a constant has no loss and no norm
        coef[-1] = y[0]
        return CellSolution(coef, 0.0, 0.0, 0)
    scores, factor, norm = np.zeros(len(y)), None, 0.0

    def loss(scores):
        return float(np.sum(C * np.where(active(y, scores), y - scores, 0.0) ** 2))

    objective, n_iter = loss(scores), 0
    while True:
        is_active = active(y, scores)
        gradient = system.gradient(coef, np.where(is_active, -2.0 * C * (y - scores), 0.0))
        factor = system.factor(is_active, factor)
        direction = _conjugate_gradients(system.product(is_active), -gradient, factor.solve)
        decrement = float(-gradient @ direction)
        if decrement <= tol * objective or n_iter == max_iter:
            break
        along, moved = system.norm(coef, direction), system.scores(direction)
        own = system.norm(direction, direction)
        step = 1.0
        for _ in range(_MOST_HALVINGS):
            height = loss(scores + step * moved) + 0.5 * norm + step * (along + 0.5 * step * own)
            if height <= objective - _SUFFICIENT_DECREASE * step * decrement:
                break
            step *= 0.5
        else:  # nothing left but rounding
            break
        coef, scores = coef + step * direction, scores + step * moved
        norm += 2.0 * step * along + step**2 * own
        objective, n_iter = height, n_iter + 1
    return CellSolution(coef, objective, max(decrement, 0.0), n_iter)


def _conjugate_gradients(product, right, nearly_solved):
    """The solution of a system, of which ``nearly_solved`` gives almost that."""
    found, residual = np.zeros_like(right), right
    better = nearly_solved(residual)
    direction, size = better, residual @ better
    enough = _RESIDUAL**2 * size
    for _ in range(_MOST_PRODUCTS):
        if not size > enough:
            break
        image = product(direction)
        curvature = direction @ image
        if not curvature > 0.0:  # rounding
            break
        step = size / curvature
        found = found + step * direction
        residual = residual - step * image
        better = nearly_solved(residual)
        size, before = residual @ better, size
        direction = better + size / before * direction
    return found
