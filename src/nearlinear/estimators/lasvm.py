"""LaSVM: a kernel machine that learns row by row."""

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse, vstack
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._hints import ClassWeight, Rows, Seed, Targets
from .._interrupt import uninterrupted
from .._sklearn import fit_context
from ..kernels.composite import WeightedSum
from ..kernels.family import KernelsLike, parse_kernels
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.anchors.dual import warn_if_loose
from ..solvers.machine.lasvm import OnlineSVM, fit_lasvm
from ._base.checks import at_least, require_memory, shared
from ._base.input import stream_rows
from ._base.model import Learned, Model
from ._base.outputs import Teller, each_output, keeping

_BLOCK = 256  # rows that all machines have learned before Ctrl-C may come


@dataclass
class _Stream:
    """Machines that learn row by row, and how many rows they have seen."""

    machines: list
    n_seen: int = 0


class LaSVMClassifier(ClassifierMixin, Model):
    r"""Online kernel SVM: rows come one by one, those that may support the machine are stored.

    Minimizes

    .. math:: \frac{1}{2} \|f\|^2 + C \sum_i \max(0,\, 1 - y_i (f(x_i) + b))

    over functions f of a kernel. ``fit`` passes over the rows and then goes on, with the rows that
    still violate, to the optimum; ``partial_fit`` makes one pass over what it is given and keeps
    the support rows only.

    Parameters
    ----------
    kernel : str, kernel or function, default="gaussian"
        "linear", "poly", "gaussian", an object of :mod:`nearlinear.kernels`, or a function of two
        sets of rows; of several kernels the mean is taken.
    C : float, default=3.0
        Weight of the losses.
    n_passes : int, default=1
        Passes over the rows before those that violate are looked for.
    tol : float, default=1e-3
        ``fit`` stops at this relative duality gap.
    max_iter : int, default=100
        Most rounds of looking for rows that violate.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weight of each class.
    n_jobs : int or None, default=None
        Threads of prediction; results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of rows in ``fit``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    objective_, duality_gap_ : float
        After ``fit``: the training objective (summed over classes), and how far from its optimum
        it is at most; both in double precision.
    n_iter_ : int
        Rounds of the slowest class.
    n_support_ : int
        Rows that the model keeps.
    predictor_ : KernelExpansion
        Support rows and coefficients.
    cost_ : Cost
        Multiply-adds per row, the same as a multiple of a linear model, and bytes.

    Notes
    -----
    Follows [1]_. Differs in: the partner of a row is chosen by its gain to second order; rows are
    dropped after a block of 64 new ones; ``fit`` ends with a certificate over all rows; several
    classes are solved one-vs-rest.

    References
    ----------
    .. [1] A. Bordes, S. Ertekin, J. Weston, L. Bottou, "Fast Kernel Classifiers with Online and
           Active Learning", JMLR 6, 2005.
    """

    classes_: np.ndarray
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    predictor_: KernelExpansion

    _parameter_constraints = {
        **shared("C", "tol", "max_iter", "class_weight", "n_jobs", "random_state"),
        "kernel": "no_validation",  # anything that parse_kernels takes
        "n_passes": [at_least(1)],
    }

    def __init__(
        self,
        kernel: KernelsLike = "gaussian",
        *,
        C: float = 3.0,
        n_passes: int = 1,
        tol: float = 1e-3,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.kernel = kernel
        self.C = C
        self.n_passes = n_passes
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, rows):
        kernel, tell = _kernel(self.kernel, rows.X), Teller(self)
        rng = check_random_state(self.random_state)
        signs, upper = rows.targets.astype(np.float64), self.C * rows.weight

        def solve(column):
            return fit_lasvm(
                rows.X, column, upper, kernel, n_passes=self.n_passes, tol=self.tol,
                max_iter=self.max_iter, rng=rng, check_size=_size_check(self, rows.X, 1),
            )  # fmt: skip

        found, _ = each_output(list(signs.T), solve, tell)
        warn_if_loose(found, self.tol, type(self).__name__)
        dual = np.zeros(signs.shape)
        for c, solution in enumerate(found):
            dual[solution.support, c] = solution.dual_coef
        support = np.flatnonzero(np.any(dual != 0.0, axis=1))
        predictor = _expansion(
            kernel, rows.X[support], dual[support], [one.bias for one in found]
        )  # fmt: skip
        attributes = {
            "objective_": float(sum(solution.objective for solution in found)),
            "duality_gap_": float(sum(solution.gap for solution in found)),
            "n_iter_": max(solution.n_iter for solution in found),
            "n_support_": len(support),
        }
        return Learned(predictor, attributes, state=upper[support])

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self,
        X: Rows,
        y: Targets,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """One pass over some rows; those that may support the machine are stored.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Rows; those of the first call also set the scale of the kernel.
        y : array of shape (n_samples,)
            Labels.
        classes : array or None, default=None
            All labels that will come; needed in the first call.
        sample_weight : array of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        self
        """
        return self._go_on(stream_rows(self, X, y, sample_weight, classes))

    def _learn_more(self, rows):
        stream = self._state
        if not isinstance(stream, _Stream):
            stream = self._begin_stream(rows)
        for machine in stream.machines:
            machine.check_size = _size_check(self, rows.X, len(stream.machines))
        signs, upper = rows.targets.astype(np.float64), self.C * rows.weight
        ids = stream.n_seen + np.arange(len(upper))
        with keeping("what was learned from the rows so far is") as interruption:
            for start in range(0, len(upper), _BLOCK):
                part = slice(start, start + _BLOCK)
                with uninterrupted():
                    for machine, column in zip(stream.machines, signs.T, strict=True):
                        machine.process(rows.X[part], column[part], upper[part], ids[part])
                    stream.n_seen += len(ids[part])
        return self._from_stream(stream, interruption.kept)

    def _begin_stream(self, rows):
        """Empty machines, or those of the fitted model."""
        if not hasattr(self, "predictor_"):
            kernel = _kernel(self.kernel, rows.X)
            return _Stream([OnlineSVM(kernel) for _ in range(rows.task.n_outputs)])
        support, kernel = self.predictor_.support, self.predictor_.kernels[0]
        stream = _Stream([], support.shape[0])
        for column in self.predictor_.coefficients[0].T:
            used = np.flatnonzero(column)
            box = np.sign(column[used]) * self._state[used]
            stream.machines.append(
                OnlineSVM.resume(kernel, support[used], box, column[used], used)
            )  # fmt: skip
        return stream

    def finish(self) -> Self:
        """Solve for the stored rows exactly; to be called when a stream has ended."""
        check_is_fitted(self, "predictor_")
        stream = self._state
        if isinstance(stream, _Stream):
            for machine in stream.machines:
                with uninterrupted():
                    machine.finish(max_steps=100 * machine.n_stored + 10_000)
            self._settle(self._from_stream(stream))
        return self

    def _from_stream(self, stream, kept=None):
        """One predictor from the stored rows of all classes."""
        machines = stream.machines
        ids, first = np.unique(
            np.concatenate([machine.ids for machine in machines]), return_index=True
        )
        starts = np.cumsum([0] + [machine.n_stored for machine in machines])
        owner = np.searchsorted(starts, first, side="right") - 1
        dual = np.zeros((len(ids), len(machines)))
        for c, machine in enumerate(machines):
            dual[np.searchsorted(ids, machine.ids), c] = machine.dual_coef
        used = np.any(dual != 0.0, axis=1)
        parts, order = [], []
        for c, machine in enumerate(machines):
            mine = np.flatnonzero(used & (owner == c))
            parts.append(machine.X[first[mine] - starts[c]])
            order.append(mine)
        support = vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)
        predictor = _expansion(
            machines[0].kernel, support, dual[np.concatenate(order)],
            [machine.bias for machine in machines],
        )  # fmt: skip
        return Learned(predictor, {"n_support_": support.shape[0]}, stream, kept)


def _expansion(kernel, support, dual, biases):
    dtype = support.dtype
    return KernelExpansion(
        (kernel,), support, np.ascontiguousarray(dual[None], dtype=dtype),
        np.array(biases, dtype=dtype), support.shape[1],
    )  # fmt: skip


def _kernel(kernel, X):
    """The kernel that is asked for, scaled to the rows; of several the mean."""
    kernels = [one.for_rows(X) for one in parse_kernels(kernel, X.shape[1], "kernel")]
    if len(kernels) == 1:
        return kernels[0]
    return WeightedSum(tuple(kernels), (1.0 / len(kernels),) * len(kernels))


def _size_check(model, X, n_machines):
    """Function that raises MemoryError if the stored rows need more memory than allowed."""
    width = X.nnz / max(1, X.shape[0]) if issparse(X) else X.shape[1]
    return partial(_check_size, n_machines, width, X.dtype.itemsize)


def _check_size(n_machines, width, itemsize, n_stored):
    size = n_machines * OnlineSVM.memory(n_stored, width, itemsize)
    require_memory(size, "lower C, give fewer rows")
