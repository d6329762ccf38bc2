"""Sparse kernel SVM: a Gaussian kernel expansion whose basis vectors and width are learned.

Minimizes, over basis Z, coefficients β, biases b and log gamma,

    F = ½ Σ_c β_cᵀ K_ZZ β_c + Σ_i C_i Σ_c max(0, 1 − y_ic f_c(x_i))²,   f_c(x) = β_cᵀ k(Z, x) + b_c.

The best coefficients of a basis are found exactly (``basis_coefficients``); what is left is a
smooth function of Z and log gamma, whose gradient is ∂F at those coefficients. L-BFGS minimizes it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.extmath import row_norms

from .basis_coefficients import (
    Coefficients,
    TargetRows,
    gaussian,
    newton_memory,
    solve_coefficients,
)

_MEMORY_OF_STEPS = 20
_INNER_TOL, _FINAL_TOL = 1e-6, 1e-9


@dataclass(frozen=True)
class LearnedBasis:
    """A kernel expansion and its certificates.

    ``gradient_norm`` is ‖∂F‖ / F over the basis in units of 1/√gamma and log gamma;
    ``decrement`` is the squared Newton decrement of the coefficients, over F.
    ``history`` holds F at the start and after each iteration.
    """

    basis: np.ndarray
    coef: np.ndarray
    biases: np.ndarray
    gamma: float
    objective: float
    gradient_norm: float
    decrement: float
    n_iter: int
    history: tuple[float, ...]


def solve_learned_basis(X, targets, C, basis, gamma, *, tol, max_iter):
    """Learn ``basis`` from where it is; ``targets`` is a matrix of ±1, ``C`` has one entry per row.

    Stops after ``max_iter`` iterations or at a ``gradient_norm`` of ``tol``; with ``max_iter=0``
    the basis stays. Results are in float64, whatever the rows are.
    """
    rows = TargetRows(X, targets, C)
    path = _Path(rows, basis.astype(np.float64), float(gamma))
    history = [path.best.fitted.objective]

    def note(intermediate_result):
        history.append(path.scale * float(intermediate_result.fun))
        if path.best.gradient_norm() <= tol:
            raise StopIteration

    if max_iter > 0 and path.best.gradient_norm() > tol:
        minimize(
            path.evaluate,
            path.start,
            jac=True,
            method="L-BFGS-B",
            callback=note,
            options={"maxiter": max_iter, "maxcor": _MEMORY_OF_STEPS, "ftol": 1e-12, "gtol": 0.0},
        )
    final = path.solve(path.best.basis, path.best.gamma, _FINAL_TOL)
    return LearnedBasis(
        final.basis,
        final.fitted.coef,
        final.fitted.biases,
        final.gamma,
        final.fitted.objective,
        final.gradient_norm(),
        final.fitted.decrement / max(final.fitted.objective, np.finfo(float).tiny),
        len(history) - 1,
        tuple(history),
    )


def learning_memory(n_features, n_basis, n_outputs):
    """Bytes that ``solve_learned_basis`` needs beside the rows, however many these are."""
    steps = 8 * (2 * _MEMORY_OF_STEPS + 10) * n_basis * n_features
    return newton_memory(n_features, n_basis, n_outputs) + steps


@dataclass(frozen=True)
class _Visited:
    """A basis with its best coefficients and the slopes of F there."""

    basis: np.ndarray
    gamma: float
    fitted: Coefficients
    basis_slopes: np.ndarray
    width_slope: float

    def gradient_norm(self):
        squares = np.sum(self.basis_slopes**2) / self.gamma + self.width_slope**2
        return float(np.sqrt(squares)) / max(self.fitted.objective, np.finfo(float).tiny)


class _Path:
    """F / F(start) as a function of one vector: the basis in units of 1/√gamma, then log gamma."""

    def __init__(self, rows, basis, gamma):
        self._rows, self._shape = rows, basis.shape
        self._latest = None
        self.best = self.solve(basis, gamma, _INNER_TOL)
        self.scale = max(self.best.fitted.objective, np.finfo(float).tiny)
        self._unit = 1.0 / np.sqrt(gamma)
        self._log_gamma = np.log(gamma)
        self.start = np.append(basis.ravel() / self._unit, 0.0)

    def evaluate(self, flat):
        basis = self._unit * flat[:-1].reshape(self._shape)
        gamma = float(np.exp(self._log_gamma + flat[-1]))
        here = self.solve(basis, gamma, _INNER_TOL)
        if here.fitted.objective < self.best.fitted.objective:
            self.best = here
        gradient = np.append(self._unit * here.basis_slopes.ravel(), here.width_slope)
        return here.fitted.objective / self.scale, gradient / self.scale

    def solve(self, basis, gamma, tol):
        """The best coefficients, begun from the latest function interpolated at this basis."""
        start, latest = None, self._latest
        if latest is not None:
            values = gaussian(basis, latest.basis, latest.gamma) @ latest.fitted.coef
            start = values, latest.fitted.biases
        fitted = solve_coefficients(self._rows, basis, gamma, tol=tol, start=start)
        slopes, width_slope = basis_slopes(self._rows, basis, gamma, fitted.coef, fitted.biases)
        self._latest = _Visited(basis, gamma, fitted, slopes, width_slope)
        return self._latest


def basis_slopes(rows, basis, gamma, coef, biases):
    """∂F/∂Z and ∂F/∂log gamma with the coefficients held fixed."""
    forces = coef @ coef.T * gaussian(basis, basis, gamma)
    slopes, width_slope = _moment_slopes(basis, forces, basis)
    width_slope *= 0.5  # each pair of basis vectors was met twice; either may move
    for X, targets, C in rows.blocks():
        forces = gaussian(X, basis, gamma)
        slack = np.maximum(0.0, 1.0 - targets * (forces @ coef + biases))
        forces *= (-2.0 * C * targets * slack) @ coef.T
        block_slopes, block_width_slope = _moment_slopes(X, forces, basis)
        slopes += block_slopes
        width_slope += block_width_slope
    return 2.0 * gamma * slopes, float(gamma * width_slope)


def _moment_slopes(points, forces, basis):
    """Σ_i a_ib (x_i − z_b) for each z_b, and −Σ_ib a_ib ‖x_i − z_b‖²."""
    sums, masses = (points.T @ forces).T, forces.sum(axis=0)
    squares = row_norms(points, squared=True) @ forces.sum(axis=1)
    squares += row_norms(basis, squared=True) @ masses
    return sums - masses[:, None] * basis, 2.0 * np.sum(sums * basis) - squares
