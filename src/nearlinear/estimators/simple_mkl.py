"""SimpleMKL: a sparse mixture of kernels."""

from numbers import Real

from ..solvers.mixture.simplex import (
    ball_gap,
    solve_closed_form,
    solve_newton,
    solve_reduced_gradient,
    start_weights,
)
from ._base.constraints import at_least, one_of
from ._base.kernel_machine import KernelClassifier, KernelRegressor, Learned
from ._base.machine_doc import documents_machine

_WEIGHT_SOLVERS = {
    "reduced_gradient": solve_reduced_gradient,
    "newton": solve_newton,
    "closed_form": solve_closed_form,
}
_CONSTRAINTS = {
    "weight_solver": [one_of(*_WEIGHT_SOLVERS)],
    "p": [at_least(1.0, Real)],
}


class _Simple:
    def _weigh(self, learning):
        learning.grams.keep(learning.everyone)
        options = {"tol": self.tol, "max_iter": self.max_iter, "on_step": self._reporter()}
        solve = _WEIGHT_SOLVERS[self.weight_solver]
        if self.p > 1.0:  # the others work on the simplex
            solve, options["p"] = solve_closed_form, self.p
        found = solve(learning, start_weights(learning.grams.n_kernels), **options)
        found = learning.certified(found, tol=0.5 * self.tol)
        if ball_gap(found, self.p) > self.tol * found.value and not learning.is_double:
            learning = learning.in_double()  # weights found by rounded prices may be off, too
            found = solve(learning, found.weights, **options)
        gap = ball_gap(found, self.p)
        return Learned(found.weights, found.machine, found.value, gap, learning.n_machines)


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
    weight_solver : {"newton", "reduced_gradient", "closed_form"}, default="newton"
        How the weights are found; all reach the same optimum. "reduced_gradient" is the published
        way and needs ten times as many machines for ten kernels, more for hundreds.
    p : float, default=1.0
        1 gives sparse weights; larger values spread them over all kernels, by the closed form.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    Solves the problem of [1]_. Differs in: Newton steps, unless "reduced_gradient" is asked for,
    whose line search then looks for the zero of the slope, which comes with every machine, instead
    of a golden section; the stop is the duality gap over all kernels; several classes have weights
    of their own, one-vs-rest.

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu, Y. Grandvalet, "SimpleMKL", JMLR 9, 2008.
    """

    _parameter_constraints = {**KernelClassifier._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        normalization="variance",
        bias="free",
        weight_solver="newton",
        p=1.0,
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
        self.weight_solver = weight_solver
        self.p = p


@documents_machine()
class SimpleMKLRegressor(_Simple, KernelRegressor):
    r"""SimpleMKL for regression: a sparse mixture of kernels under the ε-insensitive loss.

    Minimizes, over functions :math:`f_m` of the kernels and weights :math:`\beta`,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Big(0,\, \big|y_i - \sum_m f_m(x_i) - b\big| - \epsilon\Big), \quad
              \beta \ge 0,\ \sum_m \beta_m^p \le 1,

    where :math:`y` is in units of its spread.

    Parameters
    ----------
    %(parameters)s
    weight_solver : {"newton", "reduced_gradient", "closed_form"}, default="newton"
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

    _parameter_constraints = {**KernelRegressor._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        kernels="gaussians",
        *,
        C=10.0,
        epsilon=0.1,
        normalization="variance",
        bias="free",
        weight_solver="newton",
        p=1.0,
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
        self.weight_solver = weight_solver
        self.p = p
