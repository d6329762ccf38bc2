"""Where the landmarks of a cell stand."""

import numpy as np

from ...gates.clustering import fit_anchors
from ...kernels.rows import ComputedRows
from ...kernels.standard import Gaussian
from ..machine.bias import FreeBias
from ..machine.problem import DualProblem
from ..machine.working_sets import solve_kernel_machine

_MOST_ROWS = 4000  # of a kernel machine that says which rows matter
_TOL, _CACHE = 1e-2, 1 << 26


def machine_memory(n_features):
    """Bytes that the machine of ``place_by_machine`` takes."""
    return 2 * _CACHE + 16 * _MOST_ROWS * n_features


def place_landmarks(X, weight, count, rng):
    """Centers of k-means; the distinct rows where there are not more of them."""
    if len(X) > count:
        X = fit_anchors(X, count, rng, weight)
    return np.unique(X, axis=0)


def place_by_machine(X, targets, C, count, gamma, rng):
    """Centers of k-means over the support vectors of a kernel machine, by their a²."""
    if len(X) > _MOST_ROWS:
        chosen = np.sort(rng.choice(len(X), _MOST_ROWS, replace=False))
        X, targets, C = X[chosen], targets[chosen], C[chosen]
    squares = np.zeros(len(X))
    for y in targets.T:
        if np.any(y != y[0]):
            rows = ComputedRows(Gaussian(gamma), X, _CACHE)
            machine = solve_kernel_machine(rows, DualProblem.of_signs(y, C), FreeBias(), tol=_TOL)
            squares += machine.dual_coef**2 / C  # of C copies, each has its share of a
    used = np.flatnonzero(squares > 0.0)
    if len(used) == 0:  # a sample of one class
        return place_landmarks(X, C, count, rng)
    return place_landmarks(X[used], squares[used], count, rng)
