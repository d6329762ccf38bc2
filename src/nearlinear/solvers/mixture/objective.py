"""A machine on a weighted sum of kernels, as a function of the weights.

    J(β) = max_a  yᵀa − ε‖a‖₁ − ½ Σ_m β_m aᵀK_m a

is convex in β; its gradient is −½ S with S_m = aᵀK_m a at the solution (Danskin).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...kernels.grams import GramSource
from ..machine.bias import BiasSteps
from ..machine.problem import DualProblem, MachineSolution
from ..machine.working_sets import WorkingSets
from ..watch import Progress

# A machine's matrix is held in memory up to this size; beyond, rows are computed on demand.
_LARGEST_GRAM = 1 << 29
# Up to this many free rows the curvature is exact; beyond, so many gradient steps must do.
_LARGEST_EXACT = 500
_FEWEST_GRADIENTS, _MOST_GRADIENTS = 8, 50
# Products of all kernels are kept for the curvature while tiles and kernels are few.
_MOST_PRODUCTS = 2 * 10**9
_FEWEST_FREE = 500  # too few rows make a model that misleads
_SCORED = 64  # kernels whose scores are held at once


def solve_symmetric(matrix, right):
    """Solve with a positive matrix that may be singular to rounding; roughly if it is large."""
    scale = float(np.trace(matrix)) / len(matrix) or 1.0
    if len(matrix) > _LARGEST_EXACT:
        return _conjugate_gradients(matrix, right, ridge=1e-6 * scale)
    ridge = 1e-10 * scale
    matrix = matrix.astype(np.float64)
    while True:
        matrix[np.diag_indices_from(matrix)] += ridge
        try:
            return cho_solve(cho_factor(matrix), right)
        except LinAlgError:
            ridge *= 100.0


def _conjugate_gradients(matrix, right, ridge):
    """All columns of ``right`` side by side, each to a hundredth of its size."""
    found = np.zeros_like(right)
    residual = right.copy()
    direction = right.copy()
    squares = (residual**2).sum(axis=0)
    enough = 1e-4 * squares
    # machines of many rows take long: there a better model pays
    n_steps = int(np.clip(len(matrix) // 200, _FEWEST_GRADIENTS, _MOST_GRADIENTS))
    for _ in range(n_steps):
        image = matrix @ direction.astype(matrix.dtype) + ridge * direction
        bent = (direction * image).sum(axis=0)
        length = np.where(squares > enough, squares / np.where(bent > 0, bent, np.inf), 0.0)
        found += length * direction
        residual -= length * image
        before, squares = squares, (residual**2).sum(axis=0)
        if np.all(squares <= enough):
            break
        direction = residual + squares / np.where(before > 0, before, np.inf) * direction
    return found


@dataclass(frozen=True)
class Evaluation:
    """The machine found for some weights, and what it says of them: S_m, and K_m a where a ≠ 0."""

    weights: np.ndarray
    machine: MachineSolution
    quadratics: np.ndarray
    products: np.ndarray | None = None

    @property
    def objective(self):
        """The primal value: never below J."""
        return self.machine.objective

    @property
    def gap(self):
        """Distance to the optimum over all weights on the simplex."""
        return self.gap_beside(-np.inf)

    @property
    def n_iter(self):
        return self.machine.n_iter

    @property
    def gradient(self):
        return -0.5 * self.quadratics

    def gap_beside(self, best):
        """The same over further kernels, whose largest aᵀK_m a is ``best``."""
        best = max(best, self.quadratics.max())
        return 0.5 * max(0.0, best - self.weights @ self.quadratics) + self.machine.gap

    def take(self, which):
        """The same, of some of the kernels: the others have no weight."""
        return Evaluation(self.weights[which], self.machine, self.quadratics[which])


@dataclass(frozen=True)
class KernelObjective:
    """J of the kernels of ``grams`` on one dual problem.

    ``machine`` says how machines are solved (WorkingSets or Exchange), and ``solve_symmetric`` how
    the matrix among their free rows. Other kernels are ``replace(objective, grams=...)``.
    """

    grams: GramSource
    problem: DualProblem
    bias: BiasSteps
    machine: object = field(default_factory=WorkingSets)
    max_bytes: float = _LARGEST_GRAM
    solve_symmetric: Callable = solve_symmetric

    @property
    def all_kernels(self):
        return np.arange(self.grams.n_kernels)

    def solve(self, weights, tol, which=None, start=None):
        """The machine for ``weights`` of the kernels ``which`` (all by default)."""
        which = self.all_kernels if which is None else which
        return self.machine.solve(self, weights, which, tol, start)

    def at(self, weights, tol, which=None, start=None):
        """The same, and the kernels' part in it; ``start`` is a dual vector."""
        which = self.all_kernels if which is None else which
        machine = self.solve(weights, tol, which, start)
        weights, coef = np.asarray(weights, dtype=np.float64), machine.dual_coef
        if np.count_nonzero(coef) ** 2 * len(which) > _MOST_PRODUCTS:
            return Evaluation(weights, machine, self.grams.quadratics(coef, which))
        products = self.grams.products(coef, which)
        return Evaluation(weights, machine, products @ coef[coef != 0.0], products)

    @property
    def is_double(self):
        return self.grams.dtype == np.float64

    def in_double(self):
        """The same with matrices in double precision, of which none is kept."""
        return replace(self, grams=self.grams.in_double())

    def certified(self, evaluation, tol, which=None):
        """The same with value, gap and quadratics in double precision: only such may be reported.

        Matrices of many rows, or of rows in float32, are in single precision, and what that rounds
        away, times C, may be more than the gap that is left. A machine whose gap turns out to be
        more than ``tol`` of its value is solved further, in double precision.
        """
        if self.is_double:
            return evaluation
        which = self.all_kernels if which is None else which
        exact, weights = self.in_double(), evaluation.weights
        machine, quadratics = exact._measured(evaluation.machine, weights, which)
        if machine.gap > tol * machine.objective:
            self.grams.keep([])  # room for matrices twice as large
            further = self.in_double().solve(weights, tol, which, machine.dual_coef)
            further = replace(further, n_iter=machine.n_iter + further.n_iter)
            machine, quadratics = exact._measured(further, weights, which)
        return Evaluation(weights, machine, quadratics)

    def certified_machine(self, machine, weights, tol):
        """The same of a machine alone."""
        return self.certified(Evaluation(weights, machine, None), tol).machine

    def _measured(self, machine, weights, which):
        """A machine with the bias, value and gap that it has here; aᵀK_m a."""
        coef = machine.dual_coef
        scores, quadratics = mixed_scores(self.grams, coef, weights, which)
        slack = self.problem.targets - scores - self.bias.shift * coef.sum()
        bias, objective, gap = self.machine.certificate(self.problem, self.bias, coef, slack)
        return MachineSolution(coef, bias, objective, gap, machine.n_iter, slack), quadratics

    def bound(self, evaluation, best):
        """A lower bound of min J over kernels whose largest aᵀK_m a is ``best``.

        Any dual vector gives one; this takes the best multiple t a, 0 ≤ t ≤ 1, of the machine's.
        """
        return self._bound(evaluation.machine.dual_coef, max(best, evaluation.quadratics.max()))

    def _bound(self, dual_coef, largest):
        linear = self.problem.dual_value(dual_coef, 0.0)
        quadratic = largest + self.bias.shift * dual_coef.sum() ** 2
        shrunk = min(1.0, max(linear, 0.0) / max(quadratic, 1e-300))
        return shrunk * linear - 0.5 * shrunk**2 * quadratic

    def certified_bound(self, dual_coef):
        """The same over all kernels, in double precision."""
        quadratics = self.grams.in_double().quadratics(dual_coef, self.all_kernels)
        return self._bound(dual_coef, quadratics.max())

    def of_all(self, found, which):
        """An evaluation of the kernels ``which`` as one of all: what a search cut short leaves."""
        weights = np.zeros(self.grams.n_kernels)
        weights[which] = found.weights
        quadratics = self.grams.quadratics(found.machine.dual_coef, self.all_kernels)
        return Evaluation(weights, found.machine, quadratics)

    def curvature(self, evaluation, which):
        """Second derivatives of J: U K_FF⁻¹ Uᵀ, U_m = (K_m a)_F on the free rows F."""
        coef = evaluation.machine.dual_coef
        free = np.flatnonzero(self.machine.is_free(self.problem, coef))
        if len(free) == 0:
            return np.zeros((len(which), len(which)))
        # the model need not be exact: where the matrix would not fit, some rows speak for all
        most = max(_FEWEST_FREE, int((self.max_bytes / 8) ** 0.5))
        free = free[:: -(-len(free) // most)]
        if evaluation.products is None:
            products = self.grams.products(coef, which, free)
        else:
            place = np.searchsorted(np.flatnonzero(coef), free)
            products = evaluation.products[:, place]
        matrix = self.machine.free_matrix(self, evaluation.weights, which, free)
        solved = self.solve_symmetric(matrix, np.vstack([products, np.ones(len(free))]).T)
        bend = products @ solved[:, :-1]
        if self.bias.is_free:  # the bias moves along: Σ da = 0
            ones = solved[:, -1]
            along = products @ ones
            bend -= np.outer(along, along) / max(ones.sum(), 1e-300)
        return 0.5 * (bend + bend.T)


class Descent:
    """A way down J: each machine starts from the one before, and ``n_machines`` counts them.

    A watch keeps every evaluation and the numbers of its kernels.
    """

    def __init__(self, objective, start=None, watch=None):
        self.objective, self.watch = objective, watch
        self.latest, self.n_machines = start, 0

    def solve(self, weights, tol, which=None):
        return self._noted(self.objective.solve(weights, tol, which, self.latest))

    def at(self, weights, tol, which=None):
        found = self.objective.at(weights, tol, which, self.latest)
        self._noted(found.machine)
        if self.watch is not None:
            self.watch.keep((found, self.objective.all_kernels if which is None else which))
        return found

    def in_double(self, start):
        """The same in double precision, from a dual vector on."""
        self.objective.grams.keep([])  # room for matrices twice as large
        descent = Descent(self.objective.in_double(), start, self.watch)
        descent.n_machines = self.n_machines
        return descent

    def _noted(self, machine):
        self.latest = machine.dual_coef
        self.n_machines += 1
        return machine


def told(watch, step, now, gap, which):
    """Tell a watch of a step of the weights; whether it asks for a stop."""
    if watch is None:
        return False
    figures = {"kernels": int((now.weights > 0).sum())}
    value = float(now.objective)
    return watch(Progress(step, value, float(gap), state=(now, which), figures=figures))


def mixed_scores(grams, dual_coef, weights, which):
    """Σ_m weights_m K_m a at all rows, and aᵀK_m a for the kernels ``which``."""
    scores, quadratics = np.zeros(grams.n_rows), np.zeros(len(which))
    is_used = np.asarray(weights) > 0.0
    used = np.flatnonzero(is_used)
    # some kernels at a time: their scores may take as much memory as all of them have rows
    for start in range(0, len(used), _SCORED):
        part = used[start : start + _SCORED]
        products = grams.products(dual_coef, which[part], np.arange(grams.n_rows))
        scores += weights[part] @ products
        quadratics[part] = products @ dual_coef
    if not is_used.all():
        quadratics[~is_used] = grams.quadratics(dual_coef, which[~is_used])
    return scores, quadratics
