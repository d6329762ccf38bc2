"""ProductMKL: a product of Gaussians, one for each feature, whose widths are learned."""

from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from .._hints import ClassWeight
from ..kernels.standard import Gaussian
from ..maps import Affine
from ..predictors.combined import Mapped, Stacked
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.anchors.dual import warn_if_loose
from ..solvers.machine.problem import MachineSolution
from ..solvers.mixture.objective import KernelObjective
from ..solvers.mixture.penalty import Penalty, solve_spectral_gradient
from ..solvers.mixture.product import ProductDescent, stationarity
from ..solvers.watch import Watch
from ._base.checks import at_least, positive, shared
from ._base.kernels import bias_named, certificate, gram_bytes, one_or_all, support_attributes
from ._base.model import Learned, Model
from ._base.outputs import Teller, each_output

_OWN = {"sigma": [positive()], "p": [at_least(1.0, Real)]}


class ProductMKLClassifier(ClassifierMixin, Model):
    r"""Generalized MKL with a product of Gaussians: every feature has a width of its own.

    Minimizes, over exponents :math:`\beta \ge 0` and functions f of the kernel
    :math:`k_\beta(x, z) = \prod_m \exp(-\beta_m (x_m - z_m)^2 / s_m)`,

    .. math:: \frac{1}{2} \|f\|_{\beta}^2 + C \sum_i \max\bigl(0,\, 1 - y_i (f(x_i) + b)\bigr)
              + \sigma \sum_m \frac{\beta_m^p}{p},

    where :math:`s_m` is the mean squared difference of two values of feature m. A feature whose
    exponent is zero is left out, of the model, too.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the losses: a larger C fits the training rows more closely.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the machine has a constant, and whether the penalty counts it as a weight.
    sigma : float, default=1.0
        Penalty on the exponents. With 1, one exponent of one costs as much as the machine does at
        the start, with equal ones. A larger sigma makes wider kernels of fewer features.
    p : float, default=1.0
        1 leaves features out. Larger values keep all of them.
    tol : float, default=1e-2
        Learning stops when, to first order, no change of exponents lowers the objective by more
        than this fraction. Machines are solved to a tenth of it.
    max_iter : int, default=100
        The most steps of the exponents.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    max_memory : float or None, default=None
        Bytes that ``fit`` may use beyond the data. None stands for the memory of the machine, of
        which Gram matrices take half a gigabyte at most. What does not fit is computed again.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    verbose : int, default=0
        1 prints a line for every step.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    kernel_weights_ : array of shape (n_features,) or (n_classes, n_features)
        The exponents β, in units of one over the mean squared difference of two rows' values;
        one row for each class if there are more than two.
    gammas_ : array of shape (n_features,) or (n_classes, n_features)
        The same in the unit of the features: the kernel is exp(−Σ_m γ_m (x_m − z_m)²).
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum for the learned exponents, at most. There may be
        better exponents: the problem is not convex in them.
    n_iter_ : int
        Machines that were solved for the slowest class.
    n_support_ : int
        Number of training rows that the model keeps.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : Mapped or Stacked
        Scaled features, support rows and coefficients: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_, and [2]_ for the steps. Differs in: exponents and sigma are relative to the rows;
    the stop is the first-order decrease that is left. A sum of kernels is
    :class:`SPGGMKLClassifier`: there the problem is convex, kernels are any, and the certificate is
    over all weights, so this is a class of its own.

    References
    ----------
    .. [1] M. Varma, B. R. Babu, "More Generality in Efficient Multiple Kernel Learning", ICML 2009.
    .. [2] A. Jain, S. V. N. Vishwanathan, M. Varma, "SPG-GMKL: Generalized Multiple Kernel
           Learning with a Million Kernels", KDD 2012.
    """

    classes_: np.ndarray
    kernel_weights_: np.ndarray
    gammas_: np.ndarray
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _takes_sparse = False
    _parameter_constraints = {
        **shared("C", "bias", "tol", "max_iter"),
        **shared("class_weight", "max_memory", "n_jobs", "verbose"),
        **_OWN,
    }

    def __init__(
        self,
        *,
        C: float = 10.0,
        bias: Literal["free", "penalized", "none"] = "free",
        sigma: float = 1.0,
        p: float = 1.0,
        tol: float = 1e-2,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        max_memory: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.C = C
        self.bias = bias
        self.sigma = sigma
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, rows):
        return _learn(self, rows)


