"""What estimators on sums of kernels share: kernels, memory, one machine per output."""

from dataclasses import dataclass
from numbers import Real

import numpy as np
from sklearn.utils.validation import validate_data

from ...kernels.family import fix_kernels, parse_kernels
from ...kernels.grams import DOUBLE_ROWS, Grams
from ...kernels.standard import Precomputed
from ...predictors.kernel_expansion import KernelExpansion
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.machine.bias import FixedBias, FreeBias
from ...solvers.machine.problem import DualProblem, MachineSolution
from ...solvers.mixture.objective import Descent, KernelObjective
from ...solvers.watch import Watch
from .constraints import SHARED, at_least, one_of
from .old_model import LocalClassifier, LocalEstimator, LocalRegressor, require_memory
from .progress import each_output, teller
from .whole_fit import keep

# Without max_memory: what Gram matrices may take, together and each.
_GRAM_BYTES = 1 << 29
# A machine on rows computed on demand needs so many at once, or so many bytes of them.
_FEWEST_ROWS, _SMALLEST_WORKSPACE = 256, 1 << 26
# Tiles of Gram matrices and scales of rows, whatever the number of rows.
_TILES = 10 << 20

MACHINE_CONSTRAINTS = {
    **{name: SHARED[name] for name in ("C", "tol", "max_iter", "max_memory", "n_jobs", "verbose")},
    "kernels": "no_validation",  # anything that parse_kernels takes
    "normalization": [one_of("variance", "trace", "diagonal"), None],
    "bias": [one_of("free", "penalized", "none")],
}


@dataclass(frozen=True)
class Learned:
    """Kernel weights and machine of one output, with the gap of both together."""

    weights: np.ndarray
    machine: MachineSolution
    objective: float
    gap: float
    n_iter: int


