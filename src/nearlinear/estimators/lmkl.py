"""LMKL: localized multiple kernel learning with a gate that is learned."""

from dataclasses import replace
from numbers import Real

import numpy as np

from ..gates.learned import Rounded
from ..kernels.affine import affine_map
from ..losses import LOSSES, EpsilonInsensitive
from ..predictors.component_scores import ComponentScores
from ..predictors.gated import GatedExpansion, GatedLinear
from ..solvers.localized.gate import (
    GateObjective,
    learn_gate,
    learn_gated_models,
    rounded_machine,
)
from ..solvers.watch import Watch
from ._base.constraints import at_least, one_of, positive
from ._base.gated_doc import documents_gated
from ._base.gated_machine import GATED_CONSTRAINTS, MACHINES, GatedMachines, Localized
from ._base.gating_rows import Checked, GatingRows
from ._base.kernel_machine import KernelClassifier, KernelRegressor
from ._base.lmkl_doc import LMKL_TEXTS, LMKR_TEXTS, TOL_TEXT
from ._base.old_model import require_memory
from ._base.progress import teller

# Affine kernels and more rows than this: gate and models are learned by mini-batches.
_MOST_DUAL_ROWS = 10_000
# Steps by mini-batches that are aimed at, and the fewest and most passes over the rows.
_STEPS, _EPOCHS = 8000, (20, 500)
# A component that gets less than this of a row's answer is shut for it.
_SHUT = 1e-3
# L-BFGS keeps ten pairs of steps, and gates, gradients and their copies come on top.
_GATE_COPIES = 40

_CONSTRAINTS = {
    **GATED_CONSTRAINTS,
    "n_copies": [at_least(1)],
    "gate": "no_validation",
    "gating_features": "no_validation",
    "gate_penalty": [at_least(0.0, Real)],
    "n_init": [at_least(1)],
    "solver": [one_of("auto", "adam", *MACHINES)],
    "max_epochs": [at_least(1), None],
    "batch_size": [at_least(1)],
    "learning_rate": [positive()],
}


