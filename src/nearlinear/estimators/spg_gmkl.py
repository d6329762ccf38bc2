"""SPG-GMKL: kernel weights with a penalty."""

from numbers import Real

from ..solvers.mixture.penalty import Penalty, natural_sigma, solve_spectral_gradient
from ..solvers.mixture.simplex import start_weights
from ._base.constraints import at_least, positive
from ._base.kernel_machine import KernelClassifier, KernelRegressor, Learned
from ._base.machine_doc import documents_machine

_CONSTRAINTS = {"sigma": [positive()], "p": [at_least(1.0, Real)]}


class _Spectral:
    def _weigh(self, learning):
        learning.grams.keep(learning.everyone)
        start = start_weights(learning.grams.n_kernels)
        penalty = Penalty(self.sigma * natural_sigma(learning, start), self.p)
        options = {"tol": self.tol, "max_iter": self.max_iter, "on_step": self._reporter()}
        found, _ = solve_spectral_gradient(learning, start, penalty, **options)
        found = learning.certified(found, tol=0.5 * self.tol)
        gap = penalty.gap(found, learning.problem, learning.steps.shift)
        value = found.value + penalty.value(found.weights)
        if gap > self.tol * value and not learning.is_double:
            learning = learning.in_double()  # weights found by rounded prices may be off, too
            found, gap = solve_spectral_gradient(learning, found.weights, penalty, **options)
        value = found.value + penalty.value(found.weights)
        return Learned(found.weights, found.machine, value, gap, learning.n_machines)


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

    _parameter_constraints = {**KernelClassifier._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        sigma=1.0,
        p=1.0,
        normalization="variance",
        bias="free",
        tol=1e-2,
        max_iter=500,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, normalization=normalization, bias=bias, tol=tol, max_iter=max_iter,
            class_weight=class_weight, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.sigma = sigma
        self.p = p


@documents_machine()
class SPGGMKLRegressor(_Spectral, KernelRegressor):
    r"""SPG-GMKL for regression: penalized kernel weights under the ε-insensitive loss.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`d \ge 0`,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{d_m}
              + C \sum_i \max\Big(0,\, \big|y_i - \sum_m f_m(x_i) - b\big| - \epsilon\Big)
              + \sigma \sum_m \frac{d_m^p}{p},

    where :math:`y` is in units of its spread.

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

    _parameter_constraints = {**KernelRegressor._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        epsilon=0.1,
        sigma=1.0,
        p=1.0,
        normalization="variance",
        bias="free",
        tol=1e-2,
        max_iter=500,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, epsilon=epsilon, normalization=normalization, bias=bias, tol=tol,
            max_iter=max_iter, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.sigma = sigma
        self.p = p
