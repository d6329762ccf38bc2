"""Multiple kernel learning with one set of weights for all rows."""

from numbers import Real

from ..solvers.active_set import solve_sequential
from ..solvers.kernel_weights import (
    ball_gap,
    solve_closed_form,
    solve_newton,
    solve_reduced_gradient,
    start_weights,
)
from ..solvers.spectral_gradient import Penalty, natural_sigma, solve_spectral_gradient
from .constraints import at_least, one_of, positive
from .kernel_machine import KernelClassifier, KernelRegressor, Learned
from .machine_doc import documents_machine

_WEIGHT_SOLVERS = {
    "reduced_gradient": solve_reduced_gradient,
    "newton": solve_newton,
    "closed_form": solve_closed_form,
}


class _Uniform:
    def _weigh(self, learning):
        weights = start_weights(learning.grams.n_kernels)
        machine = learning.solve(weights, tol=self.tol)
        return Learned(weights, machine, machine.objective, machine.gap, machine.n_iter)


class _Simple:
    def _weigh(self, learning):
        learning.grams.keep(learning.everyone)
        options = {"tol": self.tol, "max_iter": self.max_iter, "on_step": self._reporter()}
        solve = _WEIGHT_SOLVERS[self.weight_solver]
        if self.p > 1.0:  # the others work on the simplex
            solve, options["p"] = solve_closed_form, self.p
        found = solve(learning, start_weights(learning.grams.n_kernels), **options)
        gap = ball_gap(found, self.p)
        return Learned(found.weights, found.machine, found.value, gap, learning.n_machines)


class _Spectral:
    def _weigh(self, learning):
        learning.grams.keep(learning.everyone)
        start = learning.evaluate(start_weights(learning.grams.n_kernels), tol=0.1)
        penalty = Penalty(self.sigma * natural_sigma(start), self.p)
        found, gap = solve_spectral_gradient(
            learning, start.weights, penalty, tol=self.tol, max_iter=self.max_iter,
            on_step=self._reporter(),
        )  # fmt: skip
        value = found.value + penalty.value(found.weights)
        return Learned(found.weights, found.machine, value, gap, learning.n_machines)


class _Sequential:
    def _weigh(self, learning):
        report = self._reporter()
        found = solve_sequential(
            learning, tol=self.tol, insertions=self.insertions, chunk=self.chunk,
            max_rounds=self.max_iter,
            on_round=report and (lambda _, evaluation, gap: report(evaluation, gap)),
        )  # fmt: skip
        machine, value = found.evaluation.machine, found.evaluation.value
        return Learned(found.weights, machine, value, found.gap, found.n_rounds)


_SIMPLE_CONSTRAINTS = {
    "weight_solver": [one_of(*_WEIGHT_SOLVERS)],
    "p": [at_least(1.0, Real)],
}
_SPECTRAL_CONSTRAINTS = {"sigma": [positive()], "p": [at_least(1.0, Real)]}
_SEQUENTIAL_CONSTRAINTS = {"insertions": [at_least(1)], "chunk": [at_least(1), None]}


@documents_machine(n_iter="Working sets of the slowest class.")
class UniformMKLClassifier(_Uniform, KernelClassifier):
    r"""A support vector machine on the mean of several kernels.

    Minimizes

    .. math:: \frac12 \|f\|^2 + C \sum_i \max(0,\, 1 - y_i (f(x_i) + b)), \quad
              f \in \mathcal H\Big(\frac1M \sum_m k_m\Big).

    The baseline that learned weights have to beat, and often do not.

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    The column "Uniform" of [1]_. Differs in: nothing.

    References
    ----------
    .. [1] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """


@documents_machine(n_iter="Working sets.")
class UniformMKLRegressor(_Uniform, KernelRegressor):
    r"""Support vector regression on the mean of several kernels.

    Minimizes

    .. math:: \frac12 \|f\|^2 + C \sum_i \max(0,\, |y_i - f(x_i) - b| - \epsilon), \quad
              f \in \mathcal H\Big(\frac1M \sum_m k_m\Big).

    Parameters
    ----------
    %(parameters)s

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    See :class:`UniformMKLClassifier`.
    """


