"""A machine's dual ascended for a fixed number of epochs, one coordinate after another.

Algorithm 1 of Picard (2024), SDCA for solving SVM, with its misprints mended: all outputs follow a
step, by the label of the row that was stepped on. What has not converged after the last epoch stays
so: the certificate says how far it is from the optimum.
"""

import numpy as np

from .problem import MachineSolution, certificate
from .steps import random_pass

# Rows whose matrix is held at once: those outside hear of their steps afterwards, which is exact.
_TOGETHER = 256


def ascend_by_epochs(source, problem, bias, *, n_epochs, seed, tol=0.0, max_iter=None, start=None):
    """From zero, ``n_epochs`` over all rows in random order; fewer if an epoch changes nothing.

    ``source`` and ``bias`` are those of ``solve_kernel_machine``, and the bias is not free.
    ``tol``, ``max_iter`` and ``start`` have no part here: machines begin at zero and end when their
    epochs are over.
    """
    rng, n_rows = np.random.RandomState(seed), len(problem)
    coef, slack = np.zeros(n_rows), problem.targets.copy()
    source.restrict(np.arange(n_rows))
    n_done, before = 0, None
    while n_done < n_epochs and not np.array_equal(before, coef):
        n_done, before = n_done + 1, coef.copy()
        order = rng.permutation(n_rows)
        for first in range(0, n_rows, _TOGETHER):
            rows = order[first : first + _TOGETHER]
            part, new, near = problem.take(rows), coef[rows], slack[rows]
            random_pass(
                source.block(rows), bias.shift, part.lower, part.upper, part.epsilon, new, near,
                np.arange(len(rows)),
            )  # fmt: skip
            change = new - coef[rows]
            coef[rows] = new
            moved = np.flatnonzero(change)
            if len(moved):
                source.subtract(rows[moved], change[moved], slack)
                slack -= bias.shift * change.sum()
    return MachineSolution(coef, *certificate(problem, bias, coef, slack), n_done, slack)
