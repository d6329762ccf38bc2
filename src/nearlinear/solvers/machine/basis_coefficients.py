"""Coefficients of a Gaussian kernel expansion over a fixed basis, by Newton's method.

Minimizes, for each output c by itself,

    ½ β_cᵀ K_ZZ β_c + Σ_i C_i max(0, 1 − y_ic f_c(x_i))²,   f_c(x) = Σ_b β_bc k(z_b, x) + b_c,

with k(z, x) = exp(−gamma ‖z − x‖²). Rows are read in blocks and kernel values never kept: memory
does not grow with their number. All sums are in float64.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import row_norms

_BLOCK = 2048
# Directions of the basis below this share of the largest eigenvalue of K_ZZ are rounding noise.
_SMALLEST_EIGENVALUE = 1e-10
_MOST_HALVINGS = 20
_SUFFICIENT_DECREASE = 1e-4


@dataclass(frozen=True)
class TargetRows:
    """Rows (dense or CSR), their ±1 targets, one column per output, and the price of each row."""

    X: np.ndarray
    targets: np.ndarray
    C: np.ndarray

    def blocks(self):
        """Blocks of rows, targets and prices in float64."""
        for start in range(0, self.X.shape[0], _BLOCK):
            part = slice(start, start + _BLOCK)
            yield (
                self.X[part].astype(np.float64, copy=False),
                self.targets[part].astype(np.float64, copy=False),
                self.C[part, None].astype(np.float64, copy=False),
            )


@dataclass(frozen=True)
class Coefficients:
    """The optimum for a fixed basis.

    ``decrement`` is the squared Newton decrement gᵀH⁻¹g summed over the outputs: half of it is
    what the quadratic model has left to gain.
    """

    coef: np.ndarray
    biases: np.ndarray
    objective: float
    decrement: float
    n_iter: int


def gaussian(X, basis, gamma):
    """k(x, z) for all rows, dense or CSR, and all basis vectors."""
    values = X @ basis.T
    values *= 2.0
    values -= row_norms(X, squared=True)[:, None]
    values -= row_norms(basis, squared=True)
    values *= gamma
    np.minimum(values, 0.0, out=values)
    return np.exp(values, out=values)


def newton_memory(n_features, n_basis, n_outputs):
    """Bytes that ``solve_coefficients`` needs beside the rows."""
    of_block = _BLOCK * (5 * n_basis + 2 * n_features + 8 * n_outputs)
    of_basis = (4 * n_outputs + 6) * (n_basis + 1) ** 2
    return 8 * (of_block + of_basis)


def solve_coefficients(rows, basis, gamma, *, tol, max_iter=50, start=None):
    """Newton steps until the squared decrement is below ``tol`` × objective.

    ``start`` is a function to begin from: its values at the basis without the bias, and the bias.
    """
    whitener = _whitener(gaussian(basis, basis, gamma))
    point = np.zeros((whitener.shape[1], rows.targets.shape[1]))
    if start is not None:
        point[:-1] = whitener[:-1, :-1].T @ start[0]
        point[-1] = start[1]
    # The bias is free; its tiny ridge only serves an output without a row inside the margin.
    ridge = np.eye(len(point))
    ridge[-1, -1] = 1e-12 * rows.C.sum()

    def evaluate(point):
        values, gradient, hessians = _loss_derivatives(rows, basis, gamma, whitener @ point)
        values += 0.5 * (point[:-1] ** 2).sum(axis=0)
        gradient = whitener.T @ gradient
        gradient[:-1] += point[:-1]
        return values, gradient, _regular(whitener.T @ hessians @ whitener + ridge)

    values, gradient, hessians = evaluate(point)
    n_iter = 0
    while True:
        direction = -np.linalg.solve(hessians, gradient.T[:, :, None])[:, :, 0].T
        decrement = -(direction * gradient).sum(axis=0)
        if decrement.sum() <= tol * values.sum() or n_iter == max_iter:
            break
        found = _descend(evaluate, point, values, direction, decrement)
        if found is None:  # nothing left but rounding
            break
        point, (values, gradient, hessians) = found
        n_iter += 1
    model = whitener @ point
    return Coefficients(model[:-1], model[-1], float(values.sum()), float(decrement.sum()), n_iter)


def _regular(hessians):
    """The same, or with a ridge that rounding does not hide where C is too large for that of 1."""
    least = 1e-15 * np.trace(hessians, axis1=1, axis2=2)
    return hessians + np.where(least > 1.0, least, 0.0)[:, None, None] * np.eye(hessians.shape[-1])


def _whitener(gram):
    """W with Wᵀ K_ZZ W = 1 on the directions in which the basis is independent; the bias stays."""
    eigenvalues, directions = np.linalg.eigh(gram)
    kept = eigenvalues > _SMALLEST_EIGENVALUE * eigenvalues[-1]
    whitener = np.zeros((len(gram) + 1, np.count_nonzero(kept) + 1))
    whitener[:-1, :-1] = directions[:, kept] / np.sqrt(eigenvalues[kept])
    whitener[-1, -1] = 1.0
    return whitener


def _descend(evaluate, point, values, direction, decrement):
    """Step of each output, halved until its objective falls; None if one never does."""
    step = np.ones(len(values))
    for _ in range(_MOST_HALVINGS):
        candidate = point + step * direction
        state = evaluate(candidate)
        too_long = state[0] > values - _SUFFICIENT_DECREASE * step * decrement
        too_long &= decrement > 1e-14 * values  # below that the comparison is rounding
        if not too_long.any():
            return candidate, state
        step[too_long] *= 0.5
    return None


def _loss_derivatives(rows, basis, gamma, model):
    """Loss of each output, its gradient and its Hessians in (coefficients, bias)."""
    n_bordered, n_outputs = model.shape
    values = np.zeros(n_outputs)
    gradient = np.zeros((n_bordered, n_outputs))
    hessians = np.zeros((n_outputs, n_bordered, n_bordered))
    for X, targets, C in rows.blocks():
        kernel = gaussian(X, basis, gamma)
        slack = np.maximum(0.0, 1.0 - targets * (kernel @ model[:-1] + model[-1]))
        slopes = -2.0 * C * targets * slack
        values += (C * slack**2).sum(axis=0)
        gradient[:-1] += kernel.T @ slopes
        gradient[-1] += slopes.sum(axis=0)
        for c in range(n_outputs):
            inside = np.flatnonzero(slack[:, c])
            bordered = np.column_stack([kernel[inside], np.ones(len(inside))])
            bordered *= np.sqrt(2.0 * C[inside])
            hessians[c] += bordered.T @ bordered
    return values, gradient, hessians