class _LMKL(GatingRows, GatedMachines):
    def _learn_output(self, place, problem, rng):
        X = place.rows.X
        owners = np.tile(np.arange(len(place.kernels)), self.n_copies)
        maps = [affine_map(place.kernels[m], X.shape[1]) for m in owners]
        gate = self._started_gate(X)
        if self._engine(X, maps) == "adam":
            return self._learn_primal(place, problem, gate, maps, rng)
        grams = place.grams()
        grams.keep(range(len(place.kernels)))
        best, penalty = None, self.gate_penalty * self.C
        for _ in range(self.n_init):
            objective = GateObjective(place.objective(grams, problem), owners, X, penalty)
            start = gate.start(X, len(owners), rng)
            size = 8 * _GATE_COPIES * len(start.parameters)
            require_memory(size, self.max_memory, "let the gate see fewer columns")
            watch, was_interrupted = Watch(teller(self, "step")), False
            try:
                found = learn_gate(
                    objective, start, tol=self.tol, max_iter=self.max_iter, margin=_SHUT,
                    watch=watch,
                )  # fmt: skip
            except KeyboardInterrupt:
                if watch.best is None:
                    raise
                was_interrupted = True
                found = rounded_machine(objective, watch.best, watch, tol=self.tol, margin=_SHUT)
            if best is None or found.objective < best.objective:
                best = found
            if was_interrupted:
                break
        output = self._dual_output(best, place, owners, maps)
        return replace(output, was_interrupted=was_interrupted)

    def _dual_output(self, found, place, owners, maps):
        X, machine = place.rows.X, found.machine
        coefs = (place.units.spread * machine.dual_coef[:, None] * found.gates).T
        bias = place.units.unscaled(machine.bias)
        if all(affine is not None for affine in maps):
            scales = np.array([affine.scales for affine in maps])
            constants = np.array([affine.constant for affine in maps])
            weights = (scales * np.asarray(coefs @ X)).T
            biases = constants * coefs.sum(axis=1)
            predictor = _linear(found.gate, weights, biases, bias, X.dtype)
        else:
            components = ComponentScores.of_machines(
                place.kernels, owners, X, coefs, np.zeros(len(owners)), self.n_features_in_
            )
            predictor = GatedExpansion(found.gate, components, bias)
        support = machine.dual_coef != 0.0
        details = {"gate_": found.gate, "objective_path_": np.array(found.path)}
        details |= _component_report(found.gates, support)
        return Localized(
            predictor, support, found.objective, machine.gap, found.n_machines, details
        )  # fmt: skip

    def _learn_primal(self, place, problem, gate, maps, rng):
        X, units = place.rows.X, place.units
        n_epochs = self.max_epochs or _default_epochs(X.shape[0], self.batch_size)
        found = learn_gated_models(
            X, problem.targets[:, None].astype(X.dtype), np.maximum(problem.upper, -problem.lower),
            gate.start(X, len(maps), rng), maps, self._loss(),
            penalty=self.gate_penalty * self.C, max_epochs=n_epochs,
            batch_size=self.batch_size, learning_rate=self.learning_rate, rng=rng,
            watch=Watch(teller(self, "step")),
        )  # fmt: skip
        rounded = Rounded(found.gate, _SHUT)
        predictor = _linear(
            rounded,
            units.spread * found.weights,
            units.spread * found.biases,
            units.unscaled(found.bias),
            X.dtype,
        )
        residual = problem.targets - units.scaled(predictor(X, n_jobs=self.n_jobs)[:, 0])
        objective = found.price + problem.loss(residual)
        support = ((residual >= problem.epsilon) & (problem.upper > 0)) | (
            (residual <= -problem.epsilon) & (problem.lower < 0)
        )
        details = {"gate_": rounded, "objective_path_": np.array(found.path)}
        details |= _component_report(rounded(X), support)
        return Localized(predictor, support, objective, np.nan, n_epochs, details)

    def _engine(self, X, maps):
        affine = all(found is not None for found in maps)
        if self.solver == "adam" and not affine:
            raise ValueError(
                f"{type(self).__name__}(solver='adam') learns linear models and needs kernels that "
                "have such: 'linear' or 'affine', not normalized to a unit diagonal; take "
                "solver='smo' for others."
            )
        if self.solver != "auto":
            return self.solver
        return "adam" if affine and X.shape[0] > _MOST_DUAL_ROWS else "smo"

    def gate_values(self, X, gating=None):
        """How much each component answers for each row, shape (n_rows, n_components).

        One such array for each class if there are more than two.
        """
        return self._gates_of(self._seen_rows(X, gating))


def _default_epochs(n_rows, batch_size):
    return int(np.clip(_STEPS * batch_size / n_rows, *_EPOCHS))


def _linear(gate, weights, biases, bias, dtype):
    weights = np.ascontiguousarray(weights, dtype=dtype)
    return GatedLinear(gate, weights, np.asarray(biases, dtype=dtype), float(bias))


def _component_report(gates, support):
    open_rows = gates > 0.0
    return {
        "component_share_": open_rows.mean(axis=0),
        "n_support_per_component_": (open_rows & support[:, None]).sum(axis=0),
    }


