"""How well every kernel alone does, and where: a machine and a regression of its success.

Kernels are worked on side by side, since none needs another.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..._compile import count_threads, run_blocks
from ...kernels.grams import Grams
from ..machine.bias import FreeBias
from ..machine.problem import DualProblem, MachineSolution
from ..machine.working_sets import WorkingSets
from ..mixture.objective import KernelObjective
from .landmarks import LandmarkRegression, regress_on_landmarks

# Bytes for rows of a matrix where memory shall grow with the rows alone.
_FRUGAL, _FRUGAL_PER_ROW = 1 << 24, 400
# Machines that are solved at once, at most; each has its part of the memory.
MOST_MACHINES = 4
# Fewer rows than this fraction, or one class alone, do not make a machine of their own.
_SMALLEST_PART = 0.1


@dataclass(frozen=True)
class KernelSuccess:
    """One kernel's machine, and the regression of where it is right.

    ``expected`` are the regression's values at the training rows and ``share`` the share of rows
    (by weight) on which the machine was right.
    """

    machine: MachineSolution
    regression: MachineSolution | LandmarkRegression
    expected: np.ndarray
    share: float


class SingleKernel:
    """Machines of one kernel on some of the rows ``X``."""

    def __init__(self, kernel, X, machine, bias, *, tol, max_bytes):
        self.kernel, self.X = kernel, X
        self.machine, self.bias = machine, bias
        self.tol, self.max_bytes = tol, max_bytes

    def solve(self, problem, rows=slice(None)):
        return self._objective(problem, rows).solve(np.ones(1), self.tol)

    def regress(self, problem):
        """An ε-insensitive machine, which needs a matrix or rows of it."""
        objective = self._objective(problem, slice(None))
        if not self.machine.reads_matrices:  # as frugal as the machines that stand beside it
            room = min(self.max_bytes, _FRUGAL + _FRUGAL_PER_ROW * self.X.shape[0])
            objective = replace(objective, machine=WorkingSets(), max_bytes=room)
        return objective.solve(np.ones(1), self.tol)

    def _objective(self, problem, rows):
        grams = Grams([self.kernel], self.X[rows])
        return KernelObjective(grams, problem, self.bias, self.machine, self.max_bytes)

    def certified(self, machine, problem, rows):
        """A machine that was solved on ``rows`` with its gap in double precision."""
        return self._objective(problem, rows).certified_machine(machine, np.ones(1), self.tol)

    def scores(self, machine, rows, at):
        """Scores at the rows ``at`` of a machine that was solved on ``rows``."""
        coef = np.zeros(self.X.shape[0])
        coef[rows] = machine.dual_coef
        return Grams([self.kernel], self.X).products(coef, [0], at)[0] + machine.bias


def single_kernels(kernels, X, machine, *, tol, max_bytes):
    """Each kernel with a part of the memory, the same for any number of threads.

    A machine with more room would be solved in other precision.
    """
    room = max_bytes / min(MOST_MACHINES, len(kernels))
    return [
        SingleKernel(kernel, X, machine, FreeBias(), tol=tol, max_bytes=room) for kernel in kernels
    ]


def side_by_side(work, kernels, n_jobs):
    """[work(kernel), ...] on as many threads as memory was set apart for."""
    found = [None] * len(kernels)

    def fill(start, stop):
        for m in range(start, stop):
            found[m] = work(kernels[m])

    run_blocks(fill, len(kernels), 1, min(count_threads(n_jobs), MOST_MACHINES))
    return found


def learn_success(single, problem, weight, *, C, epsilon, folds=(), n_landmarks=None):
    """The success of one kernel.

    It is taken from the machine of all rows, or with ``folds`` (arrays of rows) from machines that
    have not seen the rows they are tried on. Regressions are ε-insensitive machines by pair steps,
    or by Newton steps in the span of ``n_landmarks`` rows.
    """
    machine = single.solve(problem)
    scores = problem.targets - machine.slack + machine.bias
    for held in folds:
        kept = np.setdiff1d(np.arange(len(problem)), held)
        scores[held] = single.scores(single.solve(problem.take(kept), kept), kept, held)
    right = (scores * problem.targets > 0.0).astype(np.float64)
    if n_landmarks is None:
        regression = single.regress(DualProblem.of_values(right, C * weight, epsilon))
    else:
        regression = regress_on_landmarks(
            single.kernel, single.X, right, weight, C=C, epsilon=epsilon, count=n_landmarks
        )
    expected = right - regression.slack + regression.bias
    return KernelSuccess(machine, regression, expected, float(np.average(right, weights=weight)))


def solve_where(kernel, problem):
    """Rows and machine of a kernel where it answers; all rows, if these are too few.

    ``kernel`` is a SingleKernel, its machine of all rows, and the rows that it answers for.
    """
    single, machine, rows = kernel
    signs = problem.targets[rows]
    enough = max(2, _SMALLEST_PART * len(problem))
    if len(rows) == len(problem) or len(rows) < enough or abs(signs.sum()) == len(signs):
        rows = np.arange(len(problem))
    else:
        machine = single.solve(problem.take(rows), rows)
    return rows, single.certified(machine, problem.take(rows), rows)


def stratified_folds(signs, n_folds, rng):
    """Rows of each fold, both signs in proportion; none if a sign has fewer rows than two."""
    member = np.empty(len(signs), dtype=np.intp)
    for sign in (-1.0, 1.0):
        rows = np.flatnonzero(signs == sign)
        if len(rows) < 2:
            return ()
        member[rows] = rng.permutation(len(rows)) % min(n_folds, len(rows))
    return tuple(np.flatnonzero(member == fold) for fold in range(member.max() + 1))
