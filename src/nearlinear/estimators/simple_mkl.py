"""SimpleMKL: a sparse mixture of kernels."""

from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from .._hints import ClassWeight
from ..kernels.family import KernelsLike
from ..solvers.mixture.simplex import (
    ball_gap,
    solve_closed_form,
    solve_newton,
    solve_reduced_gradient,
    start_weights,
)
from ._base.checks import at_least, one_of, shared
from ._base.kernels import Weighed, learn_mixture
from ._base.model import Model

_WEIGHT_SOLVERS = {
    "reduced_gradient": solve_reduced_gradient,
    "newton": solve_newton,
    "closed_form": solve_closed_form,
}
_OWN = {"weight_solver": [one_of(*_WEIGHT_SOLVERS)], "p": [at_least(1.0, Real)]}


class SimpleMKLClassifier(ClassifierMixin, Model):
    r"""SimpleMKL: a support vector machine that learns a sparse mixture of kernels.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`\beta`,

    .. math:: \frac{1}{2} \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Bigl(0,\, 1 - y_i \bigl(\sum_m f_m(x_i) + b\bigr)\Bigr), \quad
              \beta \ge 0,\ \sum_m \beta_m^p \le 1.

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
    bias : {"free", "penalized", "none"}, default="free"
        Whether the machine has a constant, and whether the penalty counts it as a weight.
    weight_solver : {"newton", "reduced_gradient", "closed_form"}, default="newton"
        How the weights are found. All three reach the same optimum. "reduced_gradient" is the
        published way; it needs ten times as many machines for ten kernels, and more for hundreds.
    p : float, default=1.0
        1 gives sparse weights. Larger values spread them over all kernels, by the closed form.
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all kernels.
    max_iter : int, default=500
        The most steps of the kernel weights.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    device : str, default="cpu"
        Where machines are solved: "cpu", "cuda" or "cuda:1"; a device needs PyTorch
        (``pip install nearlinear[gpu]``) and linear, polynomial or Gaussian kernels.

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
        Machines that were solved for the slowest class.
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
    Solves the problem of [1]_. Differs in: Newton steps by default. "reduced_gradient" looks along
    the line for the zero of the slope, which comes with every machine, in place of a golden
    section. Learning stops by the duality gap over all kernels. Several classes are learned one
    against the rest, each with weights of its own.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", JMLR 9, 2008.
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
        **shared("kernels", "C", "normalization", "bias", "tol", "max_iter"),
        **shared("class_weight", "n_jobs", "device"),
        **_OWN,
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        bias: Literal["free", "penalized", "none"] = "free",
        weight_solver: Literal["newton", "reduced_gradient", "closed_form"] = "newton",
        p: float = 1.0,
        tol: float = 1e-2,
        max_iter: int = 500,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        device: str = "cpu",
    ):
        self.kernels = kernels
        self.C = C
        self.normalization = normalization
        self.bias = bias
        self.weight_solver = weight_solver
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.device = device

    def _learn(self, rows):
        return learn_mixture(self, rows, _weigh, self.bias)


class SimpleMKLRegressor(RegressorMixin, Model):
    r"""SimpleMKL for regression: a sparse mixture of kernels under the ε-insensitive loss.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`\beta`,

    .. math:: \frac{1}{2} \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Bigl(0,\, \bigl|y_i - \sum_m f_m(x_i) - b\bigr| - \epsilon\Bigr),
              \quad \beta \ge 0,\ \sum_m \beta_m^p \le 1,

    where :math:`y` is in units of its spread.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "poly" or "gaussian"; "gaussians" stands
        for Gaussian kernels of ten widths on all features, and "bank" for these and polynomial
        kernels, on all features and on every single one. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        With "precomputed", X has the shape (n_rows, n_training_rows, n_kernels).
    C : float, default=10.0
        Weight of the losses, in units of the spread of y: see ``epsilon``.
    epsilon : float, default=0.1
        Errors up to this size cost nothing. The machine learns (y − center) / spread, so C and
        epsilon mean the same whether y is in dollars or in millions. To give them in the unit of
        y, divide both by np.std(y); dividing by ``target_spread_`` is exact.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the machine has a constant, and whether the penalty counts it as a weight. The
        center of y is added in any case.
    weight_solver : {"newton", "reduced_gradient", "closed_form"}, default="newton"
        How the weights are found. All three reach the same optimum. "reduced_gradient" is the
        published way; it needs ten times as many machines for ten kernels, and more for hundreds.
    p : float, default=1.0
        1 gives sparse weights. Larger values spread them over all kernels, by the closed form.
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all kernels.
    max_iter : int, default=500
        The most steps of the kernel weights.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    device : str, default="cpu"
        Where machines are solved: "cpu", "cuda" or "cuda:1"; a device needs PyTorch
        (``pip install nearlinear[gpu]``) and linear, polynomial or Gaussian kernels.

    Attributes
    ----------
    target_spread_ : float
        The spread of the training values: their standard deviation, after values that lie more
        than three interquartile ranges beyond the quartiles have been moved to there.
        ``objective_`` and ``duality_gap_`` are in units of its square.
    kernel_weights_ : array of shape (n_kernels,)
        Weights of the kernels.
    kernels_ : list
        The kernels that the weights belong to.
    objective_ : float
        The value of the training objective, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum, at most.
    n_iter_ : int
        Machines that were solved.
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
    See :class:`SimpleMKLClassifier`.
    """

    target_spread_: float
    kernel_weights_: np.ndarray
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _parameter_constraints = {
        **shared("kernels", "C", "epsilon", "normalization", "bias", "tol"),
        **shared("max_iter", "n_jobs", "device"),
        **_OWN,
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        C: float = 10.0,
        epsilon: float = 0.1,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        bias: Literal["free", "penalized", "none"] = "free",
        weight_solver: Literal["newton", "reduced_gradient", "closed_form"] = "newton",
        p: float = 1.0,
        tol: float = 1e-2,
        max_iter: int = 500,
        n_jobs: int | None = None,
        device: str = "cpu",
    ):
        self.kernels = kernels
        self.C = C
        self.epsilon = epsilon
        self.normalization = normalization
        self.bias = bias
        self.weight_solver = weight_solver
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.device = device

    def _learn(self, rows):
        return learn_mixture(self, rows, _weigh, self.bias)


def _weigh(model, descent):
    objective = descent.objective
    objective.grams.keep(objective.all_kernels)
    options = {"tol": model.tol, "max_iter": model.max_iter, "watch": descent.watch}
    solve = _WEIGHT_SOLVERS[model.weight_solver]
    if model.p > 1.0:  # the others work on the simplex
        solve, options["p"] = solve_closed_form, model.p
    found = solve(descent, start_weights(objective.grams.n_kernels), **options)
    start = found.machine.dual_coef
    found = objective.certified(found, 0.5 * model.tol)
    if ball_gap(found, model.p) > model.tol * found.objective and not objective.is_double:
        descent = descent.in_double(start)  # weights found by rounded quadratics may be off, too
        found = solve(descent, found.weights, **options)
    gap = ball_gap(found, model.p)
    return Weighed(found.weights, found.machine, found.objective, gap, descent.n_machines)
