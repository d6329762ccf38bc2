"""Kernels chosen on some rows, weighed and certified on all."""

import numpy as np

from .active_set import SequentialSolution, solve_sequential
from .kernel_weights import solve_newton

# Steps of the weights on all rows: they start near the end.
_NEWTON_STEPS = 3
# A sample's optimum is not that of all rows: no use in being more exact.
_SAMPLE_TOL = 0.05
# How exactly a machine is solved that an interruption leaves behind.
_LOOSE = 0.1


def solve_on_sample(learning, sample, *, tol, **options):
    """Minimize J of ``learning`` over the kernels that ``sample`` chooses.

    ``sample`` is a KernelLearning of the same kernels on some of the rows; ``options`` are those
    of ``solve_sequential``. The gap is over all kernels and all rows, and may exceed ``tol``.
    """
    try:
        chosen = solve_sequential(sample, tol=max(tol, _SAMPLE_TOL), **options)
    except KeyboardInterrupt:
        if sample.last is not None:  # leave something behind that holds for all rows
            found, which = sample.last
            learning.evaluate(found.weights, tol=_LOOSE, which=which)
        raise
    kept = np.flatnonzero(chosen.weights)
    start = chosen.weights[kept]
    now = solve_newton(learning, start, tol=tol, max_iter=_NEWTON_STEPS, which=kept)
    # steps that end early may leave a loose machine
    now = learning.evaluate(now.weights, tol=0.5 * tol, which=kept)
    prices = learning.grams.quadratics(now.machine.dual_coef, learning.everyone)
    gap = now.value - learning.bound(now, prices.max())
    used = now.weights > 0.0
    weights = np.zeros(len(learning.everyone))
    weights[kept] = now.weights
    return SequentialSolution(now.take(used), weights, gap, chosen.n_rounds, chosen.history)
