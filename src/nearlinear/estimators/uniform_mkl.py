"""The mean of several kernels: the baseline of multiple kernel learning."""

from ..solvers.mixture.simplex import start_weights
from ._base.kernel_machine import KernelClassifier, KernelRegressor, Learned
from ._base.machine_doc import documents_machine


class _Uniform:
    def _weigh(self, learning):
        weights = start_weights(learning.grams.n_kernels)
        machine = learning.solve(weights, tol=self.tol, max_iter=self.max_iter)
        machine = learning.certified_machine(machine, weights, tol=self.tol)
        return Learned(weights, machine, machine.objective, machine.gap, machine.n_iter)


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
              f \in \mathcal H\Big(\frac1M \sum_m k_m\Big),

    where :math:`y` is in units of its spread.

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