@documents_gated(
    "GatedLinear or GatedExpansion", "Machines solved (epochs, with \"adam\").",
    "Most steps of the gate.", "Seed of the gate's start and of the mini-batches.",
    kernels="affine", C=3.0, tol="1e-3", max_iter=50, solver=False, tol_text=TOL_TEXT,
    marks=LMKL_TEXTS,
)  # fmt: skip
class LMKLClassifier(_LMKL, KernelClassifier):
    r"""LMKL: local machines on several kernels, and a learned gate that shares out the rows.

    Minimizes, over functions :math:`f_m` of the kernels and the gate :math:`\gamma`,

    .. math:: \frac12 \sum_m \|f_m\|^2 + C \sum_i \max\Big(0,\, 1 - y_i \big(\sum_m \gamma_m(x_i)
              f_m(x_i) + b\big)\Big) + \frac{\mu}{2}\|V\|^2,

    where :math:`V` are the parameters of the gate.

    Parameters
    ----------
    %(kernels)s "affine", a linear kernel with a constant, gives every
        component a linear model with a bias of its own.
    %(gate)s
    %(shared)s
    %(engine)s

    Attributes
    ----------
    %(gate_attributes)s
    %(attributes)s

    Notes
    -----
    Follows [1]_ (see also [2]_). %(notes)s

    References
    ----------
    .. [1] M. Gönen, E. Alpaydın, "Localized Multiple Kernel Learning", ICML 2008.
    .. [2] J. Moeller, S. Swaminathan, S. Venkatasubramanian, "A Unified View of Localized Kernel
           Learning", SDM 2016.
    """

    _parameter_constraints = {
        **KernelClassifier._parameter_constraints,
        **_CONSTRAINTS,
    }
    _parameter_constraints.pop("bias")

    def __init__(
        self,
        kernels="affine",
        *,
        n_copies=5,
        gate="softmax",
        gating_features=None,
        C=3.0,
        gate_penalty=3.0,
        normalization="variance",
        solver="auto",
        n_init=1,
        tol=1e-3,
        max_iter=50,
        max_epochs=None,
        batch_size=256,
        learning_rate=0.1,
        class_weight=None,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
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
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self):
        return LOSSES["hinge"]

    def decision_function(self, X, gating=None):
        """Scores: positive for ``classes_[1]`` if there are two classes, else one per class."""
        return super().decision_function(Checked(self._seen_rows(X, gating)))


@documents_gated(
    "GatedLinear or GatedExpansion", "Machines solved (epochs, with \"adam\").",
    "Most steps of the gate.", "Seed of the gate's start and of the mini-batches.",
    kernels="affine", tol="1e-3", max_iter=50, solver=False, tol_text=TOL_TEXT, marks=LMKR_TEXTS,
)  # fmt: skip
class LMKLRegressor(_LMKL, KernelRegressor):
    r"""LMKL for regression: local machines, and a learned gate that shares out the rows.

    Minimizes, over functions :math:`f_m` of the kernels and the gate :math:`\gamma`,

    .. math:: \frac12 \sum_m \|f_m\|^2 + C \sum_i \max\Big(0,\, \big|y_i - \sum_m
              \gamma_m(x_i) f_m(x_i) - b\big| - \epsilon\Big) + \frac{\mu}{2}\|V\|^2,

    where :math:`V` are the parameters of the gate and :math:`y` is in units of its spread.

    Parameters
    ----------
    %(kernels)s "affine", a linear kernel with a constant, gives every
        component a linear model with a bias of its own.
    %(gate)s
    %(shared)s
    %(engine)s

    Attributes
    ----------
    %(gate_attributes)s
    %(attributes)s

    Notes
    -----
    Follows [1]_. %(notes)s

    References
    ----------
    .. [1] M. Gönen, E. Alpaydın, "Localized Multiple Kernel Regression", ICPR 2010.
    """

    _parameter_constraints = {
        **KernelRegressor._parameter_constraints,
        **_CONSTRAINTS,
    }
    _parameter_constraints["solver"] = [one_of("auto", "adam", "smo")]
    _parameter_constraints.pop("bias")

    def __init__(
        self,
        kernels="affine",
        *,
        n_copies=5,
        gate="softmax",
        gating_features=None,
        C=10.0,
        epsilon=0.1,
        gate_penalty=3.0,
        normalization="variance",
        solver="auto",
        n_init=1,
        tol=1e-3,
        max_iter=50,
        max_epochs=None,
        batch_size=256,
        learning_rate=0.1,
        max_memory=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
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
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self):
        return EpsilonInsensitive(self.epsilon)
