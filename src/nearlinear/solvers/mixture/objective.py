"""A machine on a weighted sum of kernels, as a function of the weights.

    J(β) = max_a  yᵀa − ε‖a‖₁ − ½ Σ_m β_m aᵀK_m a

is convex in β; its gradient is −½ S with S_m = aᵀK_m a at the solution (Danskin).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...kernels.rows import ComputedRows, GramRows
from ..machine.problem import MachineSolution, certificate
from ..machine.working_sets import solve_kernel_machine
from ..watch import Progress

# A machine's matrix is held in memory up to this size; beyond, rows are computed on demand.
_LARGEST_GRAM = 1 << 29
# Up to this many free rows the curvature is exact; beyond, so many gradient steps must do.
_LARGEST_EXACT = 500
_FEWEST_GRADIENTS, _MOST_GRADIENTS = 8, 50
# Images of all kernels are kept for the curvature while tiles and kernels are few.
_MOST_IMAGE_WORK = 2 * 10**9
_FEWEST_FREE = 500  # too few rows make a model that misleads
_SCORED = 64  # kernels whose scores are held at once


@dataclass(frozen=True)
class Evaluation:
    """The machine found for some weights, and what it says of them."""

    weights: np.ndarray
    machine: MachineSolution
    quadratics: np.ndarray
    images: np.ndarray | None = None  # K_m a at the rows of a ≠ 0

    @property
    def value(self):
        """The primal value: never below J."""
        return self.machine.objective

    @property
    def gradient(self):
        return -0.5 * self.quadratics

    def take(self, which):
        """The same, of some of the kernels: the others have no weight."""
        return Evaluation(self.weights[which], self.machine, self.quadratics[which])

    def gap(self, best=None):
        """Distance to the optimum over all weights on the simplex.

        ``best`` is the largest aᵀK_m a among further kernels, none by default.
        """
        best = self.quadratics.max() if best is None else max(best, self.quadratics.max())
        return 0.5 * max(0.0, best - self.weights @ self.quadratics) + self.machine.gap


class KernelLearning:
    """Evaluates weights of the kernels of ``grams`` on one dual problem.

    Machines are started from the last solution. ``n_machines`` counts them. ``finest`` is the
    relative gap below which asking for more is in vain. A watch keeps every evaluation and the
    numbers of its kernels.
    """

    finest = 0.0

    def __init__(
        self, grams, problem, steps, *, max_iter=10_000, max_bytes=_LARGEST_GRAM, watch=None
    ):
        self.grams, self.problem, self.steps = grams, problem, steps
        self.max_iter, self.max_bytes = max_iter, max_bytes
        self.n_machines = 0
        self.latest, self.watch = None, watch
        self._matrix = self._matrix_weights = None

    def use(self, grams):
        """Weigh other kernels on the same rows from here on."""
        self.grams, self._matrix_weights = grams, None

    @property
    def everyone(self):
        return np.arange(self.grams.n_kernels)

    def solve(self, weights, *, tol, which=None, max_iter=None):
        """The machine for ``weights`` of the kernels ``which`` (all by default)."""
        which = self.everyone if which is None else which
        machine = solve_kernel_machine(
            self._source(weights, which), self.problem, self.steps, tol=tol,
            max_iter=max_iter or self.max_iter, start=self.latest,
        )  # fmt: skip
        self.latest = machine.dual_coef
        self.n_machines += 1
        return machine

    def evaluate(self, weights, *, tol, which=None):
        """The same, and the kernels' share in it."""
        which = self.everyone if which is None else which
        machine = self.solve(weights, tol=tol, which=which)
        weights, coef = np.asarray(weights, dtype=np.float64), machine.dual_coef
        n_used = np.count_nonzero(coef)
        if n_used**2 * len(which) <= _MOST_IMAGE_WORK:
            images = self.grams.images(coef, which)
            found = Evaluation(weights, machine, images @ coef[coef != 0.0], images)
        else:
            found = Evaluation(weights, machine, self.grams.quadratics(coef, which))
        if self.watch is not None:
            self.watch.keep((found, which))
        return found

    def in_double(self):
        """The same problem with matrices in double precision, from the last solution on."""
        # room for matrices twice as large
        self._matrix = self._matrix_weights = None
        self.grams.keep([])
        learning = type(self)(
            self.grams.in_double(), self.problem, self.steps, max_iter=self.max_iter,
            max_bytes=self.max_bytes, watch=self.watch,
        )  # fmt: skip
        learning.latest, learning.n_machines = self.latest, self.n_machines
        return learning

    @property
    def is_double(self):
        return self.grams.dtype == np.float64

    def certified(self, evaluation, *, tol, which=None):
        """The same with value, gap and quadratics in double precision: only such may be reported.

        Matrices of many rows, or of rows in float32, are in single precision, and what that rounds
        away, times C, may be more than the gap that is left. A machine whose gap turns out to be
        more than ``tol`` of its value is solved further, in double precision.
        """
        if self.is_double:
            return evaluation
        exact = self.grams.in_double()
        which = self.everyone if which is None else which
        weights, machine = evaluation.weights, evaluation.machine
        machine, quadratics = self._measured(exact, machine, weights, which)
        if machine.gap > tol * machine.objective:
            self.latest = machine.dual_coef
            further = self.in_double().solve(weights, tol=tol, which=which)
            machine = replace(further, n_iter=machine.n_iter + further.n_iter)
            machine, quadratics = self._measured(exact, machine, weights, which)
        return Evaluation(weights, machine, quadratics)

    def certified_machine(self, machine, weights, *, tol):
        """The same of a machine alone."""
        return self.certified(Evaluation(weights, machine, None), tol=tol).machine

    def _measured(self, exact, machine, weights, which):
        """A machine with the bias, value and gap that it has under ``exact``; aᵀK_m a there."""
        coef = machine.dual_coef
        scores, quadratics = mixed_scores(exact, coef, weights, which)
        slack = self.problem.targets - scores - self.steps.shift * coef.sum()
        bias, objective, gap = self._certificate(coef, slack)
        return MachineSolution(coef, bias, objective, gap, machine.n_iter, slack), quadratics

    def _certificate(self, coef, slack):
        return certificate(self.problem, self.steps, coef, slack)

    def certified_bound(self, dual_coef):
        """``bound`` over all kernels, in double precision."""
        exact = self.grams.in_double()
        return self._bound(dual_coef, exact.quadratics(dual_coef, self.everyone).max())

    def bound(self, evaluation, best):
        """A lower bound of min J over kernels whose largest aᵀK_m a is ``best``.

        Any dual vector gives one; this takes the best multiple t a, 0 ≤ t ≤ 1, of the machine's.
        """
        return self._bound(
            evaluation.machine.dual_coef, max(best, evaluation.quadratics.max())
        )  # fmt: skip

    def _bound(self, coef, largest):
        linear = self.problem.dual_value(coef, 0.0)
        quadratic = largest + self.steps.shift * coef.sum() ** 2
        shrunk = min(1.0, max(linear, 0.0) / max(quadratic, 1e-300))
        return shrunk * linear - 0.5 * shrunk**2 * quadratic

    def of_all(self, found, which):
        """An evaluation of the kernels ``which`` as one of all: what a search cut short leaves."""
        weights = np.zeros(self.grams.n_kernels)
        weights[which] = found.weights
        prices = self.grams.quadratics(found.machine.dual_coef, self.everyone)
        return Evaluation(weights, found.machine, prices)

    def fit_bias(self, slack):
        """The best bias for slack y − f that lacks it, and the loss that is left."""
        bias = self.problem.best_bias(slack)
        return bias, self.problem.loss(slack - bias)

    def matrix_bytes(self):
        return self.grams.n_rows**2 * self.grams.dtype.itemsize

    def _source(self, weights, which):
        if self.matrix_bytes() > self.max_bytes:
            used = np.flatnonzero(weights)
            return self._rows_on_demand(weights[used], which[used])
        everyone = np.zeros(self.grams.n_kernels)
        everyone[which] = weights
        self._matrix = self.grams.weighted(everyone, out=self._matrix)
        self._matrix_weights = everyone
        return GramRows(self._matrix)

    def _rows_on_demand(self, weights, which):
        kernel = self.grams.mixture(weights, which)
        return ComputedRows(
            kernel, self.grams.X, self.max_bytes, self.grams.landmarks, dtype=self.grams.dtype
        )

    def curvature(self, evaluation, which):
        """Second derivatives of J: U K_FF⁻¹ Uᵀ, U_m = (K_m a)_F on the free rows F."""
        coef = evaluation.machine.dual_coef
        free = np.flatnonzero(self._is_free(coef))
        if len(free) == 0:
            return np.zeros((len(which), len(which)))
        # the model need not be exact: where the matrix would not fit, some rows speak for all
        most = max(_FEWEST_FREE, int((self.max_bytes / 8) ** 0.5))
        free = free[:: -(-len(free) // most)]
        if evaluation.images is None:
            products = self.grams.products(coef, which, free)
        else:
            place = np.searchsorted(np.flatnonzero(coef), free)
            products = evaluation.images[:, place]
        matrix = self._free_matrix(evaluation.weights, which, free)
        solved = _solve_symmetric(matrix, np.vstack([products, np.ones(len(free))]).T)
        bend = products @ solved[:, :-1]
        if self.steps.is_free:  # the bias moves along: Σ da = 0
            ones = solved[:, -1]
            along = products @ ones
            bend -= np.outer(along, along) / max(ones.sum(), 1e-300)
        return 0.5 * (bend + bend.T)

    def _is_free(self, coef):
        return (coef > self.problem.lower) & (coef < self.problem.upper) & (coef != 0.0)

    def _free_matrix(self, weights, which, free):
        everyone = np.zeros(self.grams.n_kernels)
        everyone[which] = weights
        if np.array_equal(everyone, self._matrix_weights):
            matrix = self._matrix[np.ix_(free, free)]
        else:
            matrix = self._source(weights, which).block(free)
            if np.shares_memory(matrix, self._matrix):
                matrix = matrix.copy()
        matrix += matrix.dtype.type(self.steps.shift)
        return matrix


def told(watch, step, now, gap, which):
    """Tell a watch of a step of the weights; whether it asks for a stop."""
    if watch is None:
        return False
    figures = {"kernels": int((now.weights > 0).sum())}
    return watch(Progress(step, float(now.value), float(gap), state=(now, which), figures=figures))


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


def _solve_symmetric(matrix, right):
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