@documents_machine()
class SimpleMKLClassifier(_Simple, KernelClassifier):
    r"""SimpleMKL: a support vector machine that learns a sparse mixture of kernels.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`\beta`,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Big(0,\, 1 - y_i \big(\sum_m f_m(x_i) + b\big)\Big), \quad
              \beta \ge 0,\ \sum_m \beta_m^p \le 1.

    Parameters
    ----------
    %(parameters)s
    weight_solver : {"reduced_gradient", "newton", "closed_form"}, default="reduced_gradient"
        How the weights are found; all reach the same optimum. "newton" needs ten times fewer
        machines, "reduced_gradient" is the published way.
    p : float, default=1.0
        1 gives sparse weights; larger values spread them over all kernels, by the closed form.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    Follows [1]_. Differs in: the line search looks for the zero of the slope, which comes with
    every machine, instead of a golden section; the stop is the duality gap over all kernels;
    several classes have weights of their own, one-vs-rest.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", JMLR 9, 2008.
    """

    _parameter_constraints = {**KernelClassifier._parameter_constraints, **_SIMPLE_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=1.0,
        normalisation="trace",
        bias="free",
        weight_solver="reduced_gradient",
        p=1.0,
        tol=1e-2,
        max_iter=500,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, normalisation=normalisation, bias=bias, tol=tol, max_iter=max_iter,
            class_weight=class_weight, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.weight_solver = weight_solver
        self.p = p


@documents_machine()
class SimpleMKLRegressor(_Simple, KernelRegressor):
    r"""SimpleMKL for regression: a sparse mixture of kernels under the ε-insensitive loss.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`\beta`,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Big(0,\, \big|y_i - \sum_m f_m(x_i) - b\big| - \epsilon\Big), \quad
              \beta \ge 0,\ \sum_m \beta_m^p \le 1.

    Parameters
    ----------
    %(parameters)s
    weight_solver : {"reduced_gradient", "newton", "closed_form"}, default="reduced_gradient"
        How the weights are found; all reach the same optimum.
    p : float, default=1.0
        1 gives sparse weights; larger values spread them over all kernels, by the closed form.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    See :class:`SimpleMKLClassifier`.
    """

    _parameter_constraints = {**KernelRegressor._parameter_constraints, **_SIMPLE_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=1.0,
        epsilon=0.1,
        normalisation="trace",
        bias="free",
        weight_solver="reduced_gradient",
        p=1.0,
        tol=1e-2,
        max_iter=500,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, epsilon=epsilon, normalisation=normalisation, bias=bias, tol=tol,
            max_iter=max_iter, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.weight_solver = weight_solver
        self.p = p


@documents_machine()
class SPGGMKLClassifier(_Spectral, KernelClassifier):
    r"""SPG-GMKL: kernel weights with a penalty, by spectral projected gradients.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`d \ge 0`,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{d_m}
              + C \sum_i \max\Big(0,\, 1 - y_i \big(\sum_m f_m(x_i) + b\big)\Big)
              + \sigma \sum_m \frac{d_m^p}{p}.

    Parameters
    ----------
    %(parameters)s
    sigma : float, default=1.0
        Penalty on the weights, as a multiple of the one at which they sum to about one.
    p : float, default=1.0
        1 gives sparse weights, larger values keep all kernels.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    Follows [1]_ for sums of kernels. Differs in: sigma is relative to the problem's scale, and the
    stop is the duality gap.

    References
    ----------
    .. [1] A. Jain, S. V. N. Vishwanathan, M. Varma, "SPG-GMKL: Generalized Multiple Kernel
           Learning with a Million Kernels", KDD 2012.
    """

    _parameter_constraints = {**KernelClassifier._parameter_constraints, **_SPECTRAL_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=1.0,
        sigma=1.0,
        p=1.0,
        normalisation="trace",
        bias="free",
        tol=1e-2,
        max_iter=500,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, normalisation=normalisation, bias=bias, tol=tol, max_iter=max_iter,
            class_weight=class_weight, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.sigma = sigma
        self.p = p


@documents_machine()
class SPGGMKLRegressor(_Spectral, KernelRegressor):
    r"""SPG-GMKL for regression: penalised kernel weights under the ε-insensitive loss.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`d \ge 0`,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{d_m}
              + C \sum_i \max\Big(0,\, \big|y_i - \sum_m f_m(x_i) - b\big| - \epsilon\Big)
              + \sigma \sum_m \frac{d_m^p}{p}.

    Parameters
    ----------
    %(parameters)s
    sigma : float, default=1.0
        Penalty on the weights, as a multiple of the one at which they sum to about one.
    p : float, default=1.0
        1 gives sparse weights, larger values keep all kernels.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    See :class:`SPGGMKLClassifier`.
    """

    _parameter_constraints = {**KernelRegressor._parameter_constraints, **_SPECTRAL_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=1.0,
        epsilon=0.1,
        sigma=1.0,
        p=1.0,
        normalisation="trace",
        bias="free",
        tol=1e-2,
        max_iter=500,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, epsilon=epsilon, normalisation=normalisation, bias=bias, tol=tol,
            max_iter=max_iter, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.sigma = sigma
        self.p = p


@documents_machine(n_iter="Rounds of pricing.", kernels="bank", max_iter=100)
class SequentialMKLClassifier(_Sequential, KernelClassifier):
    r"""SequentialMKL: SimpleMKL's optimum with few kernels in work and all others only priced.

    Minimizes the objective of :class:`SimpleMKLClassifier` with p = 1. A kernel enters when
    :math:`a^\top K_m a` exceeds the mixture's and leaves when its weight is zero, so that hundreds
    of candidates cost little more than the few that matter.

    Parameters
    ----------
    %(parameters)s
    insertions : int, default=30
        Most kernels that enter in one round.
    chunk : int or None, default=None
        Kernels arrive as a stream in chunks of this many, and those once refused are tried again
        when it has ended. None prices all of them in every round.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    Follows [1]_, Algorithm 2. Differs in: many kernels enter per round and the first ones are
    those that agree best with the labels; Newton steps for the weights; machines solved to a
    duality gap instead of a number of epochs; a bias, which ``bias="none"`` takes away; the
    certificate covers all candidates.

    References
    ----------
    .. [1] D. Picard, "Multiple Locally Linear Kernel Machines", 2024.
    """

    _parameter_constraints = {**KernelClassifier._parameter_constraints, **_SEQUENTIAL_CONSTRAINTS}

    def __init__(
        self,
        kernels="bank",
        *,
        C=1.0,
        normalisation="trace",
        bias="free",
        insertions=30,
        chunk=None,
        tol=1e-2,
        max_iter=100,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, normalisation=normalisation, bias=bias, tol=tol, max_iter=max_iter,
            class_weight=class_weight, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.insertions = insertions
        self.chunk = chunk


@documents_machine(n_iter="Rounds of pricing.", kernels="bank", max_iter=100)
class SequentialMKLRegressor(_Sequential, KernelRegressor):
    r"""SequentialMKL for regression: few kernels in work, all others only priced.

    Minimizes the objective of :class:`SimpleMKLRegressor` with p = 1.

    Parameters
    ----------
    %(parameters)s
    insertions : int, default=30
        Most kernels that enter in one round.
    chunk : int or None, default=None
        Kernels arrive as a stream in chunks of this many; None prices all in every round.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    See :class:`SequentialMKLClassifier`.
    """

    _parameter_constraints = {**KernelRegressor._parameter_constraints, **_SEQUENTIAL_CONSTRAINTS}

    def __init__(
        self,
        kernels="bank",
        *,
        C=1.0,
        epsilon=0.1,
        normalisation="trace",
        bias="free",
        insertions=30,
        chunk=None,
        tol=1e-2,
        max_iter=100,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, epsilon=epsilon, normalisation=normalisation, bias=bias, tol=tol,
            max_iter=max_iter, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.insertions = insertions
        self.chunk = chunk
