"""SequentialMKL: many candidate kernels, few in work."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._compile import one_blas_thread
from .._hints import ClassWeight, Rows, Targets
from .._sklearn import fit_context
from ..kernels.family import KernelsLike, parse_kernels
from ..solvers.mixture.active_set import certified, solve_sequential
from ._base.checks import shared
from ._base.input import fit_rows
from ._base.kernels import Weighed, kernel_setup, learn_mixture, learn_setup
from ._base.model import Learned, Model
from ._base.streams.kernels import CHUNK, Seen, Step, in_chunks, learn_chunks

M = TypeVar("M")


@fit_context(prefer_skip_nested_validation=True)
def add_kernels(
    self: M, kernels: KernelsLike, X: Rows, y: Targets, sample_weight: ArrayLike | None = None
) -> M:
    """Learn on with further candidate kernels, from the weights that the kernels have now.

    The certificate is over all kernels: those of ``kernels_`` and the new ones.

    Parameters
    ----------
    kernels : str, kernel, function, Family, list or iterator of these
        Kernels, as for the parameter ``kernels``. An iterator is read chunk by chunk.
    X : array or CSR matrix of shape (n_samples, n_features)
        The rows of ``fit``, which the model does not store.
    y : array of shape (n_samples,)
        Their labels or values.
    sample_weight : array of shape (n_samples,) or None, default=None
        Weight k equals k copies.

    Returns
    -------
    self
    """
    check_is_fitted(self, "predictor_")
    if self._is_precomputed:
        raise ValueError(
            f"{type(self).__name__} with kernels='precomputed' cannot be given further kernels: "
            "fit it to a larger stack."
        )
    rows = fit_rows(self, X, y, sample_weight)
    with one_blas_thread():
        learned = _learn_stream(self, rows, kernels, _seen(self))
    return self._settle(learned, rows.X.shape[0], rows.attributes)


class SequentialMKLClassifier(ClassifierMixin, Model):
    r"""SequentialMKL: the optimum of SimpleMKL with only few kernels in work.

    Minimizes the objective of :class:`SimpleMKLClassifier` with p = 1. A kernel enters when
    :math:`a^\top K_m a` exceeds that of the mixture, and leaves when its weight is zero. So
    hundreds of candidates cost little more than the few that matter.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="bank"
        The kernels that are combined. A name is "linear", "poly" or "gaussian"; "gaussians" stands
        for Gaussian kernels of ten widths on all features, and "bank" for these and polynomial
        kernels, on all features and on every single one. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        With "precomputed", X has the shape (n_rows, n_training_rows, n_kernels). An iterator of
        kernels is read 100 at a time, for one ``fit``; kernels that were refused are tried again
        when it has ended.
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
    max_iter : int, default=100
        The most rounds in which kernels may enter, for each chunk of a stream.
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
        Rounds in which kernels could enter for the slowest class.
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
    Follows [1]_, Algorithm 2. Differs in: many kernels enter per round, and the first ones are
    those that agree best with the labels; weights take Newton steps; machines are solved to a
    duality gap, not for a number of epochs; there is a bias, which ``bias="none"`` takes away; the
    certificate covers all candidates.

    References
    ----------
    .. [1] D. Picard, "Multiple Locally Linear Kernel Machines", 2024.
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
        kernels: KernelsLike = "bank",
        *,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        bias: Literal["free", "penalized", "none"] = "free",
        tol: float = 1e-2,
        max_iter: int = 100,
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

    add_kernels = add_kernels


class SequentialMKLRegressor(RegressorMixin, Model):
    r"""SequentialMKL for regression: the optimum of SimpleMKL with only few kernels in work.

    Minimizes the objective of :class:`SimpleMKLRegressor` with p = 1.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="bank"
        The kernels that are combined. A name is "linear", "poly" or "gaussian"; "gaussians" stands
        for Gaussian kernels of ten widths on all features, and "bank" for these and polynomial
        kernels, on all features and on every single one. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        With "precomputed", X has the shape (n_rows, n_training_rows, n_kernels). An iterator of
        kernels is read 100 at a time, for one ``fit``; kernels that were refused are tried again
        when it has ended.
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
    tol : float, default=1e-2
        Learning stops when the objective is within this fraction of its optimum over all kernels.
    max_iter : int, default=100
        The most rounds in which kernels may enter, for each chunk of a stream.
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
        Rounds in which kernels could enter.
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
    See :class:`SequentialMKLClassifier`.
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
    }

    def __init__(
        self,
        kernels: KernelsLike = "bank",
        *,
        C: float = 10.0,
        epsilon: float = 0.1,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        bias: Literal["free", "penalized", "none"] = "free",
        tol: float = 1e-2,
        max_iter: int = 100,
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
        return _learn(self, rows)

    add_kernels = add_kernels


def _learn(model, rows):
    if model._is_precomputed or not isinstance(model.kernels, Iterator):
        return learn_mixture(model, rows, _weigh, model.bias)
    return _learn_stream(model, rows, model.kernels)


def _learn_stream(model, rows, kernels, seen=None):
    """Learn from an iterator of kernels in chunks; a list that is added is one chunk."""
    if isinstance(kernels, Iterator):
        listed = (kernel for part in kernels for kernel in parse_kernels(part, rows.n_features))
        chunks = in_chunks(listed, CHUNK)
    else:
        chunks = [parse_kernels(kernels, rows.n_features)]
    return learn_chunks(map(_array, chunks), partial(_step, model, rows), None, seen)


def _step(model, rows, kernels, before):
    """A fit to some kernels; the first of them are those that ``before`` has weights for."""
    setup = kernel_setup(model, rows, list(kernels))
    starts = None if before is None else _starts(before, setup)
    learned, found = learn_setup(model, setup, _weigh, model.bias, starts)
    used = np.any(np.atleast_2d(learned.attributes["kernel_weights_"]) > 0.0, axis=0)
    urgency = np.zeros(len(kernels))
    urgency[setup.kept] = np.max([one.urgency for one in found], axis=0)
    return Step(learned, used, urgency)


def _starts(before, setup):
    """Weights to go on from, shape (n_outputs, n_kernels); None if these rows have none.

    The first kernels of a setup are those with a weight before.
    """
    weights = np.atleast_2d(before.attributes["kernel_weights_"])
    weights = weights[:, np.any(weights > 0.0, axis=0)]
    starts = np.zeros((len(weights), len(setup.listed)))
    starts[:, : weights.shape[1]] = weights
    starts = starts[:, setup.kept]
    totals = starts.sum(axis=1, keepdims=True)
    fits = len(weights) == setup.rows.task.n_outputs and np.all(totals > 0.0)
    return starts / totals if fits else None


def _seen(model):
    used = np.any(np.atleast_2d(model.kernel_weights_) > 0.0, axis=0)
    kernels = _array(model.kernels_)
    learned = Learned(model.predictor_, {"kernel_weights_": model.kernel_weights_})
    return Seen(learned, kernels[used], kernels[~used])


def _array(kernels):
    found = np.empty(len(kernels), dtype=object)
    found[:] = kernels
    return found


def _weigh(model, descent, start=None):
    found = solve_sequential(
        descent, tol=model.tol, max_rounds=model.max_iter, watch=descent.watch, start=start
    )
    urgency = found.urgency
    found = certified(descent.objective, found, tol=model.tol)
    machine = found.evaluation.machine
    return Weighed(found.weights, machine, found.objective, found.gap, found.n_rounds, urgency)
