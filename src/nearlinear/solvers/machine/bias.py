"""How a machine's bias is treated, and thereby which steps solve it."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .steps import greedy_pass, largest_slopes, pair_pass, random_pass

_STEPS_PER_ROW = 1000


class BiasSteps(Protocol):
    """How the bias is treated. Slack is y − (K + shift) a."""

    is_free: bool
    shift: float

    def violation(self, problem, dual_coef, slack) -> float:
        """How far from optimal: zero at the solution."""

    def working_set(self, problem, dual_coef, slack, size) -> np.ndarray:
        """The rows to work on next, at most ``size``."""

    def settled(self, problem, dual_coef, slack) -> np.ndarray:
        """Rows that may be left alone."""

    def solve(self, gram, problem, dual_coef, slack, tol):
        """Steps on all rows of a small problem, in place, until none violates by ``tol``."""

    def value(self, problem, dual_coef, slack) -> float:
        """The bias."""

    def residual(self, slack, bias) -> np.ndarray:
        """y − f."""


@dataclass(frozen=True)
class FreeBias:
    """Pair steps; the bias costs nothing and Σa = 0."""

    is_free = True
    shift = 0.0

    def violation(self, problem, dual_coef, slack):
        raising, lowering = problem.ascents(dual_coef, slack)
        return max(0.0, raising.max() - lowering.min())

    def working_set(self, problem, dual_coef, slack, size):
        """The rows that most want to rise and those that most want to fall."""
        raising, lowering = problem.ascents(dual_coef, slack)
        half = size // 2
        up = _largest(raising, half)
        up = up[raising[up] > lowering.min()]
        lowering[up] = np.inf
        down = _largest(-lowering, half)
        return np.concatenate([up, down[lowering[down] < raising.max()]])

    def settled(self, problem, dual_coef, slack):
        """Rows that no partner could move."""
        raising, lowering = problem.ascents(dual_coef, slack)
        return (raising < lowering.min()) & (lowering > raising.max())

    def solve(self, gram, problem, dual_coef, slack, tol):
        pair_pass(
            gram, problem.lower, problem.upper, problem.epsilon, dual_coef, slack, tol,
            _STEPS_PER_ROW * len(problem),
        )  # fmt: skip

    def value(self, problem, dual_coef, slack):
        return problem.best_bias(slack)

    def residual(self, slack, bias):
        return slack - bias


@dataclass(frozen=True)
class FixedBias:
    """Coordinate steps: no bias (``shift`` 0), or one penalized as a constant feature √shift.

    Steps go to the coordinate of largest gain, or with ``rng`` to every one in random order.
    """

    shift: float = 0.0
    rng: np.random.RandomState | None = None
    is_free = False

    def violation(self, problem, dual_coef, slack):
        return float(largest_slopes(problem, dual_coef, slack).max())

    def working_set(self, problem, dual_coef, slack, size):
        slopes = largest_slopes(problem, dual_coef, slack)
        rows = _largest(slopes, size)
        return rows[slopes[rows] > 0]

    def settled(self, problem, dual_coef, slack):
        """Rows at a bound (zero is one, too) that want to stay there."""
        at_bound = (dual_coef >= problem.upper) | (dual_coef <= problem.lower) | (dual_coef == 0.0)
        return at_bound & (largest_slopes(problem, dual_coef, slack) == 0.0)

    def solve(self, gram, problem, dual_coef, slack, tol):
        box = (self.shift, problem.lower, problem.upper, problem.epsilon, dual_coef, slack)
        n_rows = len(problem)
        if self.rng is None:
            greedy_pass(gram, *box, tol, _STEPS_PER_ROW * n_rows)
            return
        for _ in range(_STEPS_PER_ROW):
            if random_pass(gram, *box, self.rng.permutation(n_rows)) <= tol:
                break

    def value(self, problem, dual_coef, slack):
        return self.shift * float(dual_coef.sum())

    def residual(self, slack, bias):
        return slack  # K + shift has the bias inside


def _largest(values, count):
    """Positions of the largest values, in no order."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(-values, count)[:count]
