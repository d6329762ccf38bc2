"""SwMKL: kernels blended by how often each alone is right around a row."""

from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import ClassWeight, Seed
from ..gates.scores import Clipped, UnitLength
from ..kernels.composite import PairwiseNormalizedSum
from ..kernels.family import KernelsLike
from ..kernels.gated_grams import GatedGrams, with_gates
from ..kernels.grams import Grams
from ..maps import WithGates
from ..predictors.combined import Mapped
from ..predictors.gated_expansion import GatedExpansion
from ..predictors.kernel_expansion import KernelExpansion
from ..solvers.machine.bias import FreeBias
from ._base import localized
from ._base.checks import one_of, shared
from ._base.localized import (
    Localized,
    component_scores,
    kernel_success,
    learn_localized,
    localized_setup,
)
from ._base.model import Model


class SwMKLClassifier(ClassifierMixin, Model):
    r"""SwMKL: kernels count as often as each alone is right around a row.

    Every kernel gets a machine, and a regression :math:`g_m` of where that machine is right. The
    last machine minimizes :math:`\frac{1}{2}\|f\|^2 + C \sum_i \max(0, 1 - y_i f(x_i))` with the
    kernel

    .. math:: k(x, z) = \sum_m \tilde g_m(x)\, k_m(x, z)\, \tilde g_m(z), \quad
              \tilde g(x) = g(x) / \|g(x)\|.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "affine", "poly" or "gaussian";
        "gaussians" stands for Gaussian kernels of ten widths on all features. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
    blend : {"separable", "pairwise"}, default="separable"
        "separable" is the kernel above. "pairwise" is the published one: it divides by
        :math:`\sum_m g_m(x) g_m(z)` instead. In general it is not positive semi-definite, so its
        machine is a stationary point and its gap no certificate.
    success : {"training", "out_of_fold"}, default="training"
        Where the success of a kernel is taken from. "training" tries the machine of all rows on
        these rows, as published. "out_of_fold" tries machines on rows that they have not seen.
        A flexible kernel is right on nearly all rows that it has seen, which says little about it.
    n_folds : int, default=5
        Number of folds of "out_of_fold".
    C : float, default=10.0
        Weight of the losses: a larger C fits the training rows more closely.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    solver : {"smo", "mwu", "averaging"}, default="smo"
        How machines are solved. "smo" takes pair steps for the hinge loss. It works on Gram
        matrices where these fit into memory, and on rows computed on demand where not. "mwu" needs
        only columns of the Gram matrices, in memory that grows with rows × kernels. It has the
        squared hinge loss, so that its C weighs squared slacks. "averaging" is the same by the
        published averages of "A Unified View", section 5.2, with ε = 0.01: slower, and to a
        relative gap of 0.01 at best.
    tol : float, default=1e-2
        Learning stops at this relative duality gap: a smaller value takes longer.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    success_ : array of shape (n_kernels,), or a list of these
        Fraction of the training rows on which each kernel's machine was right.
    gate_ : Clipped, or a list of these
        Expected success; ``gate_values(X)`` has shape (n_rows, n_kernels).
    kernels_ : list
        The kernels as they are used, with their scales.
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum for this gate, at most.
    n_iter_ : int
        Working sets of the last machine, for the slowest class.
    n_support_ : int
        Number of training rows that have a coefficient.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : GatedExpansion or Mapped
        All that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_ as told by [2]_. Differs in: the separable kernel by default. Regressions are
    ε-insensitive machines on all features, clipped to [0.001, 1]. They are solved by pair steps
    whatever ``solver`` says, with C = 1 and ε = 0.01 (published: 0.1). Beyond 10,000 rows they are
    solved in the span of the kernel at 500 of the rows.

    References
    ----------
    .. [1] R. Kannao, P. Guha, "Success based locally weighted multiple kernel combination", Pattern
           Recognition 68, 2017.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    classes_: np.ndarray
    success_: np.ndarray | Any
    gate_: Any
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _parameter_constraints = {
        **shared("kernels", "success", "n_folds"),
        **shared("C", "normalization", "solver", "tol", "class_weight", "n_jobs"),
        **shared("random_state"),
        "blend": [one_of("separable", "pairwise")],
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        blend: Literal["separable", "pairwise"] = "separable",
        success: Literal["training", "out_of_fold"] = "training",
        n_folds: int = 5,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        solver: Literal["smo", "mwu", "averaging"] = "smo",
        tol: float = 1e-2,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ):
        self.kernels = kernels
        self.blend = blend
        self.success = success
        self.n_folds = n_folds
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    gate_values = localized.gate_values

    def _learn(self, rows):
        setup, rng = localized_setup(self, rows), check_random_state(self.random_state)
        blend = _separable if self.blend == "separable" else _pairwise

        def solve(problem):
            _, found, expected = kernel_success(self, setup, problem, rng)
            gate = Clipped(expected)
            predictor, machine = blend(setup, problem, gate, self.tol)
            success = np.array([one.share for one in found])
            return Localized(
                predictor, machine.dual_coef != 0.0, machine.objective, machine.gap,
                machine.n_iter, {"gate_": gate, "success_": success},
            )  # fmt: skip

        return learn_localized(self, setup, solve)


def _separable(setup, problem, gate, tol):
    gate, kernel_of = UnitLength(gate), np.arange(len(setup.kernels))
    values = gate(setup.rows.X)
    machine = _machine(setup, GatedGrams(setup.grams(), kernel_of, values), problem, tol)
    components = component_scores(setup, (machine.dual_coef[:, None] * values).T)
    return GatedExpansion(gate, components, machine.bias), machine


def _pairwise(setup, problem, gate, tol):
    X = setup.rows.X
    kernel = PairwiseNormalizedSum(tuple(setup.kernels), X.shape[1])
    rows = with_gates(X, gate(X))
    grams = Grams([kernel], rows, n_jobs=setup.n_jobs)
    machine = _machine(setup, grams, problem, tol)
    support = np.flatnonzero(machine.dual_coef)
    expansion = KernelExpansion(
        (kernel,), rows[support], machine.dual_coef[None, support, None].astype(X.dtype),
        np.array([machine.bias], dtype=X.dtype), setup.rows.n_features,
    )  # fmt: skip
    return Mapped(WithGates(gate, setup.rows.n_features), expansion), machine


def _machine(setup, grams, problem, tol):
    """The machine on the sum of all kernels."""
    objective, weights = setup.objective(grams, problem, FreeBias()), np.ones(grams.n_kernels)
    return objective.certified_machine(objective.solve(weights, tol), weights, tol)
