"""The few kernels of a mixture that are worth keeping."""

import numpy as np

from .kernel_weights import solve_newton

# A weight below this share of the largest is rounding.
_NEGLIGIBLE = 1e-3


def keep_largest(learning, found, max_kernels, tol):
    """An evaluation with at most ``max_kernels`` kernels, weighed anew, and their numbers.

    ``found`` is a SequentialSolution; ``max_kernels`` None leaves out only negligible kernels.
    """
    weights = found.weights
    order = np.argsort(-weights, kind="stable")[:max_kernels]
    kept = np.sort(order[weights[order] > _NEGLIGIBLE * weights.max()])
    if np.count_nonzero(weights) == len(kept):
        return found.evaluation, kept
    start = weights[kept] / weights[kept].sum()
    learning.latest = found.evaluation.machine.dual_coef
    now = solve_newton(learning, start, tol=tol, which=kept)
    used = now.weights > 0.0
    return now.take(used), kept[used]
