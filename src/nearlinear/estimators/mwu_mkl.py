"""MWUMKL: multiple kernel learning from Gram columns alone."""

import numpy as np

from ..solvers.machine.exchange import certify_mixture, solve_by_averaging, solve_by_exchange
from ..solvers.machine.problem import MachineSolution
from ..solvers.mixture.objective import mixed_scores
from ._base.constraints import SHARED, one_of, positive, without
from ._base.kernel_machine import MACHINE_CONSTRAINTS, KernelClassifier, Learned
from ._base.machine_doc import documents_machine
from ._base.progress import tell

# A row of weight zero among precomputed ones: its slack is as good as free.
_SMALLEST_C = 1e-9


@documents_machine(n_iter="Steps of the slowest class.", bias=False, tol="2e-2", max_iter=100_000)
class MWUMKLClassifier(KernelClassifier):
    r"""MWUMKL: kernels and machine learned together from a few Gram columns at a time.

    Minimizes, over mixtures :math:`\sum_m \mu_m k_m` with weights :math:`\mu \ge 0` that sum to one
    and functions :math:`f` of the mixture,

    .. math:: \|f\|^2 + C \sum_i \max(0,\, 1 - y_i (f(x_i) + b))^2.

    The best mixture is the one under which the two classes lie furthest apart: the saddle point of
    :math:`\min_\alpha \max_m \alpha^\top (Y K_m Y + I/C)\, \alpha` over means of the two classes.
    No Gram matrix is formed: memory grows with rows × kernels.

    Parameters
    ----------
    %(parameters)s
    solver : {"exchange", "averaging"}, default="exchange"
        "averaging" is the published scheme: the oracle's answers are averaged. "exchange" goes on
        from it with exact steps on pairs of rows and reaches small gaps much sooner.
    eps : float, default=0.02
        Accuracy that sets the step and the number of rounds of "averaging".

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    Follows [1]_. Differs in: the step is relative to the kernels' true width; the gap is certified
    and stops the rounds early; scale and bias of f are fitted exactly; "exchange". ``objective_``
    is the squared distance between the classes' means, and C weighs squared slacks: it is no C of
    the other machines.

    References
    ----------
    .. [1] J. Moeller, P. Raman, A. Saha, S. Venkatasubramanian, "A Geometric Algorithm for Scalable
           Multiple Kernel Learning", AISTATS 2014.
    """

    bias = "free"  # the geometric form has no other

    _parameter_constraints = {
        **without("bias", MACHINE_CONSTRAINTS),
        "class_weight": SHARED["class_weight"],
        "solver": [one_of("exchange", "averaging")],
        "eps": [positive()],
    }

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        normalization="variance",
        solver="exchange",
        eps=0.02,
        tol=2e-2,
        max_iter=100_000,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.eps = eps
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _weigh(self, learning):
        grams, problem = learning.grams, learning.problem
        ridge = 1.0 / np.maximum(problem.upper - problem.lower, _SMALLEST_C)
        data = (grams.columns, grams.diagonals(), problem.targets, ridge)
        if self.solver == "exchange":
            found = solve_by_exchange(*data, tol=self.tol, max_iter=self.max_iter)
        else:
            eps = min(self.eps, 0.99)
            found = solve_by_averaging(*data, eps=eps, tol=self.tol, max_iter=self.max_iter)
        exact = grams.in_double()
        if exact is not grams:
            scores, quadratics = mixed_scores(
                exact, found.dual_coef, found.kernel_weights, learning.everyone
            )
            found = certify_mixture(found, scores, quadratics, problem.targets, ridge)
        gap = found.upper - found.lower
        figures = {"gap": float(gap), "columns": found.n_columns}
        tell(self, f"step {found.n_iter}", {"objective": float(found.upper), **figures})
        machine = MachineSolution(
            found.dual_coef, found.bias, found.upper, gap, found.n_iter, None
        )  # fmt: skip
        return Learned(found.kernel_weights, machine, found.upper, gap, found.n_iter)
