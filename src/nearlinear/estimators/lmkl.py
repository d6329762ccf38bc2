"""LMKL: localized multiple kernel learning with a gate that is learned."""

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from .._hints import Auto, ClassWeight, Seed
from ..gates.base import LearnedGate
from ..gates.learned import Rounded, random_start
from ..kernels.affine import affine_map
from ..kernels.family import KernelsLike
from ..losses import LOSSES, EpsilonInsensitive
from ..predictors.gated_expansion import GatedExpansion
from ..predictors.locally_linear import LocallyLinear
from ..solvers.localized.alternating import learn_gate_by_steps
from ..solvers.localized.gate import (
    GateObjective,
    learn_gate,
    learn_gated_models,
    rounded_machine,
)
from ..solvers.machine.bias import FreeBias
from ..solvers.watch import Watch
from ._base import gating
from ._base.capacity import Verdict
from ._base.checks import at_least, one_of, require_memory, shared
from ._base.localized import (
    SHUT,
    Localized,
    component_scores,
    gate_attributes,
    gated_setup,
    learn_localized,
    with_machines,
)
from ._base.model import Model
from ._base.outputs import Teller
from ._base.values.loss_weight import WEIGHT, learn_weighted

# Affine kernels and more rows than this: gate and models are learned by mini-batches.
_MOST_DUAL_ROWS = 10_000
# "adam": the target for the number of steps, and the fewest and most passes over the rows.
_STEPS, _EPOCHS = 8000, (20, 500)
_BATCH_SIZE, _LEARNING_RATE = 256, 0.1  # of "adam"
# L-BFGS keeps ten pairs of steps, and gates, gradients and their copies come on top.
_GATE_COPIES = 40

_CONSTRAINTS = {
    **shared("kernels", "C", "normalization", "tol", "max_iter"),
    **shared("n_jobs", "random_state", "verbose", "device"),
    "n_copies": [at_least(1)],
    "gate": "no_validation",
    "gating_features": "no_validation",
    "gate_penalty": [at_least(0.0, Real)],
    "n_init": [at_least(1)],
    "max_epochs": [at_least(1), None],
}


