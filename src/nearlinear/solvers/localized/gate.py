"""A gate and its machine learned together: by turns, or by mini-batches.

By turns, J(V) is a machine's optimum as a function of its gate:

    J(V) = max_a  yᵀa − ε‖a‖₁ − ½ Σ_q (a ∘ γ_q)ᵀ K_q (a ∘ γ_q),     γ = γ(·, V)

By Danskin's theorem ∂J/∂γ_iq = −a_i [K_q (a ∘ γ_q)]_i at the solution a: the machine is solved,
the gate moves down J's slope, and so on.

Mini-batches need no Gram matrix and O(P d) a row, where the components are linear. They minimize
½ Σ_q ‖u_q‖² + Σ_i C_i loss(y_i, f(x_i)) + ½ penalty ‖V‖² over the gate's V and all of
f(x) = Σ_q γ_q(x) (⟨w_q, x⟩ + b_q) + b, where w_q = √scales_q ∘ u_q and b_q = √constant_q u_q0:
the primal of the machine whose kernels have these features.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from ...gates.learned import Rounded
from ...kernels.gated_grams import GatedGrams
from ..machine.problem import MachineSolution
from ..minibatch import Batches, Parameter, one_cycle
from ..watch import Progress, Watch


@dataclass(frozen=True)
class GatedMachine:
    """A gate, its values at the training rows, and the machine that belongs to them.

    ``path`` has J and the gate's penalty after every step; it never rises. ``penalty`` is the
    learned gate's.
    """

    gate: object
    gates: np.ndarray
    machine: MachineSolution
    path: tuple[float, ...]
    penalty: float
    n_machines: int

    @property
    def objective(self):
        return self.machine.objective + self.penalty


class GateObjective:
    """J and its gradient as functions of a gate; machines start from the last solution.

    Component q has the kernel ``kernel_of[q]`` of ``objective``.
    """

    def __init__(self, objective, kernel_of, X, penalty=0.0):
        self.objective, self.kernel_of, self.X = objective, kernel_of, X
        self.penalty = penalty
        self.latest, self.n_machines = None, 0

    def __call__(self, gate, tol):
        """J, its gradient in the gate's parameters, and the machine."""
        gated, machine = self._solved(gate(self.X), tol)
        used = np.flatnonzero(machine.dual_coef)
        ungated = gated.grams.ungated_products(machine.dual_coef).T
        gradient = gate.gradient(self.X[used], -machine.dual_coef[used, None] * ungated)
        value = machine.dual_objective + self.price(gate)
        return value, gradient + self.penalty * gate.parameters, machine

    def certified(self, gates, tol):
        """The machine for gate values, with its gap in double precision."""
        gated, machine = self._solved(gates, tol)
        return gated.certified_machine(machine, np.ones(len(self.kernel_of)), tol)

    def _solved(self, gates, tol):
        """J of gated kernels, and the machine."""
        grams = GatedGrams(self.objective.grams, self.kernel_of, gates)
        gated = replace(self.objective, grams=grams)
        machine = gated.solve(np.ones(len(self.kernel_of)), tol, start=self.latest)
        self.latest, self.n_machines = machine.dual_coef, self.n_machines + 1
        return gated, machine

    def price(self, gate):
        """½ penalty ‖V‖²."""
        return 0.5 * self.penalty * float(gate.parameters @ gate.parameters)


def learn_gate(objective, gate, *, tol, max_iter, inner_tol=1e-3, margin=1e-3, watch=None):
    """Descend on J from ``gate`` by L-BFGS until it falls by less than ``tol`` of its value a step.

    The gate is rounded at the end and its machine solved once more, to ``tol``. The watch keeps the
    best gate so far.
    """
    watch = Watch() if watch is None else watch
    best, unit = [np.inf, gate], []

    def evaluate(parameters):
        trial = gate.with_parameters(parameters)
        value, gradient, _ = objective(trial, inner_tol)
        if value < best[0]:
            best[:] = value, trial
            watch.keep(trial)
        unit.append(max(value, 1e-300))
        return value / unit[0], gradient / unit[0]  # what is little, the optimizer takes from 1

    def step(_):
        if watch(Progress(len(watch.history) + 1, float(best[0]), state=best[1])):
            raise StopIteration

    start = np.asarray(gate.parameters, dtype=np.float64)
    if len(start) and max_iter > 0:
        minimize(
            evaluate, start, jac=True, method="L-BFGS-B", callback=step,
            options={"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxls": 10},
        )  # fmt: skip
    return rounded_machine(objective, best[1], watch, tol=tol, margin=margin)


