"""SwMKL: kernels blended by how often each alone is right around a row."""

import numpy as np

from ..gates.scores import Clipped, UnitLength
from ..kernels.composite import PairwiseNormalizedSum
from ..kernels.gated_grams import GatedGrams, with_gates
from ..kernels.grams import Grams
from ..predictors.component_scores import ComponentScores
from ..predictors.gated import ExpansionOfGatedRows, GatedExpansion
from ..predictors.kernel_expansion import KernelExpansion
from ._base.constraints import one_of
from ._base.gated_doc import documents_gated
from ._base.gated_machine import Localized
from ._base.kernel_machine import KernelClassifier
from ._base.kernel_success import SUCCESS_CONSTRAINTS, SUCCESS_DOC, KernelSuccessMachines


@documents_gated(
    "GatedExpansion or ExpansionOfGatedRows", "Working sets of the last machine.",
    None, "Seed of the folds.", marks={"success": SUCCESS_DOC},
)  # fmt: skip
class SwMKLClassifier(KernelSuccessMachines, KernelClassifier):
    r"""SwMKL: kernels weighed by how often each alone is right around a row.

    Every kernel gets a machine, a regression :math:`g_m` of where that machine is right, and the
    last machine minimizes :math:`\frac12\|f\|^2 + C \sum_i \max(0, 1 - y_i f(x_i))` with the kernel

    .. math:: k(x, z) = \sum_m \tilde g_m(x)\, k_m(x, z)\, \tilde g_m(z), \quad
              \tilde g(x) = g(x) / \|g(x)\|.

    Parameters
    ----------
    %(kernels)s
    blend : {"separable", "pairwise"}, default="separable"
        "separable" is the kernel above; "pairwise" the published one, which divides by
        :math:`\sum_m g_m(x) g_m(z)` instead. That one is not positive semi-definite in general, so
        its machine is a stationary point and its gap no certificate.
    %(success)s
    %(shared)s

    Attributes
    ----------
    success_ : array of shape (n_kernels,), or a list of such
        Share of the training rows on which each kernel's machine was right.
    gate_ : Clipped
        Expected success; ``gate_values(X)`` has shape (n_rows, n_kernels).
    %(attributes)s

    Notes
    -----
    Follows [1]_ as told by [2]_. Differs in: the separable kernel by default; regressions are
    ε-insensitive machines on all features, clipped to [0.001, 1]; they are solved by pair steps
    whatever ``solver`` says.

    References
    ----------
    .. [1] R. Kannao, P. Guha, "Success based locally weighted multiple kernel combination", Pattern
           Recognition 68, 2017.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    _parameter_constraints = {**SUCCESS_CONSTRAINTS, "blend": [one_of("separable", "pairwise")]}

    def __init__(
        self,
        kernels="gaussians",
        *,
        blend="separable",
        success="training",
        n_folds=5,
        success_C=1.0,
        success_epsilon=0.01,
        C=10.0,
        normalization="variance",
        solver="smo",
        tol=1e-2,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.blend = blend
        self.success = success
        self.n_folds = n_folds
        self.success_C = success_C
        self.success_epsilon = success_epsilon
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _learn_output(self, place, problem, rng):
        _, found = self._kernel_success(place, problem, rng)
        gate = Clipped(self._expected(place, found))
        finish = self._separable if self.blend == "separable" else self._pairwise
        predictor, machine = finish(place, problem, gate)
        support = machine.dual_coef != 0.0
        details = {"gate_": gate, "success_": np.array([success.share for success in found])}
        return Localized(
            predictor, support, machine.objective, machine.gap, machine.n_iter, details
        )

    def _separable(self, place, problem, gate):
        gate, owners = UnitLength(gate), np.arange(len(place.kernels))
        values = gate(place.rows.X)
        grams = GatedGrams(place.grams(), owners, values)
        objective, weights = place.objective(grams, problem), np.ones(len(owners))
        machine = objective.solve(weights, self.tol)
        machine = objective.certified_machine(machine, weights, self.tol)
        components = ComponentScores.of_machines(
            place.kernels, owners, place.rows.X, (machine.dual_coef[:, None] * values).T,
            np.zeros(len(owners)), self.n_features_in_,
        )  # fmt: skip
        return GatedExpansion(gate, components, machine.bias), machine

    def _pairwise(self, place, problem, gate):
        X = place.rows.X
        kernel = PairwiseNormalizedSum(tuple(place.kernels), X.shape[1])
        rows = with_gates(X, gate(X))
        grams = Grams([kernel], rows, n_jobs=self.n_jobs)
        objective = place.objective(grams, problem)
        machine = objective.solve(np.ones(1), self.tol)
        machine = objective.certified_machine(machine, np.ones(1), self.tol)
        support = np.flatnonzero(machine.dual_coef)
        expansion = KernelExpansion(
            (kernel,), rows[support],
            machine.dual_coef[None, support, None].astype(X.dtype),
            np.array([machine.bias], dtype=X.dtype), self.n_features_in_,
        )  # fmt: skip
        return ExpansionOfGatedRows(gate, expansion), machine
