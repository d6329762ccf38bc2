"""SAMKL: kernels switched on and off for every row."""

from functools import partial

import numpy as np

from ..gates.scores import Switches
from ..predictors.component_scores import ComponentScores
from ..predictors.gated import SelectedSum
from ..solvers.localized.success import stratified_folds
from ..solvers.localized.switches import held_out_errors, solve_equal, solve_switched
from ..solvers.mixture.objective import Descent
from ..solvers.watch import Watch
from ._base.constraints import SHARED, at_least, without
from ._base.gated_doc import documents_gated
from ._base.gated_machine import GATED_CONSTRAINTS, GatedMachines, Localized
from ._base.kernel_machine import KernelClassifier
from ._base.progress import tell, teller

_PLANS = "equal weights", "learned weights", "switches"  # what held-out rows decide between
# A model is chosen on so many folds, or on as many of them as hold out so many rows.
_FOLDS, _ENOUGH_ROWS = 3, 1000


@documents_gated(
    "SelectedSum", "The round that was kept.", "Most steps of the kernel weights in a round.", None,
)  # fmt: skip
class SAMKLClassifier(GatedMachines, KernelClassifier):
    r"""SAMKL: every row chooses the kernels that speak for it.

    With switches :math:`h_m(x)`, minimizes by turns, over functions :math:`f_m` of the kernels and
    weights :math:`\beta` on the simplex,

    .. math:: \frac12 \sum_m \frac{\|f_m\|^2}{\beta_m}
              + C \sum_i \max\Big(0,\, 1 - y_i \big(\sum_m h_m(x_i) f_m(x_i) + b\big)\Big),

    and sets :math:`h(x)` to half the marks of the ``n_selected`` largest :math:`f_m(x)` plus half
    the marks of as many smallest ones.

    Parameters
    ----------
    %(kernels)s
    n_selected : int or None, default=None
        Kernels that are switched on for a row and either class; with all of them this is SimpleMKL.
        None stands for what does best on held-out training rows: all but one, all with learned
        weights (SimpleMKL), or all with equal weights (uniform MKL).
    max_rounds : int, default=8
        Most turns of weights and switches; the round whose model fits best is kept.
    %(shared)s

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), or a list of such
        Weights, one array per class if there are more than two.
    switches_share_ : array of shape (n_kernels,), or a list of such
        Mean switch of each kernel over the training rows.
    n_selected_ : int, or a list of such
        Kernels that are switched on for a row and either class.
    objective_path_ : array of shape (n_rounds,), or a list of such
        Objective of each round's model as it predicts. Rounds need not settle, and may be several
        times worse than the one that was kept, ``n_iter_``.
    gate_ : Switches
        The switches; ``gate_values(X)`` has shape (n_rows, n_kernels).
    %(attributes)s

    Notes
    -----
    Of [1]_ the idea was available to us (a latent 0/1 switch per row and kernel, by turns with
    multiple kernel learning and integer programs), but neither its constraints on the switches nor
    its rule for new rows. With switches chosen for a row's own label the training loss vanishes
    and test rows are classified at chance, since their label is not known. So this is the
    label-free form: the score of a row is half the best sum of ``n_selected`` shares for the
    positive class less half the best sum for the negative one; the integer programs are solved by
    sorting. Rounds are compared by the objective of the model as it predicts. They need not
    converge, and ``duality_gap_`` is that of the weights for the kept round's switches.

    Switches are harmful where learned weights are sparse: the kernels with the largest and the
    smallest share, which are switched off by half, are then those that matter, and they change
    from row to row and round to round. So by default three models are compared by their errors on
    three folds of the training rows (fewer of them if they hold out a thousand rows), and on equal
    errors the simpler one is kept. Give ``n_selected`` for switches whatever they are worth.

    References
    ----------
    .. [1] X. Liu, L. Wang, J. Zhang, J. Yin, "Sample-adaptive Multiple Kernel Learning", AAAI 2014.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    random_state = None  # nothing is drawn
    _parameter_constraints = {
        **without("random_state", GATED_CONSTRAINTS),
        "class_weight": SHARED["class_weight"],
        "n_selected": [at_least(1), None],
        "max_rounds": [at_least(1)],
    }

    def __init__(
        self,
        kernels="gaussians",
        *,
        n_selected=None,
        max_rounds=8,
        C=10.0,
        normalization="variance",
        solver="smo",
        tol=1e-2,
        max_iter=500,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernels = kernels
        self.n_selected = n_selected
        self.max_rounds = max_rounds
        self.C = C
        self.normalization = normalization
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _plan(self, place, problem):
        """How to learn: with the switches that were asked for, or as held-out rows say."""
        n_kernels = len(place.kernels)
        if self.n_selected is not None:
            return self._switching(self.n_selected)
        if n_kernels == 1:
            return self._equal
        plans = [self._equal, self._switching(n_kernels), self._switching(n_kernels - 1)]
        # the same folds in every fit: a seed shall not change the model
        folds = stratified_folds(problem.targets, _FOLDS, np.random.RandomState(0))
        folds = folds[: max(1, -(-_ENOUGH_ROWS * _FOLDS // len(problem)))]
        errors = held_out_errors(
            plans, lambda part, rows: _objective(place, part, rows), place.kernels, place.rows.X,
            problem, folds,
        )  # fmt: skip
        for name, error in zip(_PLANS, errors, strict=True):
            tell(self, name, {"held-out error": float(error)})
        return plans[int(np.argmin(errors))]

    def _equal(self, descent, watch=None):
        return solve_equal(descent, tol=self.tol)

    def _switching(self, n_selected):
        return partial(
            solve_switched, n_selected=n_selected, tol=self.tol, max_rounds=self.max_rounds,
            max_iter=self.max_iter,
        )  # fmt: skip

    def _learn_output(self, place, problem, rng):
        n_kernels = len(place.kernels)
        if self.n_selected is not None and self.n_selected > n_kernels:
            raise ValueError(
                f"{type(self).__name__}(n_selected={self.n_selected}) is more than the "
                f"{n_kernels} kernels there are."
            )
        plan = self._plan(place, problem)
        found = plan(Descent(_objective(place, problem)), watch=Watch(teller(self, "round")))
        n_selected = found.n_selected
        weights, machine = found.evaluation.weights, found.evaluation.machine
        components = ComponentScores.of_machines(
            place.kernels, np.arange(n_kernels), place.rows.X,
            (machine.dual_coef[:, None] * found.gates * weights).T,
            np.zeros(n_kernels), self.n_features_in_,
        )  # fmt: skip
        details = {
            "gate_": Switches(components, n_selected),
            "kernel_weights_": weights,
            "switches_share_": found.gates.mean(axis=0),
            "n_selected_": n_selected,
            "objective_path_": np.array(found.path),
        }
        return Localized(
            SelectedSum(components, n_selected, found.bias), machine.dual_coef != 0.0,
            found.objective, found.gap, found.n_rounds, details,
        )  # fmt: skip


def _objective(place, problem, rows=None):
    grams = place.grams(rows=rows)
    grams.keep(range(len(place.kernels)))
    return place.objective(grams, problem)
