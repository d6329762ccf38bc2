"""The mean of several kernels: the baseline of multiple kernel learning."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from .._hints import Auto, ClassWeight
from ..kernels.family import KernelsLike
from ..solvers.mixture.simplex import start_weights
from ._base.capacity import Verdict
from ._base.checks import shared
from ._base.kernels import Weighed, learn_mixture
from ._base.model import Model
from ._base.values.loss_weight import WEIGHT, learn_weighted


class UniformMKLClassifier(ClassifierMixin, Model):
    r"""A support vector machine on the mean of several kernels.

    Minimizes

    .. math:: \frac{1}{2} \|f\|^2 + C \sum_i \max(0,\, 1 - y_i (f(x_i) + b)), \quad
              f \in \mathcal H\Bigl(\frac{1}{M} \sum_m k_m\Bigr).

    This is the baseline that learned weights have to beat, and often do not.

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
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all kernels.
    max_iter : int, default=500
        The most working sets of a machine.
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
        Working sets for the slowest class.
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
    The column "Uniform" of [1]_. Differs in: nothing.

    References
    ----------
    .. [1] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
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
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        bias: Literal["free", "penalized", "none"] = "free",
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
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.device = device

    def _learn(self, rows):
        return _learn(self, rows)


class UniformMKLRegressor(RegressorMixin, Model):
    r"""Support vector regression on the mean of several kernels.

    Minimizes

    .. math:: \frac{1}{2} \|f\|^2 + C \sum_i \max(0,\, |y_i - f(x_i) - b| - \epsilon), \quad
              f \in \mathcal H\Bigl(\frac{1}{M} \sum_m k_m\Bigr),

    where :math:`y` is in units of its spread.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "poly" or "gaussian"; "gaussians" stands
        for Gaussian kernels of ten widths on all features, and "bank" for these and polynomial
        kernels, on all features and on every single one. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        With "precomputed", X has the shape (n_rows, n_training_rows, n_kernels).
    C : float or "auto", default="auto"
        Weight of the losses, in units of the spread of y: see ``epsilon``. "auto" takes, of six
        values from 0.03 to 10, the smallest that does about as well as any on held-out rows (of at
        most 1,000 rows, on the CPU). It is 1 for fewer than 20 distinct rows, and
        10 for precomputed kernels and iterators. Where it is 10 and y has no noise, larger ones may
        do better.
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
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all kernels.
    max_iter : int, default=500
        The most working sets of the machine.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    device : str, default="cpu"
        Where machines are solved: "cpu", "cuda" or "cuda:1"; a device needs PyTorch
        (``pip install nearlinear[gpu]``) and linear, polynomial or Gaussian kernels.

    Attributes
    ----------
    C_ : float
        The weight of the losses that the model was trained with, where C is "auto".
    settings_tried_ : list of Verdict
        Each C, and its mean loss on held-out rows: of one that was given up early, on the first
        part of them, and infinite where smaller ones had shown that it gains nothing.
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
        Working sets.
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
    See :class:`UniformMKLClassifier`.
    """

    C_: float
    settings_tried_: list[Verdict]
    target_spread_: float
    kernel_weights_: np.ndarray
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _parameter_constraints = {
        **WEIGHT,
        **shared("kernels", "epsilon", "normalization", "bias", "tol"),
        **shared("max_iter", "n_jobs", "device"),
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        C: float | Auto = "auto",
        epsilon: float = 0.1,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        bias: Literal["free", "penalized", "none"] = "free",
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
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.device = device

    def _learn(self, rows):
        return learn_weighted(self, rows, _learn, _learn)


def _learn(model, rows):
    return learn_mixture(model, rows, _weigh, model.bias)


def _weigh(model, descent):
    machine = replace(descent.objective.machine, max_iter=model.max_iter)
    objective = replace(descent.objective, machine=machine)
    weights = start_weights(objective.grams.n_kernels)
    machine = objective.solve(weights, model.tol)
    machine = descent.objective.certified_machine(machine, weights, model.tol)
    return Weighed(weights, machine, machine.objective, machine.gap, machine.n_iter)
