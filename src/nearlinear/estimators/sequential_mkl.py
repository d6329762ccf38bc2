"""SequentialMKL: many candidate kernels, few in work."""

from ..solvers.mixture.active_set import certified, solve_sequential
from ._base.constraints import at_least
from ._base.kernel_machine import KernelClassifier, KernelRegressor, Learned
from ._base.machine_doc import documents_machine

_CONSTRAINTS = {"max_insertions": [at_least(1)], "chunk_size": [at_least(1), None]}


class _Sequential:
    def _weigh(self, learning):
        report = self._reporter()
        found = solve_sequential(
            learning, tol=self.tol, max_insertions=self.max_insertions, chunk_size=self.chunk_size,
            max_rounds=self.max_iter,
            on_round=lambda _, evaluation, gap: report(evaluation, gap),
        )  # fmt: skip
        found = certified(learning, found, tol=self.tol)
        machine, value = found.evaluation.machine, found.evaluation.value
        return Learned(found.weights, machine, value, found.gap, found.n_rounds)


@documents_machine(n_iter="Rounds of pricing.", kernels="bank", max_iter=100)
class SequentialMKLClassifier(_Sequential, KernelClassifier):
    r"""SequentialMKL: SimpleMKL's optimum with few kernels in work and all others only priced.

    Minimizes the objective of :class:`SimpleMKLClassifier` with p = 1. A kernel enters when
    :math:`a^\top K_m a` exceeds the mixture's and leaves when its weight is zero, so that hundreds
    of candidates cost little more than the few that matter.

    Parameters
    ----------
    %(parameters)s
    max_insertions : int, default=30
        Most kernels that enter in one round.
    chunk_size : int or None, default=None
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

    _parameter_constraints = {**KernelClassifier._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        kernels="bank",
        *,
        C=10.0,
        normalization="variance",
        bias="free",
        max_insertions=30,
        chunk_size=None,
        tol=1e-2,
        max_iter=100,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, normalization=normalization, bias=bias, tol=tol, max_iter=max_iter,
            class_weight=class_weight, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.max_insertions = max_insertions
        self.chunk_size = chunk_size


@documents_machine(n_iter="Rounds of pricing.", kernels="bank", max_iter=100)
class SequentialMKLRegressor(_Sequential, KernelRegressor):
    r"""SequentialMKL for regression: few kernels in work, all others only priced.

    Minimizes the objective of :class:`SimpleMKLRegressor` with p = 1.

    Parameters
    ----------
    %(parameters)s
    max_insertions : int, default=30
        Most kernels that enter in one round.
    chunk_size : int or None, default=None
        Kernels arrive as a stream in chunks of this many; None prices all in every round.

    Attributes
    ----------
    %(attributes)s

    Notes
    -----
    See :class:`SequentialMKLClassifier`.
    """

    _parameter_constraints = {**KernelRegressor._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        kernels="bank",
        *,
        C=10.0,
        epsilon=0.1,
        normalization="variance",
        bias="free",
        max_insertions=30,
        chunk_size=None,
        tol=1e-2,
        max_iter=100,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            kernels, C=C, epsilon=epsilon, normalization=normalization, bias=bias, tol=tol,
            max_iter=max_iter, max_memory=max_memory, n_jobs=n_jobs, verbose=verbose,
        )  # fmt: skip
        self.max_insertions = max_insertions
        self.chunk_size = chunk_size
