"""Support vector machines of one kernel, for classification and regression, in the dual.

The rows that violate optimality most are solved for exactly, by compiled steps on the small
matrix among them; then the slack of all other rows follows, and so on. Rows that sit at a bound and
point outwards are left out until the rest is solved. The stop is a certificate: the duality gap
over all rows, as far as the precision of the matrix goes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .problem import MachineSolution, certificate, feasible

# Left out are rows at a bound once they are this share of the rows at work.
_SHRINK_SHARE = 0.3
# The same when all rows have just been looked at: what they say is certain then.
_FIRST_SHARE = 0.1
# A violation below this share of the scores is not worth pursuing.
_ROUNDING = 1e-13


def solve_kernel_machine(source, problem, bias, *, tol=1e-3, max_iter=10_000, start=None):
    """Solve to a duality gap of ``tol`` × the primal value.

    Parameters
    ----------
    source : RowSource
        The kernel matrix.
    problem : DualProblem
        What is to be solved.
    bias : BiasSteps
        How the bias is treated, and thereby which steps are taken.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Most working sets.
    start : array of shape (n_rows,) or None
        A dual vector to begin with.

    Returns
    -------
    MachineSolution
    """
    state = _State(source, problem, bias, start)
    target = bias.violation(problem, state.dual_coef, state.slack)
    proof = state.certificate()
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        if state.violation() <= target:
            if not state.is_whole:
                state.unshrink()
                continue
            proof = state.certificate()
            if proof[2] <= tol * proof[1]:
                break
            target = 0.3 * min(target, state.violation())
            if target <= _ROUNDING * np.abs(problem.targets - state.slack).max():
                break
            state.shrink(_FIRST_SHARE)
        state.ascend(target)
        state.shrink(_SHRINK_SHARE)
    else:
        state.unshrink()
        proof = state.certificate()
    return MachineSolution(state.dual_coef, *proof, n_iter, state.slack)


@dataclass(frozen=True)
class WorkingSets:
    """Machines of a ``KernelObjective`` solved by working sets, for the loss of its problem.

    ``finest`` is the relative gap below which asking for more is in vain. ``scheme`` may be another
    solver of the same problem, such as ``ascend_by_epochs``.
    """

    max_iter: int = 10_000
    scheme: Callable = solve_kernel_machine
    finest = 0.0
    reads_matrices = True

    def solve(self, objective, weights, which, tol, start):
        source = objective.grams.rows(weights, which, objective.max_bytes)
        return self.scheme(
            source, objective.problem, objective.bias, tol=tol, max_iter=self.max_iter, start=start
        )

    def certificate(self, problem, bias, dual_coef, slack):
        """Bias, primal objective and duality gap."""
        return certificate(problem, bias, dual_coef, slack)

    def fit_bias(self, problem, slack):
        """The best bias for slack y − f that lacks it, and the loss that is left."""
        bias = problem.best_bias(slack)
        return bias, problem.loss(slack - bias)

    def is_free(self, problem, dual_coef):
        """Rows whose coefficients lie between their bounds."""
        inside = (dual_coef > problem.lower) & (dual_coef < problem.upper)
        return inside & (dual_coef != 0.0)

    def free_matrix(self, objective, weights, which, free):
        """What bends the dual: the matrix among free rows."""
        matrix = objective.grams.rows(weights, which, objective.max_bytes).block(free)
        return matrix + objective.bias.shift


class _State:
    """A dual vector in progress, and the rows at work on it."""

    def __init__(self, source, problem, bias, start):
        self.source, self.problem, self.bias = source, problem, bias
        self.slack = problem.targets.copy()
        self.all_rows = np.arange(len(problem))
        self.dual_coef = np.zeros(len(problem))
        self.recent = self.all_rows[:0]
        self._work_on(self.all_rows)
        if start is not None:
            self.dual_coef = feasible(start, problem, bias)
            self._update_slack(np.flatnonzero(self.dual_coef), self.dual_coef[self.dual_coef != 0])

    @property
    def is_whole(self):
        return len(self.rows) == len(self.all_rows)

    def _work_on(self, rows):
        self.rows = rows
        self.part = self.problem if len(rows) == len(self.problem) else self.problem.take(rows)
        # the dual vector that the slack of the rows left out belongs to
        self.known = self.dual_coef.copy()
        self.source.restrict(rows)

    def violation(self):
        return self.bias.violation(self.part, self.dual_coef[self.rows], self.slack[self.rows])

    def ascend(self, target):
        """Solve for one working set and bring the slack of the rows at work up to date."""
        coef, slack = self.dual_coef[self.rows], self.slack[self.rows]
        size = self.source.working_set
        if len(self.rows) <= self.source.whole_set:
            self.bias.solve(self.source.block(self.rows), self.part, coef, slack, 0.5 * target)
            self.dual_coef[self.rows], self.slack[self.rows] = coef, slack
            return
        chosen = self.bias.working_set(self.part, coef, slack, size // 2)
        chosen = self._with_recent(chosen, size)
        rows = self.rows[chosen]
        new, near = coef[chosen], slack[chosen]
        tol = max(0.5 * target, 0.1 * self.violation())
        self.bias.solve(self.source.block(rows), self.part.take(chosen), new, near, tol)
        change = new - self.dual_coef[rows]
        self.dual_coef[rows] = new
        moved = np.flatnonzero(change)
        self.recent = rows
        self._update_slack(rows[moved], change[moved])

    def _with_recent(self, chosen, size):
        """Fill a working set with rows of the last one, which still belong together."""
        position = np.searchsorted(self.rows, self.recent)
        position = position[position < len(self.rows)]
        kept = position[np.isin(self.rows[position], self.recent)]
        kept = np.setdiff1d(kept, chosen)
        coef = self.dual_coef[self.rows[kept]]
        inside = (coef > self.part.lower[kept]) & (coef < self.part.upper[kept])
        kept = np.concatenate([kept[inside], kept[~inside]])
        return np.concatenate([chosen, kept[: size - len(chosen)]])

    def _update_slack(self, rows, change):
        """slack −= Σ change (K + shift), for the rows at work."""
        if len(rows) == 0:
            return
        slack = self.slack if self.is_whole else self.slack[self.rows]
        self.source.subtract(rows, change, slack)
        slack -= self.bias.shift * change.sum()
        if not self.is_whole:
            self.slack[self.rows] = slack

    def shrink(self, share):
        """Leave out rows that are settled, if they are more than ``share`` of those at work."""
        if len(self.rows) <= self.source.working_set:
            return
        settled = self.bias.settled(self.part, self.dual_coef[self.rows], self.slack[self.rows])
        if share * len(self.rows) < settled.sum() < len(self.rows):
            if not self.is_whole:
                self._update_others()
            self._work_on(self.rows[~settled])

    def unshrink(self):
        """Bring the slack of all rows up to date and work on all of them."""
        if not self.is_whole:
            self._update_others()
            self._work_on(self.all_rows)

    def _update_others(self):
        change = self.dual_coef - self.known
        moved = np.flatnonzero(change)
        others = np.setdiff1d(self.all_rows, self.rows, assume_unique=True)
        self.source.subtract_at(others, moved, change[moved], self.slack)
        self.slack[others] -= self.bias.shift * change.sum()

    def certificate(self):
        """Bias, primal objective and duality gap."""
        return certificate(self.problem, self.bias, self.dual_coef, self.slack)