class LMKLClassifier(ClassifierMixin, Model):
    r"""LMKL: local machines on several kernels, and a learned gate that shares out the rows.

    Minimizes, over functions :math:`f_m` of the kernels and the gate :math:`\gamma`,

    .. math:: \frac{1}{2} \sum_m \|f_m\|^2 + C \sum_i \max\Bigl(0,\, 1 - y_i \bigl(\sum_m
              \gamma_m(x_i) f_m(x_i) + b\bigr)\Bigr) + \frac{\mu}{2}\|V\|^2,

    where :math:`V` are the parameters of the gate.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="affine"
        The kernels that are combined. A name is "linear", "affine", "poly" or "gaussian";
        "gaussians" stands for Gaussian kernels of ten widths on all features. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        "affine" is a linear kernel with a constant: it gives every component a linear model with a
        bias of its own.
    n_copies : int, default=5
        Number of components of every kernel. Components may share one kernel, since each has its
        own gate: copies of a linear kernel make a piecewise linear model.
    gate : {"softmax", "sigmoid", "gaussian"} or object, default="softmax"
        How rows are shared out. "softmax" has components that compete by linear scores. "sigmoid"
        turns each component on or off on its own. "gaussian" has components around centers. An
        object is a gate of yours: it has ``start``, ``parameters``, ``with_parameters``,
        ``gradient`` and a call (see :class:`~nearlinear.gates.base.LearnedGate`). Gates start from
        k-means.
    gating_features : list of columns, function or None, default=None
        What the gate sees of a row: some columns, by number or name; a function of the rows; or
        all. A second matrix for the gate is given to ``fit`` and ``predict`` as ``gating=``.
    C : float, default=3.0
        Weight of the losses: a larger C fits the training rows more closely.
    gate_penalty : float, default=3.0
        μ / C, the weight of the gate's squared parameters: a larger value gives a smoother gate,
        which does not follow single rows.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    solver : {"auto", "smo", "mwu", "averaging", "adam", "alternating"}, default="auto"
        "smo" solves the machine for every gate by pair steps in the dual. "mwu" does the same from
        columns of the Gram matrices alone, in memory that grows with rows × kernels; it has the
        squared hinge loss, so that its C weighs squared slacks. "averaging" is "mwu" by the
        published averages ([2]_, section 5.2, ε = 0.01). "adam" learns gate and local models
        together by mini-batches, without a Gram matrix, for linear and affine kernels.
        "alternating" is the published algorithm ([1]_, section 3): from a random gate, plain
        gradient steps with a line search, by turns with "smo". "auto" is "adam" for linear and
        affine kernels beyond 10,000 rows, else "smo".
    n_init : int, default=1
        Number of starts from different centers, or random gates. The one with the least objective
        is kept. "adam" starts once.
    tol : float, default=1e-3
        Learning stops when a step of the gate lowers the objective by less than this fraction of
        its first value. This is no duality gap, since the problem is not convex: only the machine
        of the last gate is solved to this relative gap. "adam" does not use it.
    max_iter : int, default=50
        The most steps of the gate.
    max_epochs : int or None, default=None
        Passes of "adam" over the rows. None stands for as many as make about 8,000 steps, between
        20 and 500.
    class_weight : dict, "balanced" or None, default=None
        A factor on the weight of each class. "balanced" gives all classes the same total weight.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the gate's start and of the mini-batches.
    verbose : int, default=0
        1 prints a line for every step.
    device : str, default="cpu"
        Where machines are solved: "cpu", "cuda" or "cuda:1"; a device needs PyTorch
        (``pip install nearlinear[gpu]``) and linear, polynomial or Gaussian kernels. "adam" trains
        on the CPU.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    gate_ : Rounded
        The learned gate. Its values below 0.001 are rounded to 0 and those above 0.999 to 1. With
        more than two classes, a list of gates.
    component_share_ : array of shape (n_components,), or a list of these
        Fraction of the training rows for which each component is open at all.
    n_support_per_component_ : array of shape (n_components,), or a list of these
        Number of support rows for which each component is open.
    n_gating_features_ : int
        Columns of the second matrix; 0 without one.
    objective_path_ : array, or a list of these
        The objective after every step of the gate. With "adam", the mean loss of every epoch.
    kernels_ : list
        The kernels as they are used, with their scales.
    objective_ : float
        The value of the training objective, summed over classes, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum for the learned gate, at most. Not a number with
        "adam".
    n_iter_ : int
        Machines that were solved for the slowest class; with "adam", epochs.
    n_support_ : int
        Number of training rows that have a coefficient.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : LocallyLinear or GatedExpansion
        All that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_ (see also [2]_). The optimum of the machine is a function of the gate, and L-BFGS
    minimizes it. Its gradient needs no derivative of the machine (Danskin), and every machine
    starts from the one before. Differs in: L-BFGS. The gate starts from k-means, since copies of
    one kernel would start all but tied. ``gate_penalty`` is ours: 0 is the published problem, and
    with ``solver="alternating"`` the published algorithm. The gate is rounded and its machine is
    solved once more, so that what predicts is what was solved. The problem is not convex:
    ``duality_gap_`` certifies the machine for the learned gate alone.
    Linear and affine kernels become one linear model for each of P components: a prediction takes
    O(P d).

    References
    ----------
    .. [1] M. Gönen, E. Alpaydın, "Localized Multiple Kernel Learning", ICML 2008.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    classes_: np.ndarray
    gate_: Any
    component_share_: np.ndarray | Any
    n_support_per_component_: np.ndarray | Any
    n_gating_features_: int
    objective_path_: np.ndarray | Any
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _parameter_constraints = {
        **_CONSTRAINTS,
        **shared("class_weight"),
        "solver": [one_of("auto", "adam", "smo", "mwu", "averaging", "alternating")],
    }

    def __init__(
        self,
        kernels: KernelsLike = "affine",
        *,
        n_copies: int = 5,
        gate: Literal["softmax", "sigmoid", "gaussian"] | LearnedGate = "softmax",
        gating_features: Sequence[Any] | Callable[..., Any] | None = None,
        C: float = 3.0,
        gate_penalty: float = 3.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        solver: Literal["auto", "smo", "mwu", "averaging", "adam", "alternating"] = "auto",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 50,
        max_epochs: int | None = None,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        device: str = "cpu",
    ):
        self.kernels = kernels
        self.n_copies = n_copies
        self.gate = gate
        self.gating_features = gating_features
        self.C = C
        self.gate_penalty = gate_penalty
        self.normalization = normalization
        self.solver = solver
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_epochs = max_epochs
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    fit = gating.fit
    predict = gating.predict
    decision_function = gating.decision_function
    explain = gating.explain
    gate_values = gating.gate_values

    def _learn(self, rows):
        return _learn(self, rows)


class LMKLRegressor(RegressorMixin, Model):
    r"""LMKL for regression: local machines, and a learned gate that shares out the rows.

    Minimizes, over functions :math:`f_m` of the kernels and the gate :math:`\gamma`,

    .. math:: \frac{1}{2} \sum_m \|f_m\|^2 + C \sum_i \max\Bigl(0,\, \bigl|y_i - \sum_m
              \gamma_m(x_i) f_m(x_i) - b\bigr| - \epsilon\Bigr) + \frac{\mu}{2}\|V\|^2,

    where :math:`V` are the parameters of the gate and :math:`y` is in units of its spread.

    Parameters
    ----------
    kernels : str, kernel, function, Family or list of these, default="affine"
        The kernels that are combined. A name is "linear", "affine", "poly" or "gaussian";
        "gaussians" stands for Gaussian kernels of ten widths on all features. An object is one of
        :mod:`nearlinear.kernels`. A function takes two sets of rows and returns their Gram block.
        "affine" is a linear kernel with a constant: it gives every component a linear model with a
        bias of its own.
    n_copies : int, default=5
        Number of components of every kernel. Components may share one kernel, since each has its
        own gate: copies of a linear kernel make a piecewise linear model.
    gate : {"softmax", "sigmoid", "gaussian"} or object, default="softmax"
        How rows are shared out. "softmax" has components that compete by linear scores. "sigmoid"
        turns each component on or off on its own. "gaussian" has components around centers. An
        object is a gate of yours: it has ``start``, ``parameters``, ``with_parameters``,
        ``gradient`` and a call (see :class:`~nearlinear.gates.base.LearnedGate`). Gates start from
        k-means.
    gating_features : list of columns, function or None, default=None
        What the gate sees of a row: some columns, by number or name; a function of the rows; or
        all. A second matrix for the gate is given to ``fit`` and ``predict`` as ``gating=``.
    C : float or "auto", default="auto"
        Weight of the losses, in units of the spread of y: see ``epsilon``. "auto" takes, of six
        values from 0.03 to 10, the smallest that does about as well as any on held-out rows (of at
        most 1,000 rows, on the CPU). It is 1 for fewer than 20 distinct rows. Where it is 10 and y
        has no noise, larger ones may do better.
    epsilon : float, default=0.1
        Errors up to this size cost nothing. The machine learns (y − center) / spread, so C and
        epsilon mean the same whether y is in dollars or in millions. To give them in the unit of
        y, divide both by np.std(y); dividing by ``target_spread_`` is exact.
    gate_penalty : float, default=3.0
        μ / C, the weight of the gate's squared parameters: a larger value gives a smoother gate,
        which does not follow single rows.
    normalization : {"variance", "trace", "diagonal"} or None, default="variance"
        How kernels are scaled before they compete. "variance" divides each by the variance of the
        rows in its feature space, so that wide and narrow kernels have equal chances. "trace"
        divides by the mean of k(x, x). "diagonal" makes k(x, x) = 1. None takes kernels as they
        are. Scales come from distinct rows; of more than 500, about 500 stand for all.
    solver : {"auto", "smo", "adam", "alternating"}, default="auto"
        "smo" solves the machine for every gate by pair steps in the dual. "adam" learns gate and
        local models together by mini-batches, without a Gram matrix, for linear and affine kernels.
        "alternating" is the published algorithm ([1]_, section 2.3): from a random gate, plain
        gradient steps with a line search, by turns with "smo". "auto" is "adam" for linear and
        affine kernels beyond 10,000 rows, else "smo".
    n_init : int, default=1
        Number of starts from different centers, or random gates. The one with the least objective
        is kept. "adam" starts once.
    tol : float, default=1e-3
        Learning stops when a step of the gate lowers the objective by less than this fraction of
        its first value. This is no duality gap, since the problem is not convex: only the machine
        of the last gate is solved to this relative gap. "adam" does not use it.
    max_iter : int, default=50
        The most steps of the gate.
    max_epochs : int or None, default=None
        Passes of "adam" over the rows. None stands for as many as make about 8,000 steps, between
        20 and 500.
    n_jobs : int or None, default=None
        Number of threads. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the gate's start and of the mini-batches.
    verbose : int, default=0
        1 prints a line for every step.
    device : str, default="cpu"
        Where machines are solved: "cpu", "cuda" or "cuda:1"; a device needs PyTorch
        (``pip install nearlinear[gpu]``) and linear, polynomial or Gaussian kernels. "adam" trains
        on the CPU.

    Attributes
    ----------
    C_ : float
        The weight of the losses that the model was trained with, where C is "auto".
    settings_tried_ : list of Verdict
        Each C, and its mean loss on held-out rows: of one that was given up early, on the first
        part of them, and infinite where smaller ones had shown that it gains nothing.
    target_spread_ : float
        The spread of the training values: their standard deviation, after values that lie more
        than three interquartile ranges beyond the quartiles have been moved to there.
        ``objective_`` and ``duality_gap_`` are in units of its square.
    gate_ : Rounded
        The learned gate. Its values below 0.001 are rounded to 0 and those above 0.999 to 1. With
        more than two classes, a list of gates.
    component_share_ : array of shape (n_components,), or a list of these
        Fraction of the training rows for which each component is open at all.
    n_support_per_component_ : array of shape (n_components,), or a list of these
        Number of support rows for which each component is open.
    n_gating_features_ : int
        Columns of the second matrix; 0 without one.
    objective_path_ : array, or a list of these
        The objective after every step of the gate. With "adam", the mean loss of every epoch.
    kernels_ : list
        The kernels as they are used, with their scales.
    objective_ : float
        The value of the training objective, in double precision.
    duality_gap_ : float
        How far ``objective_`` is above its optimum for the learned gate, at most. Not a number with
        "adam".
    n_iter_ : int
        Machines that were solved; with "adam", epochs.
    n_support_ : int
        Number of training rows that have a coefficient.
    support_share_ : float
        The same as a fraction of the distinct training rows.
    predictor_ : LocallyLinear or GatedExpansion
        All that prediction needs.
    cost_ : Cost
        What one prediction costs: multiply-adds, the same as a multiple of a linear model, bytes.

    Notes
    -----
    Follows [1]_. See :class:`LMKLClassifier` for how the gate is learned and where we differ.

    References
    ----------
    .. [1] M. Gönen, E. Alpaydın, "Localized Multiple Kernel Regression", ICPR 2010.
    """

    C_: float
    settings_tried_: list[Verdict]
    target_spread_: float
    gate_: Any
    component_share_: np.ndarray | Any
    n_support_per_component_: np.ndarray | Any
    n_gating_features_: int
    objective_path_: np.ndarray | Any
    kernels_: list[Any]
    objective_: float
    duality_gap_: float
    n_iter_: int
    n_support_: int
    support_share_: float

    _parameter_constraints = {
        **_CONSTRAINTS,
        **shared("epsilon"),
        **WEIGHT,
        "solver": [one_of("auto", "adam", "smo", "alternating")],
    }

    def __init__(
        self,
        kernels: KernelsLike = "affine",
        *,
        n_copies: int = 5,
        gate: Literal["softmax", "sigmoid", "gaussian"] | LearnedGate = "softmax",
        gating_features: Sequence[Any] | Callable[..., Any] | None = None,
        C: float | Auto = "auto",
        epsilon: float = 0.1,
        gate_penalty: float = 3.0,
        normalization: Literal["variance", "trace", "diagonal"] | None = "variance",
        solver: Literal["auto", "smo", "adam", "alternating"] = "auto",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 50,
        max_epochs: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        device: str = "cpu",
    ):
        self.kernels = kernels
        self.n_copies = n_copies
        self.gate = gate
        self.gating_features = gating_features
        self.C = C
        self.epsilon = epsilon
        self.gate_penalty = gate_penalty
        self.normalization = normalization
        self.solver = solver
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_epochs = max_epochs
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.device = device

    fit = gating.fit
    predict = gating.predict
    explain = gating.explain
    gate_values = gating.gate_values

    def _learn(self, rows):
        return learn_weighted(self, rows, _learn, _learn)


def _learn(model, rows):
    """One gated machine for each output; component q has the kernel ``kernel_of[q]``."""
    rng = check_random_state(model.random_state)
    setup, gate = gated_setup(model, rows), gating.gate_for(model, rows)
    n_gate_values = rows.X.shape[0] * len(setup.kernels) * model.n_copies
    require_memory(8 * n_gate_values, "lower n_copies")
    kernel_of = np.tile(np.arange(len(setup.kernels)), model.n_copies)
    maps = [affine_map(kernel, rows.X.shape[1]) for kernel in setup.kernels] * model.n_copies
    if _is_primal(model, rows, maps):
        return _learn_by_batches(model, setup, gate, maps, rng)
    setup = with_machines(model, setup)
    tell = Teller(model)
    solve, rescue = _by_turns(model, setup, gate, kernel_of, maps, rng, tell)
    return learn_localized(model, setup, solve, rescue, tell)


def _is_primal(model, rows, maps):
    is_affine = all(found is not None for found in maps)
    if model.solver == "adam" and not is_affine:
        raise ValueError(
            f"{type(model).__name__}(solver='adam') learns linear models and needs kernels that "
            "have such: 'linear' or 'affine', not normalized to a unit diagonal; take "
            "solver='smo' for others."
        )
    if model.solver != "auto":
        return model.solver == "adam"
    return is_affine and rows.X.shape[0] > _MOST_DUAL_ROWS


def _by_turns(model, setup, gate, kernel_of, maps, rng, tell):
    """The machine for a gate, a step of the gate, and so on: ``solve`` and ``rescue``.

    The best of several starts is kept.
    """
    X, searches, found = setup.rows.X, [], []  # of the output in work
    options = {"tol": model.tol, "margin": SHUT}
    if model.solver == "alternating":
        begin, search = partial(random_start, gate), learn_gate_by_steps
    else:
        begin, search = gate.start, learn_gate

    def solve(problem):
        searches.clear()
        found.clear()
        grams, penalty = setup.grams(), model.gate_penalty * model.C
        grams.keep(range(len(setup.kernels)))
        for _ in range(model.n_init):
            machines = setup.objective(grams, problem, FreeBias())
            objective = GateObjective(machines, kernel_of, X, penalty)
            start = begin(X, len(kernel_of), rng)
            size = 8 * _GATE_COPIES * len(start.parameters)
            require_memory(size, "let the gate see fewer columns")
            watch = Watch(tell.steps("step"))
            searches.append((objective, watch))
            found.append(search(objective, start, max_iter=model.max_iter, watch=watch, **options))
        return best()

    def rescue(problem):
        objective, watch = searches[-1] if searches else (None, Watch())
        if watch.best is not None:
            found.append(rounded_machine(objective, watch.best, watch, **options))
        return best() if found else None

    def best():
        return _dual_output(min(found, key=attrgetter("objective")), setup, kernel_of, maps)

    return solve, rescue


def _dual_output(found, setup, kernel_of, maps):
    """A gate and its machine; affine kernels become linear models."""
    X, machine, units = setup.rows.X, found.machine, setup.rows.task.units
    coefs = (units.spread * machine.dual_coef[:, None] * found.gates).T
    bias = units.unscaled(machine.bias)
    if all(affine is not None for affine in maps):
        scales = np.array([affine.scales for affine in maps])
        constants = np.array([affine.constant for affine in maps])
        weights = (scales * np.asarray(coefs @ X)).T
        biases = constants * coefs.sum(axis=1)
        predictor = _linear_components(found.gate, weights, biases, bias, X.dtype)
    else:
        components = component_scores(setup, coefs, kernel_of=kernel_of)
        predictor = GatedExpansion(found.gate, components, bias)
    support = machine.dual_coef != 0.0
    attributes = gate_attributes(found.gate, found.gates, found.path, support)
    return Localized(
        predictor, support, found.objective, machine.gap, found.n_machines, attributes
    )  # fmt: skip


def _learn_by_batches(model, setup, gate, maps, rng):
    """Gate and linear models of every output by mini-batches of Adam."""
    rows = setup.rows
    X, n_epochs = rows.X, _count_epochs(model, rows.X.shape[0])
    tell = Teller(model)

    def solve(problem):
        start = gate.start(X, len(maps), rng)
        gated = learn_gated_models(
            X, problem.targets.astype(X.dtype), np.maximum(problem.upper, -problem.lower), start,
            maps, _primal_loss(model), penalty=model.gate_penalty * model.C, max_epochs=n_epochs,
            batch_size=_BATCH_SIZE, learning_rate=_LEARNING_RATE, rng=rng,
            watch=Watch(tell.steps("step")),
        )  # fmt: skip
        return _primal_output(model, rows, problem, gated, n_epochs)

    return learn_localized(model, setup, solve, tell=tell)


def _count_epochs(model, n_rows):
    if model.max_epochs is not None:
        return model.max_epochs
    return int(np.clip(_STEPS * _BATCH_SIZE / n_rows, *_EPOCHS))


def _primal_loss(model):
    return EpsilonInsensitive(model.epsilon) if hasattr(model, "epsilon") else LOSSES["hinge"]


def _primal_output(model, rows, problem, found, n_epochs):
    """``GatedModels`` as a ``Localized``; ``problem`` is that of the output on these rows."""
    X, units = rows.X, rows.task.units
    rounded, spread = Rounded(found.gate, SHUT), units.spread
    bias = units.unscaled(found.bias)
    weights, biases = spread * found.weights, spread * found.biases
    predictor = _linear_components(rounded, weights, biases, bias, X.dtype)
    residual = problem.targets - units.scaled(predictor(X, n_jobs=model.n_jobs)[:, 0])
    objective = found.price + problem.loss(residual)
    support = ((residual >= problem.epsilon) & (problem.upper > 0)) | (
        (residual <= -problem.epsilon) & (problem.lower < 0)
    )
    attributes = gate_attributes(rounded, rounded(X), found.path, support)
    return Localized(predictor, support, objective, np.nan, n_epochs, attributes)


def _linear_components(gate, weights, biases, bias, dtype):
    """Of ``weights`` (n_features, n_components)."""
    weights = np.ascontiguousarray(np.transpose(weights), dtype=dtype)[:, :, None]
    biases = np.asarray(biases, dtype=dtype)[:, None]
    return LocallyLinear(gate, weights, biases, np.array([float(bias)]))
