"""MWUMKL: multiple kernel learning from Gram columns alone."""

from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from .._hints import ClassWeight
from ..kernels.family import KernelsLike
from ..solvers.machine.exchange import certify_mixture, solve_by_averaging, solve_by_exchange
from ..solvers.machine.problem import MachineSolution
from ..solvers.mixture.objective import mixed_scores
from ._base.checks import one_of, positive, shared
from ._base.kernels import Weighed, learn_mixture
from ._base.model import Model

# A row of weight zero among precomputed ones: its slack is as good as free.
_SMALLEST_C = 1e-9


class MWUMKLClassifier(ClassifierMixin, Model):
    r"""MWUMKL: kernels and machine learned together from a few Gram columns at a time.

    Minimizes, over mixtures :math:`\sum_m \mu_m k_m` with weights :math:`\mu \ge 0` that sum to one
    and functions :math:`f` of the mixture,

    .. math:: \|f\|^2 + C \sum_i \max(0,\, 1 - y_i (f(x_i) + b))^2.

    The best mixture is the one under which the two classes lie furthest apart: the saddle point of
    :math:`\min_\alpha \max_m \alpha^\top (Y K_m Y + I/C)\, \alpha` over means of the two classes.
    No Gram matrix is formed. Memory grows with rows × kernels.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "poly" or "gaussian"; "gaussians" stands
        for Gaussian kernels of ten widths on all features, and "bank" for these and polynomial
        kernels, on all features and on every single one. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        With "precomputed", X has the shape (n_rows, n_training_rows, n_kernels).
    C : float, default=10.0
        Weight of the losses: a larger C fits the training rows more closely.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    solver : {"exchange", "averaging"}, default="exchange"
        "averaging" is the published scheme: the answers of an oracle are averaged. "exchange" goes
        on from there with exact steps on pairs of rows and reaches small gaps much sooner.
    eps : float, default=0.02
        The accuracy that sets the step and the number of rounds of "averaging".
    tol : float, default=2e-2
        Learning stops when the objective is within this fraction of its optimum over all kernels.
    max_iter : int, default=100_000
        The most steps.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    kernel_weights_ : array of shape (n_kernels,) or (n_classes, n_kernels)
        Weights of the kernels; one row for each class if there are more than two.
    kernels_ : list
        The kernels that the weights belong to.
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum, at most.
    n_iter_ : int
        Steps for the slowest class.
    n_support_ : int
        Number of training rows that the model keeps.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : KernelExpansion
        Support rows and coefficients: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_. Differs in: the step is relative to the true width of the kernels; the gap is
    certified and ends the rounds early; scale and bias of f are fitted exactly; "exchange".
    ``objective_`` is the squared distance between the means of the classes. C weighs squared
    slacks, so it is not the C of the other machines.

    References
    ----------
    .. [1] J. Moeller, P. Raman, A. Saha, S. Venkatasubramanian, "A Geometric Algorithm for Scalable
           Multiple Kernel Learning", AISTATS 2014.
    """

    classes_: np.ndarray
    kernel_weights_: np.ndarray
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _parameter_constraints = {
        **shared("kernels", "C", "normalization", "tol", "max_iter"),
        **shared("class_weight", "n_jobs"),
        "solver": [one_of("exchange", "averaging")],
        "eps": [positive()],
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        solver: Literal["exchange", "averaging"] = "exchange",
        eps: float = 0.02,
        tol: float = 2e-2,
        max_iter: int = 100_000,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
    ):
        self.kernels = kernels
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.eps = eps
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _learn(self, rows):
        return learn_mixture(self, rows, _weigh)


def _weigh(model, descent):
    grams, problem = descent.objective.grams, descent.objective.problem
    ridge = 1.0 / np.maximum(problem.upper - problem.lower, _SMALLEST_C)
    data = (grams.columns, grams.diagonals(), problem.targets, ridge)
    if model.solver == "exchange":
        found = solve_by_exchange(*data, tol=model.tol, max_iter=model.max_iter)
    else:
        eps = min(model.eps, 0.99)
        found = solve_by_averaging(*data, eps=eps, tol=model.tol, max_iter=model.max_iter)
    exact = grams.in_double()
    if exact is not grams:
        scores, quadratics = mixed_scores(
            exact, found.dual_coef, found.kernel_weights, descent.objective.all_kernels
        )
        found = certify_mixture(found, scores, quadratics, problem.targets, ridge)
    gap = found.upper - found.lower
    machine = MachineSolution(found.dual_coef, found.bias, found.upper, gap, found.n_iter, None)
    return Weighed(found.kernel_weights, machine, found.upper, gap, found.n_iter)
