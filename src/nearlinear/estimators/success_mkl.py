"""SwMKL and LD-MKL: kernels weighed by how well each alone does around a row."""

from numbers import Real

import numpy as np

from .._compile import count_threads, run_blocks
from ..gates.learned import softmax
from ..gates.score_gates import Clipped, SoftmaxOf, UnitLength
from ..kernels.gated_grams import GatedGrams, with_gates
from ..kernels.grams import Grams
from ..kernels.pairwise import PairwiseNormalizedSum
from ..predictors.component_scores import ComponentScores
from ..predictors.gated import ExpansionOfGatedRows, GatedExpansion, GatedVote
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.bias_steps import FreeBias
from ..solvers.success import SingleKernel, learn_success, stratified_folds
from .constraints import SHARED, at_least, one_of, positive
from .gated_doc import documents_gated
from .gated_machine import GATED_CONSTRAINTS, GatedMachines, Localized
from .kernel_machine import KernelClassifier

# Fewer rows than this share, or one class alone, do not make a machine of their own.
_SMALLEST_SHARE = 0.1

_CONSTRAINTS = {
    **GATED_CONSTRAINTS,
    "class_weight": SHARED["class_weight"],
    "success": [one_of("training", "out_of_fold")],
    "n_folds": [at_least(2)],
    "success_C": [positive()],
    "success_epsilon": [at_least(0.0, Real)],
}


class _Success(GatedMachines):
    def _kernel_success(self, place, problem, rng):
        """Machine and success of every kernel alone, kernels side by side on threads."""
        folds = ()
        if self.success == "out_of_fold":
            folds = stratified_folds(problem.targets, self.n_folds, rng)
        singles = self._singles(place)
        found = [None] * len(singles)

        def work(start, stop):
            for m in range(start, stop):
                found[m] = learn_success(
                    singles[m], problem, place.rows.weight, C=self.success_C,
                    epsilon=self.success_epsilon, folds=folds,
                )  # fmt: skip

        run_blocks(work, len(singles), 1, self.n_jobs)
        return singles, found

    def _singles(self, place):
        side_by_side = min(count_threads(self.n_jobs), len(place.kernels))
        options = {"tol": self.tol, "max_bytes": place.max_bytes / side_by_side}
        return [
            SingleKernel(kernel, place.rows.X, place.learning, FreeBias(), **options)
            for kernel in place.kernels
        ]

    def _expected(self, place, found):
        """The regressions of success as a function of rows."""
        return ComponentScores.of_machines(
            place.kernels, np.arange(len(found)), place.rows.X,
            np.array([success.regression.dual_coef for success in found]),
            [success.regression.bias for success in found], self.n_features_in_,
        )  # fmt: skip


@documents_gated(
    "GatedExpansion or ExpansionOfGatedRows", "Working sets of the last machine.",
    "Not used: machines stop at ``tol``.", "Seed of the folds.",
)  # fmt: skip
class SwMKLClassifier(_Success, KernelClassifier):
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
    success : {"training", "out_of_fold"}, default="training"
        Where a kernel's success is taken from: its machine of all rows, as published, or machines
        that have not seen the rows they are tried on. Flexible kernels are right on nearly all rows
        they have seen, which says little of them.
    n_folds : int, default=5
        Folds of "out_of_fold".
    success_C : float, default=1.0
        Weight of the losses in the regressions of success.
    success_epsilon : float, default=0.01
        Errors up to this size are free in them.
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

    _parameter_constraints = {**_CONSTRAINTS, "blend": [one_of("separable", "pairwise")]}

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
        normalisation="variance",
        solver="smo",
        tol=1e-2,
        max_iter=500,
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
        self.normalisation = normalisation
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
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
        machine = place.learn(grams, problem).solve(np.ones(len(owners)), tol=self.tol)
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
        machine = place.learn(grams, problem).solve(np.ones(1), tol=self.tol)
        support = np.flatnonzero(machine.dual_coef)
        expansion = KernelExpansion(
            (kernel,), rows[support],
            machine.dual_coef[None, support, None].astype(X.dtype),
            np.array([machine.bias], dtype=X.dtype), self.n_features_in_,
        )  # fmt: skip
        return ExpansionOfGatedRows(gate, expansion), machine


@documents_gated(
    "GatedVote", "Working sets of the slowest machine.",
    "Not used: machines stop at ``tol``.", "Seed of the folds.", gap="(that of all machines)",
)  # fmt: skip
class LDMKLClassifier(_Success, KernelClassifier):
    r"""LD-MKL: every kernel votes where it expects to be right.

    Every kernel gets a machine and a regression :math:`r_m` of where that machine is right; then a
    machine :math:`f_m` on the rows with :math:`g_m(x) \ge 1/M` minimizes
    :math:`\frac12\|f_m\|^2 + C \sum_i \max(0, 1 - y_i f_m(x_i))`, and

    .. math:: f(x) = \sum_m g_m(x) \tanh f_m(x), \quad g(x) = \mathrm{softmax}(r(x) / T).

    No kernel is ever summed with another: machines are solved side by side (``n_jobs``).

    Parameters
    ----------
    %(kernels)s
    vote : {"plain", "gated", "printed"}, default="plain"
        "plain" lets every machine vote as it was solved; "gated" multiplies its coefficients by
        :math:`M g_m(x_i)` and fits its bias anew; "printed" is the published formula, the same
        without a bias.
    temperature : float, default=1.0
        T: smaller ones sharpen the gate.
    success : {"training", "out_of_fold"}, default="training"
        Where a kernel's success is taken from: its machine of all rows, as published, or machines
        that have not seen the rows they are tried on. Flexible kernels are right on nearly all rows
        they have seen, which says little of them.
    n_folds : int, default=5
        Folds of "out_of_fold".
    success_C : float, default=1.0
        Weight of the losses in the regressions of success.
    success_epsilon : float, default=0.01
        Errors up to this size are free in them.
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
    whatever ``solver`` says.

    References
    ----------
    .. [1] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    _parameter_constraints = {
        **_CONSTRAINTS,
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
        normalisation="variance",
        solver="smo",
        tol=1e-2,
        max_iter=500,
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
        self.normalisation = normalisation
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
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
        machines = [None] * n_kernels

        def work(start, stop):
            for m in range(start, stop):
                mine = np.flatnonzero(gates[:, m] >= (1.0 - 1e-9) / n_kernels)
                machines[m] = _retrained(singles[m], found[m].machine, mine, problem)

        run_blocks(work, n_kernels, 1, self.n_jobs)
        coefs, biases = np.zeros((n_kernels, n_rows)), np.zeros(n_kernels)
        for m, (rows, machine) in enumerate(machines):
            coefs[m, rows] = machine.dual_coef
            biases[m] = machine.bias
            if self.vote != "plain":
                coefs[m] *= n_kernels * gates[:, m]
                biases[m] = 0.0
                if self.vote == "gated":
                    grams, part = Grams([place.kernels[m]], place.rows.X), problem.take(rows)
                    slack = part.targets - grams.products(coefs[m], [0], rows)[0]
                    biases[m], _ = place.learn(grams, part).fit_bias(slack)
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
        return np.arange(len(problem)), machine
    return rows, single.solve(problem.take(rows), rows)
