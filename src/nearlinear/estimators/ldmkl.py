"""LD-MKL: every kernel votes where it expects to be right."""

import numpy as np

from ..gates.learned import softmax
from ..gates.scores import SoftmaxOf
from ..kernels.grams import Grams
from ..predictors.component_scores import ComponentScores
from ..predictors.gated import GatedVote
from ._base.constraints import one_of, positive
from ._base.gated_doc import documents_gated
from ._base.gated_machine import Localized
from ._base.kernel_machine import KernelClassifier
from ._base.kernel_success import SUCCESS_CONSTRAINTS, SUCCESS_DOC, KernelSuccessMachines

# Fewer rows than this share, or one class alone, do not make a machine of their own.
_SMALLEST_SHARE = 0.1
# Gates this close to each other, relative to their size, are equal up to what solvers leave.
_TIE = 1e-3


@documents_gated(
    "GatedVote", "Working sets of the slowest machine.",
    None, "Seed of the folds.",
    marks={"success": SUCCESS_DOC}, gap="(that of all machines)",
)  # fmt: skip
class LDMKLClassifier(KernelSuccessMachines, KernelClassifier):
    r"""LD-MKL: every kernel votes where it expects to be right.

    Every kernel gets a machine and a regression :math:`r_m` of where that machine is right; then a
    machine :math:`f_m` on the rows with :math:`g_m(x) \ge 1/M` (ties included) minimizes
    :math:`\frac12\|f_m\|^2 + C \sum_i \max(0, 1 - y_i f_m(x_i))`, and

    .. math:: f(x) = \sum_m g_m(x) \tanh f_m(x), \quad g(x) = \mathrm{softmax}(r(x) / T).

    No kernel is ever summed with another: machines are solved side by side (``n_jobs``).

    Parameters
    ----------
    %(kernels)s
    vote : {"plain", "gated", "printed"}, default="plain"
        "plain" lets every machine vote as it was solved; "printed" is the published formula: it
        multiplies a machine's coefficients by :math:`g_m(x_i)` and has no bias; "gated" multiplies
        them by :math:`M g_m(x_i)`, which is one on average, and fits the bias anew.
    temperature : float, default=1.0
        T: smaller ones sharpen the gate.
    %(success)s
    %(shared)s

    Attributes
    ----------
    success_ : array of shape (n_kernels,), or a list of such
        Share of the training rows on which each kernel's machine was right.
    gate_ : SoftmaxOf
        The gate g; ``gate_values(X)`` has shape (n_rows, n_kernels).
    %(attributes)s

    Notes
    -----
    Follows [1]_, Algorithm 3. Differs in: machines keep their bias, without which the vote fails
    for Gaussian kernels; a kernel that answers for less than a tenth of the rows, or one class
    alone, keeps its first machine; regressions are ε-insensitive machines solved by pair steps
    whatever ``solver`` says. Errors up to ε = ``success_epsilon`` are free in them, so that two
    kernels that are both right may have regressions 2ε apart for no reason but the solver's steps.
    Such kernels are tied: kernel m answers for a row where
    :math:`M g_m(x) \ge 0.999\, e^{-2ε/T}`. The published rule, :math:`g_m(x) > 1/M`, leaves it
    to rounding which of them are trained on the row.

    References
    ----------
    .. [1] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    _parameter_constraints = {
        **SUCCESS_CONSTRAINTS,
        "vote": [one_of("plain", "gated", "printed")],
        "temperature": [positive()],
    }

    def __init__(
        self,
        kernels="gaussians",
        *,
        vote="plain",
        temperature=1.0,
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
        self.vote = vote
        self.temperature = temperature
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
        singles, found = self._kernel_success(place, problem, rng)
        expected = np.array([success.expected for success in found]).T
        gates = softmax(expected / self.temperature)
        n_kernels, n_rows = len(found), len(problem)
        # two regressions of one value differ by up to two free errors: solvers decide by how much
        alike = np.exp(-2.0 * self.success_epsilon / self.temperature)
        least = (1.0 - _TIE) * alike / n_kernels

        def retrain(m):
            mine = np.flatnonzero(gates[:, m] >= least)
            return _retrained(singles[m], found[m].machine, mine, problem)

        machines = self._side_by_side(retrain, n_kernels)
        coefs, biases = np.zeros((n_kernels, n_rows)), np.zeros(n_kernels)
        for m, (rows, machine) in enumerate(machines):
            coefs[m, rows] = machine.dual_coef
            biases[m] = machine.bias
            if self.vote != "plain":
                coefs[m] *= gates[:, m]
                biases[m] = 0.0
                if self.vote == "gated":
                    coefs[m] *= n_kernels
                    grams, part = Grams([place.kernels[m]], place.rows.X), problem.take(rows)
                    slack = part.targets - grams.products(coefs[m], [0], rows)[0]
                    biases[m], _ = place.machine.fit_bias(part, slack)
        components = ComponentScores.of_machines(
            place.kernels, np.arange(n_kernels), place.rows.X, coefs, biases, self.n_features_in_
        )
        gate = SoftmaxOf(self._expected(place, found), 1.0 / self.temperature)
        support = np.any(coefs != 0.0, axis=0)
        details = {"gate_": gate, "success_": np.array([success.share for success in found])}
        return Localized(
            GatedVote(gate, components), support,
            sum(machine.objective for _, machine in machines),
            sum(machine.gap for _, machine in machines),
            max(machine.n_iter for _, machine in machines), details,
        )  # fmt: skip


def _retrained(single, machine, rows, problem):
    """A kernel's machine on the rows that it answers for; on all of them if these are too few."""
    signs = problem.targets[rows]
    enough = max(2, _SMALLEST_SHARE * len(problem))
    if len(rows) == len(problem) or len(rows) < enough or abs(signs.sum()) == len(signs):
        rows = np.arange(len(problem))
    else:
        machine = single.solve(problem.take(rows), rows)
    return rows, single.certified(machine, problem.take(rows), rows)
