"""SAMKL: kernels switched on and off for every row."""

from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from .._hints import ClassWeight
from ..gates.scores import Switches, TopAndBottom
from ..kernels.family import KernelsLike
from ..predictors.gated_expansion import GatedExpansion
from ..solvers.localized.success import stratified_folds
from ..solvers.localized.switches import held_out_errors, solve_equal, solve_switched
from ..solvers.machine.bias import FreeBias
from ..solvers.mixture.objective import Descent
from ._base import localized
from ._base.checks import at_least, shared
from ._base.localized import Localized, component_scores, gated_setup, learn_localized
from ._base.model import Model

# A model is chosen on so many folds, or on as many of them as hold out so many rows.
_FOLDS, _ENOUGH_ROWS = 3, 1000


class SAMKLClassifier(ClassifierMixin, Model):
    r"""SAMKL: every row chooses the kernels that speak for it.

    With switches :math:`h_m(x)`, minimizes by turns, over functions :math:`f_m` of the kernels and
    weights :math:`\beta` on the simplex,

    .. math:: \frac{1}{2} \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Bigl(0,\, 1 - y_i \bigl(\sum_m h_m(x_i) f_m(x_i) + b\bigr)\Bigr),

    and sets :math:`h(x)` to half the marks of the ``n_selected`` largest :math:`f_m(x)` plus half
    the marks of as many smallest ones.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="gaussians"
        The kernels that are combined. A name is "linear", "affine", "poly" or "gaussian";
        "gaussians" stands for Gaussian kernels of ten widths on all features. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
    n_selected : int or None, default=None
        Number of kernels that are switched on for a row and either class. With all of them this is
        SimpleMKL. None stands for what does best on held-out training rows: all but one, all with
        learned weights (SimpleMKL), or all with equal weights (uniform MKL).
    max_rounds : int, default=8
        The most turns of weights and switches. The round whose model fits best is kept.
    C : float, default=10.0
        Weight of the losses: a larger C fits the training rows more closely.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    tol : float, default=1e-2
        Learning stops at this relative duality gap: a smaller value takes longer.
    max_iter : int, default=500
        The most steps of the kernel weights in a round.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    kernel_weights_ : array of shape (n_kernels,), or a list of these
        Weights of the kernels; one array for each class if there are more than two.
    switches_share_ : array of shape (n_kernels,), or a list of these
        Mean switch of each kernel over the training rows.
    n_selected_ : int, or a list of these
        Number of kernels that are switched on for a row and either class.
    objective_path_ : array of shape (n_rounds,), or a list of these
        Objective of each round's model as it predicts. Rounds need not settle: some may be several
        times worse than the one that was kept, ``n_iter_``.
    gate_ : Switches, or a list of these
        The switches; ``gate_values(X)`` has shape (n_rows, n_kernels).
    kernels_ : list
        The kernels as they are used, with their scales.
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far the weights are from their optimum for the switches of the kept round, at most.
    n_iter_ : int
        The round that was kept.
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
    Of [1]_ (see also [2]_) the idea was available to us: a latent 0/1 switch per row and kernel, by
    turns with multiple kernel learning and integer programs. Neither its constraints on the
    switches nor its rule for new rows were. With switches chosen for a row's own label the training
    loss vanishes, and test rows are classified at chance, since their label is not known. So this
    is the label-free form. The score of a row is half the best sum of ``n_selected`` shares for the
    positive class less half the best sum for the negative one. The integer programs are solved by
    sorting. Rounds are compared by the objective of the model as it predicts. They need not
    converge, and ``duality_gap_`` is that of the weights for the kept round's switches.

    Switches are harmful where learned weights are sparse. The kernels with the largest and the
    smallest share, which are switched off by half, are then those that matter, and they change
    from row to row and round to round. So by default three models are compared by their errors on
    three folds of the training rows (fewer of them if they hold out a thousand rows). On equal
    errors the simpler one is kept. Give ``n_selected`` for switches whatever they are worth.

    References
    ----------
    .. [1] X. Liu, L. Wang, J. Zhang, J. Yin, "Sample-adaptive Multiple Kernel Learning", AAAI 2014.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    classes_: np.ndarray
    kernel_weights_: np.ndarray | Any
    switches_share_: np.ndarray | Any
    n_selected_: int | Any
    objective_path_: np.ndarray | Any
    gate_: Any
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float
    predictor_: GatedExpansion

    _parameter_constraints = {
        **shared("kernels", "C", "normalization", "tol", "max_iter"),
        **shared("class_weight", "n_jobs"),
        "n_selected": [at_least(1), None],
        "max_rounds": [at_least(1)],
    }

    def __init__(
        self,
        kernels: KernelsLike = "gaussians",
        *,
        n_selected: int | None = None,
        max_rounds: int = 8,
        C: float = 10.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        tol: float = 1e-2,
        max_iter: int = 500,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
    ):
        self.kernels = kernels
        self.n_selected = n_selected
        self.max_rounds = max_rounds
        self.C = C
        self.normalization = normalization
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    gate_values = localized.gate_values

    def _learn(self, rows):
        setup = gated_setup(self, rows)
        n_kernels = len(setup.kernels)
        if self.n_selected is not None and self.n_selected > n_kernels:
            raise ValueError(
                f"{type(self).__name__}(n_selected={self.n_selected}) is more than the "
                f"{n_kernels} kernels there are."
            )

        def solve(problem):
            plan = _plan(self, setup, problem)
            return _output(setup, plan(Descent(_objective(setup, problem))))

        return learn_localized(self, setup, solve)


def _plan(model, setup, problem):
    """How to learn: with the switches that were asked for, or as held-out rows say."""
    n_kernels = len(setup.kernels)
    switched = partial(
        solve_switched, tol=model.tol, max_rounds=model.max_rounds, max_iter=model.max_iter
    )
    if model.n_selected is not None:
        return partial(switched, n_selected=model.n_selected)

    equal = partial(solve_equal, tol=model.tol)
    if n_kernels == 1:
        return equal
    sizes = n_kernels, n_kernels - 1
    plans = [equal, *(partial(switched, n_selected=size) for size in sizes)]
    # the same folds in every fit: a seed shall not change the model
    folds = stratified_folds(problem.targets, _FOLDS, np.random.RandomState(0))
    folds = folds[: max(1, -(-_ENOUGH_ROWS * _FOLDS // len(problem)))]
    restrict = partial(_objective, setup)
    errors = held_out_errors(plans, restrict, setup.kernels, setup.rows.X, problem, folds)
    return plans[int(np.argmin(errors))]


def _objective(setup, problem, rows=None):
    grams = setup.grams(rows)
    grams.keep(range(len(setup.kernels)))
    return setup.objective(grams, problem, FreeBias())


def _output(setup, found):
    """Weights, switches and machine of one output."""
    weights, machine = found.evaluation.weights, found.evaluation.machine
    coefs = (machine.dual_coef[:, None] * found.gates * weights).T
    components = component_scores(setup, coefs)
    attributes = {
        "gate_": Switches(components, found.n_selected),
        "kernel_weights_": weights,
        "switches_share_": found.gates.mean(axis=0),
        "n_selected_": found.n_selected,
        "objective_path_": np.array(found.path),
    }
    return Localized(
        GatedExpansion(TopAndBottom(found.n_selected), components, found.bias),
        machine.dual_coef != 0.0, found.objective, found.gap, found.n_rounds, attributes,
    )  # fmt: skip