class ProductMKLRegressor(RegressorMixin, Model):
    r"""Generalized MKL with a product of Gaussians for regression, under the ε-insensitive loss.

    Minimizes, over exponents :math:`\beta \ge 0` and functions f of the kernel
    :math:`k_\beta(x, z) = \prod_m \exp(-\beta_m (x_m - z_m)^2 / s_m)`,

    .. math:: \frac{1}{2} \|f\|_{\beta}^2
              + C \sum_i \max\bigl(0,\, |y_i - f(x_i) - b| - \epsilon\bigr)
              + \sigma \sum_m \frac{\beta_m^p}{p},

    where :math:`y` is in units of its spread, and :math:`s_m` is the mean squared difference of two
    values of feature m.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the losses, in units of the spread of y: see ``epsilon``.
    epsilon : float, default=0.1
        Errors up to this size cost nothing. The machine learns (y − center) / spread, so C and
        epsilon mean the same whether y is in dollars or in millions. To give them in the unit of
        y, divide both by np.std(y); dividing by ``target_spread_`` is exact.
    bias : {"free", "penalized", "none"}, default="free"
        Whether the machine has a constant, and whether the penalty counts it as a weight. The
        center of y is added in any case.
    sigma : float, default=1.0
        Penalty on the exponents. With 1, one exponent of one costs as much as the machine does at
        the start, with equal ones. A larger sigma makes wider kernels of fewer features.
    p : float, default=1.0
        1 leaves features out. Larger values keep all of them.
    tol : float, default=1e-2
        Learning stops when, to first order, no change of exponents lowers the objective by more
        than this fraction. Machines are solved to a tenth of it.
    max_iter : int, default=100
        The most steps of the exponents.
    max_memory : float or None, default=None
        Bytes that ``fit`` may use beyond the data. None stands for the memory of the machine, of
        which Gram matrices take half a gigabyte at most. What does not fit is computed again.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    verbose : int, default=0
        1 prints a line for every step.

    Attributes
    ----------
    target_spread_ : float
        The spread of the training values: their standard deviation, after values that lie more
        than three interquartile ranges beyond the quartiles have been moved to there.
        ``objective_`` and ``duality_gap_`` are in units of its square.
    kernel_weights_ : array of shape (n_features,)
        The exponents β, in units of one over the mean squared difference of two rows' values.
    gammas_ : array of shape (n_features,)
        The same in the unit of the features: the kernel is exp(−Σ_m γ_m (x_m − z_m)²).
    objective_ : float
        The value of the training objective, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum for the learned exponents, at most. There may be
        better exponents: the problem is not convex in them.
    n_iter_ : int
        Machines that were solved.
    n_support_ : int
        Number of training rows that the model keeps.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : Mapped
        Scaled features, support rows and coefficients: all that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    See :class:`ProductMKLClassifier`.
    """

    target_spread_: float
    kernel_weights_: np.ndarray
    gammas_: np.ndarray
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float
    predictor_: Mapped

    _takes_sparse = False
    _parameter_constraints = {
        **shared("C", "epsilon", "bias", "tol", "max_iter"),
        **shared("max_memory", "n_jobs", "verbose"),
        **_OWN,
    }

    def __init__(
        self,
        *,
        C: float = 10.0,
        epsilon: float = 0.1,
        bias: Literal["free", "penalized", "none"] = "free",
        sigma: float = 1.0,
        p: float = 1.0,
        tol: float = 1e-2,
        max_iter: int = 100,
        max_memory: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.C = C
        self.epsilon = epsilon
        self.bias = bias
        self.sigma = sigma
        self.p = p
        self.tol = tol
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, rows):
        return _learn(self, rows)