def rounded_machine(objective, gate, watch, *, tol, margin=1e-3):
    """The machine of a rounded gate, solved to ``tol``; the watch knows the way to the gate."""
    found = Rounded(gate, margin)
    gates = found(objective.X)
    machine = objective.certified(gates, tol)
    path = tuple(progress.objective for progress in watch.history)
    return GatedMachine(
        found, gates, machine, path, objective.price(gate), objective.n_machines
    )  # fmt: skip


@dataclass(frozen=True)
class GatedModels:
    """The learned gate and local models; ``price`` are both penalties, ``path`` the mean losses."""

    gate: object
    weights: np.ndarray  # (n_features, n_components)
    biases: np.ndarray
    bias: float
    price: float
    path: tuple[float, ...]


class GatedTraining:
    """Mini-batches of one output, a block of rows at a time.

    ``maps`` has one ``AffineMap`` a component. ``total`` is Σ C_i over all rows, and ``n_steps``
    how many batches there will be.
    """

    def __init__(
        self, gate, maps, dtype, loss, *, total, penalty, n_epochs, n_steps, n_rows, learning_rate
    ):
        self._gate, self._loss, self._dtype = gate, loss, dtype
        self._scales = np.sqrt([affine.scales for affine in maps]).T.astype(dtype)
        self._constants = np.sqrt([affine.constant for affine in maps]).astype(dtype)
        shapes = [self._scales.shape, self._constants.shape, (1,)]
        self._models = [Parameter(np.zeros(shape, dtype=dtype)) for shape in shapes]
        self._moving = Parameter(np.asarray(gate.parameters, dtype=np.float64))
        self._total, self._penalty, self._n_rows = total, penalty, n_rows
        self._ridges = (1.0 / total, 1.0 / total, 0.0)
        self._n_epochs, self._n_steps, self._rate = n_epochs, n_steps, learning_rate
        self.epoch, self._count, self.loss_sum, self.path = 0, 0, 0.0, []

    @property
    def is_over(self):
        return self.epoch >= self._n_epochs

    def take(self, batches):
        """A step for each of some ``Batches``, whose weights have a mean of 1."""
        scales, constants, loss = self._scales, self._constants, self._loss
        for rows, wanted, share in batches:
            size = self._rate * one_cycle(self._count, self._n_steps)
            self._count += 1
            current = self._gate.with_parameters(self._moving.value)
            u, u0, bias = (part.value for part in self._models)
            gates = current(rows).astype(self._dtype)
            local = np.asarray(rows @ (scales * u)) + constants * u0
            scores = (gates * local).sum(axis=1, keepdims=True) + bias
            slopes = share[:, None] * loss.slope(scores, wanted)
            active = np.flatnonzero(slopes[:, 0])
            self.loss_sum += float(share @ loss.value(scores, wanted)) * len(share)
            rows, gates, local, slopes = rows[active], gates[active], local[active], slopes[active]
            weighted = gates * slopes
            gradients = (
                scales * np.asarray(rows.T @ weighted), constants * weighted.sum(axis=0),
                slopes.sum(axis=0),
            )  # fmt: skip
            for part, gradient, ridge in zip(self._models, gradients, self._ridges, strict=True):
                part.step(gradient, size, ridge, self._count)
            if self._moving.value.size:
                gradient, ridge = (
                    current.gradient(rows, slopes * local),
                    self._penalty / self._total,
                )
                self._moving.step(gradient, size, ridge, self._count)

    def end_epoch(self, watch=None):
        """True where the watch asks to stop."""
        self.epoch += 1
        self.path.append(self.loss_sum / self._n_rows)
        self.loss_sum = 0.0
        return watch is not None and watch(Progress(self.epoch, self.path[-1]))

    def model(self):
        """The running average, as ``GatedModels``."""
        u, u0, bias = (part.average for part in self._models)
        moving = self._moving.average
        learned = self._gate.with_parameters(moving)
        price = 0.5 * float((u**2).sum() + (u0**2).sum() + self._penalty * (moving**2).sum())
        return GatedModels(
            learned, self._scales * u, self._constants * u0, float(bias[0]), price, tuple(self.path)
        )


def learn_gated_models(
    X, targets, C, gate, maps, loss, *, penalty, max_epochs, batch_size, learning_rate, rng,
    watch=None,
):  # fmt: skip
    """Learn from ``gate``; ``targets`` and ``C`` have an entry per row.

    ``maps`` has one ``AffineMap`` a component.
    """
    total = float(C.sum())
    batches = Batches(X, targets[:, None], len(C) * C / total, batch_size, rng)
    training = GatedTraining(
        gate, maps, X.dtype, loss, total=total, penalty=penalty, n_epochs=max_epochs,
        n_steps=max_epochs * batches.n_batches, n_rows=len(C), learning_rate=learning_rate,
    )  # fmt: skip
    while not training.is_over:
        training.take(batches)
        if training.end_epoch(watch):
            break
    return training.model()
