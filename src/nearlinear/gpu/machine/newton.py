"""Support vector machines of one kernel on a device, by Newton steps.

What is solved, and the certificate that stops it, are those of ``solvers/machine/working_sets.py``.
Pairs of rows are too little work for a device. Here a proximal point step

    max_a  yᵀa − ε‖a‖₁ − ½ aᵀKa − Σ_i (a_i − ā_i)² / (2 s_i)

is solved in the space of scores Ku, where it is convex, smooth and without constraints: rows are at
a bound or free, and a Newton step with an exact line search solves (K + 1/s) du = … among the free
rows by one factor. Then ā follows and s grows; at the fixed point a = u solves the machine. A
machine that starts from another's solution is solved by exchanges of rows, which as a rule take
half as many systems (``pivoting``), and in this way where they go round in circles. Where C is so
large that rounding ends the steps early, the certificate says so. All is in float64.
"""

import numpy as np
import torch

from ...solvers.machine.problem import MachineSolution, certificate, feasible
from .dual import Dual
from .factor import Factor
from .free_rows import FreeRows
from .pivoting import pivoted
from .searches import root

# s = C / width: within so much of its margin a row is free, in units of the margin.
_WIDTHS, _NARROWER = (10.0, 0.002), 0.4
# ā follows when a and u differ by less than this share of its move.
_CLOSE, _NO_STEP = 0.1, 1e-6
_PATIENCE = 40  # steps without a smaller gap: what is left is rounding
# A machine of more rows starts from one of every fourth row.
_START_ROWS, _EVERY, _START_TOL = 4096, 4, 0.05


def solve_kernel_machine(source, problem, bias, *, device, tol=1e-3, max_iter=10_000, start=None):
    """Solve to a duality gap of ``tol`` × the primal value; ``source.gram`` is on the device."""
    dual, n_before = Dual(problem, bias, device), 0
    if start is None and len(problem) > _START_ROWS:
        some = np.arange(0, len(problem), _EVERY)
        few = solve_kernel_machine(
            _Part(source.gram, some), problem.take(some), bias, device=device,
            tol=max(tol, _START_TOL), max_iter=max_iter,
        )  # fmt: skip
        start, n_before = np.zeros(len(problem)), few.n_iter
        start[some] = few.dual_coef
    coef = dual.zero * dual.targets
    if start is not None:
        coef = torch.as_tensor(feasible(start, problem, bias), device=device)
    is_done, n_pivots = False, 0
    if bool(dual.is_inside(coef).any()):
        coef, scores, n_pivots, is_done = pivoted(source.gram, dual, coef, tol, max_iter)
        n_before += n_pivots
    if not is_done:
        left = max_iter - n_pivots
        coef, scores, n_iter = _ascended(source.gram, dual, coef, tol, left)
        n_before += n_iter
    coef, slack = coef.cpu().numpy(), (dual.targets - scores).cpu().numpy()
    proof = certificate(problem, bias, coef, slack)
    return MachineSolution(coef, *proof, n_before, slack)


class _Part:
    """The matrix among some rows."""

    def __init__(self, gram, rows):
        rows = torch.as_tensor(rows, device=gram.device)
        self.gram = gram[rows[:, None], rows]


def _ascended(gram, dual, coef, tol, max_iter):
    """A feasible dual vector from ``coef`` on, its scores, and the number of steps."""
    y, width, rows = dual.targets, _WIDTHS[0], FreeRows(gram, dual)
    u, anchor, scores = coef, coef, rows.times(coef[:, None])[:, 0]
    bias = dual.best_bias(y - scores)
    best, waited, step, n_iter = (np.inf, coef, scores), 0, dual.one, 0
    while n_iter < max_iter:
        n_iter += 1
        scale = dual.sizes / width
        a = dual.nearest(anchor + scale * (y - scores - bias), scale)
        # where a and u have the same scores, no step of u brings them closer
        is_near = (a - u).abs().sum() <= _CLOSE * (a - anchor).abs().sum()
        is_close = bool(is_near | (step < _NO_STEP))
        trial = dual.feasible(a if is_close else dual.clipped(u))
        if is_close:  # a proximal point
            anchor, width = a, max(_WIDTHS[1], _NARROWER * width)
            scale = dual.sizes / width
            a = dual.nearest(anchor + scale * (y - scores - bias), scale)
        is_free = dual.is_inside(a)
        jumps = torch.where(is_free, 0.0, a - u)
        products = rows.times(torch.stack([trial - u, jumps], 1))
        primal, gap = dual.certificate(trial, scores + products[:, 0]).tolist()
        waited += 1
        if gap < 0.99 * best[0]:
            best, waited = (gap, trial, scores + products[:, 0]), 0
        if gap <= tol * primal or waited > _PATIENCE:
            break
        wanted = (anchor - u) / scale + y - dual.epsilon * torch.sign(a) - scores - bias
        du, change = rows.direction(is_free, width, wanted - products[:, 1], jumps, -u.sum())
        if change is None:
            change = dual.balance(anchor, y - scores, width) - bias
        moved = rows.times(du[:, None])[:, 0]
        step = _line_search(dual, anchor, scale, u, scores, bias, du, moved, change)
        u, scores, bias = u + step * du, scores + step * moved, bias + step * change
    return best[1], best[2], n_iter


def _line_search(dual, anchor, scale, u, scores, bias, du, moved, change):
    """The least of the convex ½ uᵀKu + Σ_i sup_a [a (y − Ku − b)_i − …] on the way to u + du."""
    begin = anchor + scale * (dual.targets - scores - bias)
    slope, bend, direction = du @ scores, du @ moved, moved + change

    def fall(steps):
        reached = dual.nearest(begin - steps[:, None] * (scale * direction), scale)
        return reached @ direction - slope - steps * bend

    return root(fall, dual.zero, dual.one)


def solve_symmetric(matrix, right, *, device):
    """Solve with a positive matrix that may be singular to rounding."""
    right = torch.as_tensor(right, device=device)
    return Factor(matrix, 1e-10 * matrix.diagonal().mean()).solved(right).cpu().numpy()