@dataclass(frozen=True)
class _Output:
    """Exponents and machine of one output; the gap is for these exponents."""

    weights: np.ndarray
    machine: MachineSolution
    objective: float
    n_iter: int

    @property
    def gap(self):
        return self.machine.gap


def _learn(model, rows):
    """One machine with exponents of its own for each output."""
    scales, tell = _scales(rows.X), Teller(model)
    X = (rows.X - rows.X.mean(axis=0, dtype=np.float64)) / np.sqrt(scales)
    X = X.astype(rows.X.dtype)
    max_bytes = gram_bytes(rows, 1, model.max_memory)
    descent = penalty = None

    def solve(problem):
        nonlocal descent, penalty
        bias = bias_named(model.bias)
        descent = ProductDescent(
            X, lambda grams: KernelObjective(grams, problem, bias, max_bytes=max_bytes),
            max_bytes=max_bytes, n_jobs=model.n_jobs, watch=Watch(tell.steps("step")),
        )  # fmt: skip
        start = np.full(X.shape[1], 1.0 / X.shape[1])
        penalty = _penalty(model, descent.at(start, 0.1 * model.tol))
        found, _ = solve_spectral_gradient(
            descent, start, penalty, tol=model.tol, max_iter=model.max_iter, watch=descent.watch,
            remains=lambda now: stationarity(now, penalty.slope(now.weights)),
        )  # fmt: skip
        return output(found)

    def output(found):
        objective = descent.objective(found.weights)
        machine = objective.certified_machine(found.machine, np.ones(1), model.tol)
        value = machine.objective + penalty.value(found.weights)
        return _Output(found.weights, machine, value, descent.n_machines)

    def last(problem):
        if penalty is None or descent.watch.last is None:
            return None
        return output(descent.watch.last[0])

    problems = rows.task.problems(rows, model.C, getattr(model, "epsilon", None))
    found, was_interrupted = each_output(problems, solve, tell, last)
    warn_if_loose(found, model.tol, type(model).__name__)
    outputs = tuple(_predictor(rows, scales, one) for one in found)
    support = np.any([one.machine.dual_coef != 0.0 for one in found], axis=0)
    weights = np.array([one.weights for one in found])
    attributes = {
        "kernel_weights_": one_or_all(weights),
        "gammas_": one_or_all(weights / scales),
        **certificate(found),
        **support_attributes(int(support.sum()), rows),
    }
    kept = "the last exponents are" if was_interrupted else None
    return Learned(outputs[0] if len(outputs) == 1 else Stacked(outputs), attributes, kept=kept)


def _scales(X):
    """The mean squared difference of two values of each feature; one where all are equal."""
    found = 2.0 * X.var(axis=0, dtype=np.float64)
    return np.where(found > 0.0, found, 1.0)


def _penalty(model, start):
    """σ in its unit: what the machine costs at the start."""
    weights = start.weights
    return Penalty(model.sigma * start.objective / weights.sum() ** model.p, model.p)


def _predictor(rows, scales, found):
    """A Gaussian of scaled features; those without an exponent are gone."""
    used, dtype = np.flatnonzero(found.weights), rows.X.dtype
    factors = np.sqrt(found.weights[used] / scales[used])
    center = rows.X.mean(axis=0, dtype=np.float64)[used]
    matrix = np.zeros((len(used), rows.X.shape[1] + 1))
    matrix[np.arange(len(used)), used] = factors
    matrix[:, -1] = -factors * center
    coef, units = found.machine.dual_coef, rows.task.units
    support = np.flatnonzero(coef)
    seen = Affine(matrix.astype(dtype))
    return Mapped(
        seen,
        KernelExpansion(
            (Gaussian(gamma=1.0),),
            seen(rows.X[support]).astype(dtype),
            (units.spread * coef[support])[None, :, None].astype(dtype),
            np.array([units.unscaled(found.machine.bias)], dtype=dtype),
            len(used),
        ),
    )
