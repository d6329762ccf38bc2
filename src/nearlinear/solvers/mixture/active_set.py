"""Sequential multiple kernel learning: few kernels at work, all others only priced.

Kernels enter when their S_m = aᵀK_m a exceeds that of the mixture and leave when their
weight is zero. The certificate covers every kernel that has been priced with the last dual
vector; at the end these are all of them.
A sample of the rows may choose the kernels that all rows then weigh and certify.
"""

from dataclasses import dataclass, replace

import numpy as np

from .objective import Descent, Evaluation, told
from .simplex import solve_newton

# A weight below this share of the largest is rounding.
_NEGLIGIBLE = 1e-3


def keep_largest(objective, found, max_kernels, tol):
    """An evaluation with at most ``max_kernels`` kernels, weighed anew, and their numbers.

    ``found`` is a SequentialSolution; ``max_kernels`` None leaves out only negligible kernels.
    """
    weights = found.weights
    order = np.argsort(-weights, kind="stable")[:max_kernels]
    kept = np.sort(order[weights[order] > _NEGLIGIBLE * weights.max()])
    if np.count_nonzero(weights) == len(kept):
        return found.evaluation, kept
    descent = Descent(objective, found.evaluation.machine.dual_coef)
    now = solve_newton(descent, weights[kept] / weights[kept].sum(), tol=tol, which=kept)
    used = now.weights > 0.0
    return now.take(used), kept[used]


# Steps of the weights on all rows: they start near the end.
_NEWTON_STEPS = 3
# A sample's optimum is not that of all rows: no use in being more exact.
_SAMPLE_TOL = 0.05


def solve_on_sample(descent, sample, *, tol, **options):
    """Minimize J over the kernels that ``sample`` chooses.

    ``sample`` is a Descent with the same kernels on some of the rows; ``options`` are those of
    ``solve_sequential``. The gap is over all kernels and all rows, and may exceed ``tol``.
    """
    chosen = solve_sequential(sample, tol=max(tol, _SAMPLE_TOL), **options)
    kept = np.flatnonzero(chosen.weights)
    start = chosen.weights[kept]
    now = solve_newton(descent, start, tol=tol, max_iter=_NEWTON_STEPS, which=kept)
    # steps that end early may leave a loose machine
    now = descent.at(now.weights, 0.5 * tol, kept)
    objective = descent.objective
    quadratics = objective.grams.quadratics(now.machine.dual_coef, objective.all_kernels)
    gap = now.objective - objective.bound(now, quadratics.max())
    used = now.weights > 0.0
    weights = np.zeros(objective.grams.n_kernels)
    weights[kept] = now.weights
    return SequentialSolution(
        now.take(used), weights, gap, chosen.n_rounds, chosen.history, quadratics=quadratics
    )


# New kernels share this much of the weight.
_ENTRY_SHARE = 0.1
# Where no kernel is missing, weights are solved to this share of the tolerance at most.
_FINEST = 1e-3
# Up to this many kernels are priced in every round.
_PRICED = 1000


@dataclass(frozen=True)
class SequentialSolution:
    """Weights of all kernels; ``n_rounds`` of pricing, ``history`` of (gap, kernels at work).

    ``evaluation`` is of the kernels with a weight, in their order.
    """

    evaluation: Evaluation
    weights: np.ndarray
    gap: float
    n_rounds: int
    history: list
    bounding: np.ndarray | None = None  # the dual vector of the best bound, if another one's
    quadratics: np.ndarray | None = None  # S_m as last seen

    @property
    def objective(self):
        return self.evaluation.objective

    @property
    def urgency(self):
        """S_m over that of the mixture, of every kernel: above one, it would lower J."""
        if self.quadratics is None:
            return np.zeros(len(self.weights))
        mixture = self.evaluation.weights @ self.evaluation.quadratics
        return self.quadratics / max(mixture, 1e-300)