class KernelMachine(LocalEstimator):
    """Fits one machine per output on shared Gram matrices.

    A method adds ``_weigh(descent)``, which returns a ``Learned``. A task adds
    ``_problems(rows, units)``, one dual problem per output.
    """

    # as large as the budget, at once: matrices kept, in work, among free rows, and its factor
    _n_matrices = 4

    def _learn(self, rows):
        parsed, landmarks = self._parsed_kernels(rows.X)
        kernels, kept = fix_kernels(parsed, rows.X, self.normalization)
        budget = self._gram_bytes(rows, len(kernels))
        grams = Grams(kernels, rows.X, max_bytes=budget, n_jobs=self.n_jobs, landmarks=landmarks)
        units = self._units_of(rows)
        found, problems = [], self._problems(rows, units)
        for problem in each_output(self, problems):
            watch = Watch(teller(self, "step"))
            objective = KernelObjective(grams, problem, self._steps(), max_bytes=budget)
            descent = Descent(objective, watch=watch)
            try:
                found.append(self._weigh(descent))
            except KeyboardInterrupt:
                if watch.last is None or problem is not problems[-1]:
                    raise
                keep(self, "the last weights are")
                last = objective.certified(objective.of_all(*watch.last), tol=np.inf)
                n_machines = descent.n_machines
                found.append(
                    Learned(last.weights, last.machine, last.objective, last.gap, n_machines)
                )
        weights = np.zeros((len(found), len(parsed)))
        weights[:, kept] = [learned.weights for learned in found]
        self.kernels_ = parsed
        self._keep_machines(rows, units, kernels, landmarks, found)
        self.kernel_weights_ = weights[0] if len(found) == 1 else weights
        self.objective_ = float(sum(learned.objective for learned in found))
        self.duality_gap_ = float(sum(learned.gap for learned in found))
        self.n_iter_ = max(learned.n_iter for learned in found)
        warn_if_loose(found, self.tol, type(self).__name__)

    def _keep_machines(self, rows, units, kernels, landmarks, found):
        """The predictor: rows and kernels that some output uses."""
        dual = np.stack([learned.machine.dual_coef for learned in found], axis=1)
        weights = np.stack([learned.weights for learned in found])
        support = np.flatnonzero(np.any(dual != 0.0, axis=1))
        used = np.flatnonzero(np.any(weights > 0.0, axis=0))
        coefficients = units.spread * weights.T[used, None, :] * dual[support]
        dtype = rows.X.dtype
        self.predictor_ = KernelExpansion(
            tuple(kernels[m] for m in used),
            (rows.X if landmarks is None else landmarks)[support],
            np.ascontiguousarray(coefficients, dtype=dtype),
            np.array([units.unscaled(learned.machine.bias) for learned in found], dtype=dtype),
            self.n_features_in_,
        )
        self.n_support_ = len(support)
        self.support_share_ = len(support) / rows.X.shape[0]

    def _steps(self):
        if self.bias == "free":
            return FreeBias()
        return FixedBias(1.0 if self.bias == "penalized" else 0.0)

    def _parsed_kernels(self, X):
        if not self._is_precomputed:
            return parse_kernels(self.kernels, X.shape[1]), None
        if self.normalization == "diagonal":
            raise ValueError(
                "Precomputed kernels cannot be given a unit diagonal, since new rows come without "
                "theirs; divide them yourself and take normalization=None."
            )
        return [Precomputed(m) for m in range(X.shape[2])], np.arange(X.shape[1])[:, None]

    def _gram_bytes(self, rows, n_kernels):
        """Bytes for Gram matrices, so that all together stays below max_memory."""
        n_rows = rows.X.shape[0]
        itemsize = 8 if n_rows <= DOUBLE_ROWS else 4
        vectors = n_rows * (200 + 16 * n_kernels + 8 * rows.targets.shape[1])
        other = vectors + min(_TILES, 40 * n_rows**2)
        workspace = min(_SMALLEST_WORKSPACE, itemsize * n_rows * min(n_rows, _FEWEST_ROWS))
        require_memory(other + self._n_matrices * workspace, self.max_memory, "give fewer rows")
        if self.max_memory is None:
            return _GRAM_BYTES
        return (self.max_memory - other) / self._n_matrices

    @property
    def _is_precomputed(self):
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def _check_training_rows(self, X, y, reset, **y_checks):
        if not self._is_precomputed:
            return super()._check_training_rows(X, y, reset, **y_checks)
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], allow_nd=True, reset=reset, **y_checks
        )
        X = _as_stack(X)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed stack of kernels must have as many columns as rows in fit; it has "
                f"shape {X.shape}: give an array of shape (n_rows, n_rows, n_kernels)."
            )
        return X, y

    def _check_rows(self, X):
        if not self._is_precomputed or not hasattr(self, "predictor_"):
            return super()._check_rows(X)
        X = validate_data(self, X, dtype=self._score_dtype, allow_nd=True, reset=False)
        X = _as_stack(X)
        if X.shape[2] != len(self.kernels_):
            raise ValueError(
                f"X is a stack of {X.shape[2]} kernels, but {type(self).__name__} was fitted to "
                f"{len(self.kernels_)}: give an array of shape (n_rows, {X.shape[1]}, "
                f"{len(self.kernels_)})."
            )
        return X

    @property
    def _score_dtype(self):
        return self.predictor_.coefficients.dtype

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        tags.input_tags.sparse = not self._is_precomputed
        tags.input_tags.three_d_array = self._is_precomputed
        return tags


class KernelClassifier(LocalClassifier, KernelMachine):
    """One machine for two classes, else one for each class against the rest."""

    _parameter_constraints = {**MACHINE_CONSTRAINTS, "class_weight": SHARED["class_weight"]}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        normalization="variance",
        bias="free",
        tol=1e-2,
        max_iter=500,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.C = C
        self.normalization = normalization
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _problems(self, rows, units):
        C = self.C * rows.weight
        return [DualProblem.of_signs(signs, C) for signs in rows.targets.T]


class KernelRegressor(LocalRegressor, KernelMachine):
    """One machine with the ε-insensitive loss, on values of unit spread."""

    _parameter_constraints = {**MACHINE_CONSTRAINTS, "epsilon": [at_least(0.0, Real)]}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        epsilon=0.1,
        normalization="variance",
        bias="free",
        tol=1e-2,
        max_iter=500,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.normalization = normalization
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _problems(self, rows, units):
        values = units.scaled(rows.targets[:, 0])
        return [DualProblem.of_values(values, self.C * rows.weight, self.epsilon)]


def _as_stack(X):
    return X[:, :, None] if X.ndim == 2 else X
