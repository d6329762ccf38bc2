"""The best function of some Gaussians and their derivatives, by Newton's method.

Minimizes, for each output by itself, with Φ the features of ``Bumps`` and W their Gram matrix,

    ½ βᵀ W β + Σ_{i active} C_i (y_i − Φ_i β − b)².

Active are the rows that ``active(targets, scores)`` names: all of them for squared errors, those
with y f < 1 for the squared hinge, of which (y − f)² = (1 − y f)². The active rows rarely change
much between two steps, so the matrix of the system is corrected for those that do. Scores and
slopes are in float64.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, cholesky

_MOST_HALVINGS = 30
_SUFFICIENT_DECREASE = 1e-4
_RIDGES = 10.0 ** np.arange(-9, 1)  # on a unit diagonal, the first that serves


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
        self.bumps, self.X, self.C, self.dtype = bumps, X, C, dtype
        self.values, self.gram = bumps.values(X), bumps.gram()
        self._bordered = np.zeros((bumps.size + 1, bumps.size + 1))
        self._bordered[:-1, :-1] = self.gram
        # the bias is free: this only serves an output without an active row
        self._bordered[-1, -1] = 1e-12 * C.sum()
        self._of_all = None

    def norm(self, coef, other):
        return coef[:-1] @ (self.gram @ other[:-1])

    def scores(self, coef):
        return self.bumps.sums(self.X, self.values, coef)

    def gradient(self, coef, slopes):
        """Of ½ βᵀWβ + loss, for slopes of the loss in the scores."""
        found = self.bumps.correlations(self.X, self.values, slopes)
        found[:-1] += self.gram @ coef[:-1]
        return found

    def matrix(self, is_active, known=None):
        """W + 2 Φᵀ diag(C) Φ over the active rows; ``known`` are others and their matrix."""
        if is_active.all():
            if self._of_all is None:
                self._of_all = self._bordered + self._moments(is_active)
            return self._of_all
        if known is not None:
            before, matrix = known
            if np.count_nonzero(before != is_active) < np.count_nonzero(is_active):
                come, gone = is_active & ~before, before & ~is_active
                return matrix + self._moments(come) - self._moments(gone)
        return self._bordered + self._moments(is_active)

    def _moments(self, rows):
        if not rows.any():
            return 0.0
        X, values, C = self.X[rows], self.values[rows], self.C[rows]
        return self.bumps.second_moments(X, values, 2.0 * C, self.dtype)


def _solve_output(system, y, active, tol, max_iter):
    C, coef = system.C, np.zeros(system.bumps.size + 1)
    if np.all(y == y[0]):  # a constant has no loss and no norm
        coef[-1] = y[0]
        return CellSolution(coef, 0.0, 0.0, 0)
    scores = np.zeros(len(y))
    is_active, norm = active(y, scores), 0.0
    matrix = system.matrix(is_active)

    def loss(scores):
        return float(np.sum(C * np.where(active(y, scores), y - scores, 0.0) ** 2))

    objective, n_iter = loss(scores), 0
    while True:
        slopes = np.where(is_active, -2.0 * C * (y - scores), 0.0)
        gradient = system.gradient(coef, slopes)
        direction = -_solved(matrix, gradient)
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
        before, is_active = is_active, active(y, scores)
        if np.any(before != is_active):
            matrix = system.matrix(is_active, (before, matrix))
    return CellSolution(coef, objective, max(decrement, 0.0), n_iter)


def _solved(matrix, right):
    """The solution of a system that is positive definite up to rounding."""
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(matrix), np.finfo(np.float64).tiny))
    scaled = matrix * scale * scale[:, None]
    for ridge in _RIDGES:
        try:
            lower = cholesky(scaled + ridge * np.eye(len(scaled)), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        return scale * cho_solve((lower, True), scale * right, check_finite=False)
    raise np.linalg.LinAlgError("the rows' numbers are too large")