def solve_sequential(
    descent, *, tol, max_insertions=30, max_rounds=100, chunk_size=None, max_iter=200, watch=None,
    start=None,
):  # fmt: skip
    """Minimize J over the simplex of all kernels.

    Parameters
    ----------
    descent : Descent
        The kernels and the problem.
    tol : float
        Relative duality gap to reach, over all kernels.
    max_insertions : int
        Most kernels that enter in one round.
    max_rounds : int
        Most rounds of pricing.
    chunk_size : int or None
        Kernels arrive as a stream in chunks of this many; those once refused are priced again
        only when the stream has ended. None prices all kernels in every round.
    max_iter : int
        Most Newton steps in a round.
    watch : Watch or None
        Is told of every round.
    start : array of shape (n_kernels,) or None
        Weights to begin with, which add up to one. None begins with some kernels from everywhere.
    """
    bank, objective = _Quadratics(descent, chunk_size), descent.objective
    if start is None:
        active = bank.first(max_insertions)
        weights = np.full(len(active), 1.0 / len(active))
    else:
        active = np.flatnonzero(start)
        weights = start[active]
    relative, precision, history, lowest = np.inf, 0.5 * tol, [], None
    lower, bounding = -np.inf, None
    for round_ in range(1, max_rounds + 1):
        objective.grams.keep(active)
        inner = float(np.clip(0.3 * relative, precision, 0.3))
        now = solve_newton(descent, weights, tol=inner, which=active, max_iter=max_iter)
        kept = now.weights > 0
        active, now = active[kept], now.take(kept)
        weights = now.weights
        entering, best = bank.violators(now, active, tol, max(3 * max_insertions, _PRICED))
        if lowest is None or now.objective <= lowest[0].objective:
            lowest = now, active
        bound = objective.bound(now, best)
        if bank.is_complete:  # bounds of earlier rounds hold as well
            if bound > lower:
                lower, bounding = bound, now.machine.dual_coef
            bound = lower
        gap = now.objective - bound
        relative = gap / max(now.objective, 1e-300)
        history.append((relative, len(active)))
        if told(watch, round_, now, gap, active):
            break
        if bank.is_complete and lowest[0].objective - lower <= tol * lowest[0].objective:
            break
        if len(entering) == 0 and bank.is_complete:
            if precision < _FINEST * tol:
                break
            relative, precision = 0.0, 0.1 * precision  # what is missing is precision
        entering = entering[:max_insertions]
        active = np.concatenate([active, entering])
        if len(entering):
            shared = np.full(len(entering), _ENTRY_SHARE / len(entering))
            weights = np.concatenate([(1.0 - _ENTRY_SHARE) * weights, shared])
    now, active = lowest
    if lower == -np.inf:  # stopped early: the certificate still covers all kernels
        lower = objective.bound(now, bank.best_of_all(now))
    order = np.argsort(active)
    now = now.take(order)
    full = np.zeros(objective.grams.n_kernels)
    full[active[order]] = now.weights
    gap = now.objective - lower
    return SequentialSolution(now, full, gap, round_, history, bounding, bank.quadratics)


def certified(objective, found, *, tol):
    """A SequentialSolution with value and gap in double precision: only such may be reported."""
    active = np.flatnonzero(found.weights)
    now = objective.certified(found.evaluation, tol=0.5 * tol, which=active)
    if now is found.evaluation:
        return found
    lower = objective.certified_bound(now.machine.dual_coef)
    if now.objective - lower > tol * now.objective and found.bounding is not None:
        lower = max(lower, objective.certified_bound(found.bounding))
    return replace(found, evaluation=now, gap=now.objective - lower)


class _Quadratics:
    """S_m of the kernels that have arrived, most of them of an earlier dual vector.

    ``is_complete`` says whether the last answer rests on fresh ones of all kernels.
    """

    def __init__(self, descent, chunk_size):
        self.descent, self.grams = descent, descent.objective.grams
        self.n_kernels = descent.objective.grams.n_kernels
        self.chunk_size = self.n_kernels if chunk_size is None else chunk_size
        self.arrived = min(self.chunk_size, self.n_kernels)
        self.is_complete = False
        self.quadratics = np.zeros(self.n_kernels)

    def first(self, count):
        """Some kernels from all over the bank, and those that a machine on their mean asks for."""
        arrived = np.arange(self.arrived)
        mixed = arrived[:: -(-self.arrived // count)]
        machine = self.descent.solve(np.full(len(mixed), 1.0 / len(mixed)), 0.1, mixed)
        self._refresh(machine.dual_coef, arrived)
        best = np.argsort(-self.quadratics[: self.arrived], kind="stable")[:count]
        return np.union1d(mixed, best)

    def violators(self, now, active, tol, count):
        """Kernels that would lower J, best first, and the largest S_m seen.

        In a stream these are among the kernels that come next. Else the ``count`` kernels of the
        largest old S_m are asked first, and all others only if these are content.
        """
        coef, mixture = now.machine.dual_coef, now.weights @ now.quadratics
        if self.arrived < self.n_kernels:
            pool = np.arange(self.arrived, min(self.arrived + self.chunk_size, self.n_kernels))
            self.arrived += len(pool)
            self._refresh(coef, pool)
            return self._above(pool, mixture), self.quadratics[pool].max()
        others = np.setdiff1d(np.arange(self.n_kernels), active)
        order = np.argsort(-self.quadratics[others], kind="stable")
        pool, rest = others[order[:count]], others[order[count:]]
        self._refresh(coef, pool)
        best = self.quadratics[pool].max(initial=-np.inf)
        self.is_complete = len(rest) == 0 or now.gap_beside(best) <= tol * now.objective
        if self.is_complete and len(rest):
            self._refresh(coef, rest)
            pool, best = others, self.quadratics[others].max()
        return self._above(pool, mixture), best

    def best_of_all(self, now):
        """The largest S_m of any kernel."""
        self._refresh(now.machine.dual_coef, np.arange(self.n_kernels))
        return self.quadratics.max()

    def _refresh(self, coef, which):
        if len(which):
            self.quadratics[which] = self.grams.quadratics(coef, which)

    def _above(self, pool, mixture):
        found = pool[self.quadratics[pool] > mixture * (1.0 + 1e-6)]
        return found[np.argsort(-self.quadratics[found], kind="stable")]
