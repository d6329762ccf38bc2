"""Kernels chosen on some rows, weighed and certified on all."""

import numpy as np

from .active_set import SequentialSolution, solve_sequential
from .kernel_weights import solve_newton

# Steps of the weights on all rows: they start near the end.
_NEWTON_STEPS = 3


def solve_on_sample(learning, sample, *, tol, **options):
    """Minimize J of ``learning`` over the kernels that ``sample`` chooses.

    ``sample`` is a KernelLearning of the same kernels on some of the rows; ``options`` are those
    of ``solve_sequential``. The gap is over all kernels and all rows, and may exceed ``tol``.
    """
    chosen = solve_sequential(sample, tol=tol, **options)
    kept = np.flatnonzero(chosen.weights)
    start = chosen.weights[kept]
    now = solve_newton(learning, start, tol=tol, max_iter=_NEWTON_STEPS, which=kept)
    prices = learning.grams.quadratics(now.machine.dual_coef, learning.everyone)
    gap = now.value - learning.bound(now, prices.max())
    used = now.weights > 0.0
    weights = np.zeros(len(learning.everyone))
    weights[kept] = now.weights
    return SequentialSolution(now.take(used), weights, gap, chosen.n_rounds, chosen.history)
