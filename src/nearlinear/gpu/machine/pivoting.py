"""A machine solved from a good start, by rows exchanged in blocks.

Where it is known which rows are free, those at a bound are put there, and the others follow from
one linear system. Free rows that leave the box are bound next, and bound rows whose slope points
inside are free: all of them at once, whole steps without a line search. This is block principal
pivoting (Júdice and Pires, Computers & Operations Research 21, 1994). From the last machine's free
rows it ends after five to ten systems, often with a gap far below the one that is asked for. It may
go round in circles, which shows in exchanges that do not become fewer; then it is left to another
method.
"""

import numpy as np
import torch

from .free_rows import FreeRows

# Free rows are held where they are with 1/s, in units of the margin and C: held less, rows that are
# alike move far, and out of the box in turns; held more, they take more steps. They are held more
# where the exchanges do not become fewer, and least where there are none.
_HELD, _HELD_MORE, _HELD_LEAST = 0.1, 3.0, 0.002
# A bound row with a slope below this is free next; beyond, it goes to the other bound.
_JUMPS = 100.0
_PATIENCE = 5  # exchanges without fewer rows


def pivoted(gram, dual, coef, tol, max_iter):
    """A feasible dual vector, its scores, the number of steps, and whether it is within ``tol``."""
    y, rows = dual.targets, FreeRows(gram, dual)
    held, reach = _HELD, dual.sizes / _JUMPS
    u, a, is_free = coef, coef, dual.is_inside(coef)
    scores = rows.times(u[:, None])[:, 0]
    bias = dual.best_bias(y - scores)
    best, fewest, waited, n_iter = (np.inf, coef, scores), np.inf, 0, 0
    while True:
        trial = dual.feasible(dual.clipped(u))
        jumps = torch.where(is_free, 0.0, a - u)
        products = rows.times(torch.stack([trial - u, jumps], 1))
        primal, gap = dual.certificate(trial, scores + products[:, 0]).tolist()
        if gap < best[0]:
            best = gap, trial, scores + products[:, 0]
        is_done = bool(gap <= tol * primal)
        is_number = np.isfinite(gap)  # no factor is one of a matrix that has none
        if is_done or waited > _PATIENCE or n_iter >= max_iter or not is_number:
            return best[1], best[2], n_iter, is_done
        n_iter += 1
        wanted = y - dual.epsilon * torch.sign(a) - scores - bias - products[:, 1]
        du, change = rows.direction(is_free, held, wanted, jumps, -u.sum())
        u, scores = u + du, scores + rows.times(du[:, None])[:, 0]
        bias = dual.balance(u, y - scores, _JUMPS) if change is None else bias + change
        a, was_free = dual.nearest(u + reach * (y - scores - bias), reach), is_free
        is_free = dual.is_inside(a)
        n_changed = int((is_free != was_free).sum())
        if 0 < n_changed < fewest:
            fewest, waited = n_changed, 0
        else:
            waited, held = waited + 1, _HELD_MORE * held if n_changed else _HELD_LEAST
