"""What the multiple locally linear kernel machines share: candidates, solver, collapse."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils import check_random_state

from ...kernels.candidates import ConformalBank, ConformalScales
from ...kernels.conformal import PROFILES
from ...kernels.conformal_grams import ConformalGrams
from ...predictors.conformal_linear import ConformalLinear
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.conformal.local_kernels import LocalKernels
from ...solvers.conformal.refinement import refine
from ...solvers.machine.bias import FixedBias, FreeBias
from ...solvers.mixture.active_set import (
    SequentialSolution,
    certified,
    keep_largest,
    solve_on_sample,
    solve_sequential,
)
from ...solvers.mixture.objective import Descent, Evaluation, KernelObjective
from ...solvers.watch import Watch
from .conformal_candidates import checked_bandwidths, place_anchors
from .conformal_streaming import ConformalStreaming
from .constraints import SHARED, Interval, at_least, one_of
from .old_model import LocalEstimator, require_memory
from .progress import each_output, teller
from .rows import TrainingRows
from .whole_fit import keep

# Up to this many rows a machine's Gram matrix is built; beyond, features are computed on the fly.
_GRAM_ROWS = 500
# How exactly a machine of all rows is solved where Ctrl-C leaves a sample's weights.
_LOOSE = 0.1

CONFORMAL_CONSTRAINTS = {
    **{name: SHARED[name] for name in ("C", "tol", "max_iter", "max_memory", "n_jobs", "verbose")},
    "random_state": SHARED["random_state"],
    "profile": [one_of(*PROFILES)],
    "per_feature": ["boolean"],
    "length_exponent": [Interval(Real, 0, 1, closed="both")],
    "bandwidths": ["array-like", None],
    "anchors": [one_of("rows", "kmeans"), "array-like"],
    "n_anchors": [at_least(1), None],
    "bias": [one_of("free", "penalized", "none")],
    "max_kernels": [at_least(1), None],
    "refinement": [one_of("models", "kernels"), None],
    "max_insertions": [at_least(1)],
    "chunk_size": [at_least(1), None],
    "max_support": [at_least(1), None],
    "selection_rows": [at_least(1), None],
}


@dataclass(frozen=True)
class Machine:
    """What one output has learned: kernels and their machine, local models, the certificate."""

    bank: ConformalBank
    evaluation: Evaluation
    kernels: LocalKernels
    gap: float
    n_iter: int


@dataclass(frozen=True)
class Solved:
    """All that a fit has found."""

    scales: ConformalScales
    rows: TrainingRows
    problems: list
    machines: list

    @property
    def dual_coef(self):
        """Shape (n_rows, n_outputs)."""
        return np.stack([one.evaluation.machine.dual_coef for one in self.machines], axis=1)

    @property
    def solutions(self):
        """Bank and evaluation of every output."""
        return [(one.bank, one.evaluation) for one in self.machines]

    @property
    def is_support(self):
        return np.any(self.dual_coef != 0.0, axis=1)


class ConformalMachine(ConformalStreaming, LocalEstimator):
    """Chooses conformal kernels for every output.

    A task adds ``_problems(rows)``, one dual problem per output, of targets in
    ``self._units``.
    """

    def _learn(self, rows):
        found = self._solve(rows)
        self._open_stream(found)

    def _solve(self, rows):
        """Machines for all outputs, and the predictor made of them."""
        self._units = self._units_of(rows)
        self._check_memory(rows)
        scales = self._scales(rows.X, rows.weight)
        rng = check_random_state(self.random_state)
        bank = scales.bank(place_anchors(self.anchors, self.n_anchors, rows, rng))
        grams = ConformalGrams(bank, rows.X, self.n_jobs)
        problems = self._problems(rows)
        machines = [
            self._learn_output(bank, grams, rows, problem, is_last=problem is problems[-1])
            for problem in each_output(self, problems)
        ]
        self._keep(
            [one.kernels for one in machines], [one.evaluation.weights for one in machines],
            rows.X.dtype,
        )  # fmt: skip
        self.objective_ = float(sum(one.evaluation.objective for one in machines))
        self.duality_gap_ = float(sum(one.gap for one in machines))
        self.n_iter_ = max(one.n_iter for one in machines)
        self.n_priced_ = len(bank)
        return Solved(scales, rows, problems, machines)

    def _learn_output(self, bank, grams, rows, problem, is_last):
        watch = Watch(teller(self, "round"))
        objective = self._objective(grams, problem)
        descent = Descent(objective, watch=watch)
        try:
            found = self._choose(bank, descent, rows)
        except KeyboardInterrupt:
            if watch.last is None or not is_last:
                raise
            keep(self, "the last weights are")
            last, which = watch.last
            if len(last.machine.dual_coef) < len(rows.X):  # a sample's: it must hold for all rows
                last = descent.at(last.weights, _LOOSE, which)
            last = objective.certified(objective.of_all(last, which), tol=np.inf)
            gap, n_machines = last.gap, descent.n_machines
            used = np.flatnonzero(last.weights)
            found = SequentialSolution(last.take(used), last.weights, gap, n_machines, [])
        now, chosen = keep_largest(objective, found, self.max_kernels, self.tol)
        if now is not found.evaluation:
            now = objective.certified(now, 0.5 * self.tol, chosen)
        bank = bank.take(chosen)
        kernels = _collapse(bank, rows.X, now)
        if self.refinement is not None:
            ridge = bank.divisors / now.weights
            refined = refine(
                kernels.shifted(grams.origin), grams.X, problem, ridge, objective.bias,
                moves=self.refinement, n_jobs=self.n_jobs,
            )  # fmt: skip
            kernels = refined.shifted(-grams.origin)
        gap = now.objective - (found.evaluation.objective - found.gap)
        return Machine(bank, now, kernels, gap, found.n_rounds)

    def _objective(self, grams, problem):
        gram_bytes = grams.dtype.itemsize * _GRAM_ROWS**2
        return KernelObjective(grams, problem, self._steps(), max_bytes=gram_bytes)

    def _choose(self, bank, descent, rows):
        """Kernels and their weights; of many rows, a sample chooses the kernels."""
        options = {
            "tol": self.tol, "max_insertions": self.max_insertions, "chunk_size": self.chunk_size,
            "max_rounds": self.max_iter, "watch": descent.watch,
        }  # fmt: skip
        n_rows = len(rows.X)
        if self.selection_rows is not None and n_rows > self.selection_rows:
            # rows are in the order of their hashes, which is as good as any random one
            some = np.arange(n_rows)[:: -(-n_rows // self.selection_rows)]
            grams = ConformalGrams(bank, rows.X[some], self.n_jobs)
            sample = self._objective(grams, descent.objective.problem.take(some))
            sample = Descent(sample, watch=descent.watch)
            found = solve_on_sample(descent, sample, **options)
            return certified(descent.objective, found, tol=self.tol)
        found = certified(
            descent.objective, solve_sequential(descent, **options), tol=self.tol
        )  # fmt: skip
        warn_if_loose([found], self.tol, type(self).__name__)
        return found

    def _scales(self, X, weight):
        return ConformalScales.of_rows(
            X, weight, PROFILES[self.profile], self.per_feature,
            checked_bandwidths(self.bandwidths), self.length_exponent,
        )  # fmt: skip

    def _steps(self):
        if self.bias == "free":
            return FreeBias()
        return FixedBias(1.0 if self.bias == "penalized" else 0.0)

    def _check_memory(self, rows):
        """Vectors of rows and of candidates, one working matrix, and blocks of gates."""
        n_rows, n_features = rows.X.shape
        n_anchors = min(self.n_anchors or n_rows, n_rows)
        if not isinstance(self.anchors, str):
            n_anchors = len(self.anchors)
        n_candidates = n_anchors * len(checked_bandwidths(self.bandwidths))
        matrices = 5 * 8 * min(n_rows, _GRAM_ROWS) ** 2
        blocks = 1 << 24
        # rows in single precision, and in double for the certificate
        size = n_rows * (120 + 12 * n_features) + n_candidates * (40 + 16 * n_features)
        require_memory(
            size + matrices + blocks, self.max_memory, "lower n_anchors, give fewer rows"
        )

    def _keep(self, outputs, weights, dtype):
        """The predictor: kernels that several outputs use are stored once."""
        anchors, places = np.unique(
            np.concatenate(
                [np.column_stack([one.gammas, one.anchors]) for one in outputs]
            ), axis=0, return_inverse=True,
        )  # fmt: skip
        models = self._units.spread * np.concatenate([one.models for one in outputs])
        owner = np.repeat(np.arange(len(outputs)), [len(one.gammas) for one in outputs])
        order = np.argsort(places, kind="stable")
        self.predictor_ = ConformalLinear(
            np.ascontiguousarray(anchors[:, 1:], dtype=dtype), anchors[:, 0].astype(dtype),
            models[order].astype(dtype), places[order].astype(np.int64), owner[order],
            np.array([self._units.unscaled(one.bias) for one in outputs], dtype=dtype),
            self.profile, self.per_feature,
        )  # fmt: skip
        table = np.zeros((len(outputs), len(anchors)))
        table[owner, places] = np.concatenate(weights)
        self.kernel_weights_ = table[0] if len(outputs) == 1 else table
        self.n_kernels_ = len(anchors)

    @property
    def anchors_(self):
        """Anchors of the kernels in use."""
        return self.predictor_.anchors

    @property
    def gammas_(self):
        """Their γ."""
        return self.predictor_.gammas

    def support_score(self, X):
        """How strongly the best kernel answers for each row: 0 where the model knows nothing.

        Bounded profiles ("linear", "square") are exactly zero far from all anchors, the others
        all but zero.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples,)
            Numbers between 0 and 1.
        """
        X = self._check_rows(X)  # first: says so if there is nothing fitted yet
        return self.predictor_.support_score(X, n_jobs=self.n_jobs)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def _collapse(bank, X, evaluation):
    """Explicit local models, which need no support rows."""
    dual_coef = evaluation.machine.dual_coef
    used = np.flatnonzero(dual_coef)
    feature_sums = bank.collect(X[used].astype(np.float64), dual_coef[used], np.arange(len(bank)))
    return LocalKernels.collapse(bank, evaluation.weights, feature_sums, evaluation.machine.bias)
