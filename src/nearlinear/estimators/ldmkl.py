"""LD-MKL: every kernel votes where it expects to be right."""

from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._hints import ClassWeight, Seed
from ..gates.learned import softmax
from ..gates.scores import SoftmaxOf
from ..kernels.family import KernelsLike
from ..kernels.grams import Grams
from ..predictors.gated_expansion import GatedExpansion
from ..solvers.localized.success import side_by_side, solve_where
from ._base import localized
from ._base.checks import one_of, shared
from ._base.localized import (
    SUCCESS_EPSILON,
    Localized,
    component_scores,
    kernel_success,
    learn_localized,
    localized_setup,
)
from ._base.model import Model

# Gates this close to each other, relative to their size, are equal up to what solvers leave.
_TIE = 1e-3


class LDMKLClassifier(ClassifierMixin, Model):
    r"""LD-MKL: every kernel votes where it expects to be right.

    Every kernel gets a machine, and a regression :math:`r_m` of where that machine is right. Then
    a machine :math:`f_m` on the rows with :math:`g_m(x) \ge 1/M` (ties included) minimizes
    :math:`\frac{1}{2}\|f_m\|^2 + C \sum_i \max(0, 1 - y_i f_m(x_i))`, and

    .. math:: f(x) = \sum_m g_m(x) \tanh f_m(x), \quad g(x) = \mathrm{softmax}(r(x)).

    No kernel is ever summed with another: machines are solved side by side (``n_jobs``).

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "affine", "poly" or "gaussian";
        "gaussians" stands for Gaussian kernels of ten widths on all features. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
    vote : {"plain", "gated", "printed"}, default="plain"
        How machines vote. "plain" lets every machine vote as it was solved. "printed" is the
        published formula: it multiplies a machine's coefficients by :math:`g_m(x_i)` and has no
        bias. "gated" multiplies them by :math:`M g_m(x_i)`, which is one on average, and fits the
        bias anew.
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
    gate_ : SoftmaxOf, or a list of these
        The gate g; ``gate_values(X)`` has shape (n_rows, n_kernels).
    kernels_ : list
        The kernels as they are used, with their scales.
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above the optimum of all machines together, at most.
    n_iter_ : int
        Working sets of the slowest machine.
    n_support_ : int
        Number of training rows that have a coefficient.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : GatedExpansion
        All that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_, Algorithm 3. Differs in: machines keep their bias, without which the vote fails
    for Gaussian kernels. A kernel that answers for less than a tenth of the rows, or for one class
    alone, keeps its first machine. Regressions are ε-insensitive machines, solved by pair steps
    whatever ``solver`` says, with C = 1 and ε = 0.01 (published: 0.1). Beyond 10,000 rows they are
    solved in the span of the kernel at 500 of the rows. Errors up to ε cost nothing in them. So two
    kernels that are both right may have regressions that are 2ε apart for no reason but the
    solver's steps. Such kernels are tied: kernel m answers for a row where
    :math:`M g_m(x) \ge 0.999\, e^{-2ε}`. The published rule, :math:`g_m(x) > 1/M`, leaves it to
    rounding which of them are trained on the row.

    References
    ----------
    .. [1] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
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
    predictor_: GatedExpansion

    _parameter_constraints = {
        **shared("kernels", "success", "n_folds"),
        **shared("C", "normalization", "solver", "tol", "class_weight", "n_jobs"),
        **shared("random_state"),
        "vote": [one_of("plain", "gated", "printed")],
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        vote: Literal["plain", "gated", "printed"] = "plain",
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
        self.vote = vote
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

        def solve(problem):
            return _machines(self, setup, problem, rng)

        return learn_localized(self, setup, solve)


def _machines(model, setup, problem, rng):
    """Every kernel's machine on the rows that it answers for, and the gate, for one output."""
    singles, found, expected = kernel_success(model, setup, problem, rng)
    gates = softmax(np.array([success.expected for success in found]).T)
    n_kernels = len(found)
    # two regressions of one value may differ by up to 2 ε
    alike = np.exp(-2.0 * SUCCESS_EPSILON)
    least = (1.0 - _TIE) * alike / n_kernels
    rows_of = [np.flatnonzero(mine) for mine in (gates >= least).T]
    firsts = [success.machine for success in found]
    kernels = list(zip(singles, firsts, rows_of, strict=True))
    machines = side_by_side(partial(solve_where, problem=problem), kernels, setup.n_jobs)
    coefs, biases = np.zeros((n_kernels, len(problem))), np.zeros(n_kernels)
    for m, (rows, machine) in enumerate(machines):
        coefs[m, rows] = machine.dual_coef
        if model.vote == "plain":
            biases[m] = machine.bias
        else:
            coefs[m] *= gates[:, m]
        if model.vote == "gated":
            coefs[m] *= n_kernels
            grams = Grams([setup.kernels[m]], setup.rows.X)
            part = problem.take(rows)
            slack = part.targets - grams.products(coefs[m], [0], rows)[0]
            biases[m], _ = setup.machine.fit_bias(part, slack)
    gate = SoftmaxOf(expected)
    success = np.array([one.share for one in found])
    return Localized(
        GatedExpansion(gate, component_scores(setup, coefs, biases), activation="tanh"),
        np.any(coefs != 0.0, axis=0),
        sum(machine.objective for _, machine in machines),
        sum(machine.gap for _, machine in machines),
        max(machine.n_iter for _, machine in machines),
        {"gate_": gate, "success_": success},
    )  # fmt: skip
