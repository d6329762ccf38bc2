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


def learn_gated_models(
    X,
    targets,
    C,
    gate,
    maps,
    loss,
    *,
    penalty,
    max_epochs,
    batch_size,
    learning_rate,
    rng,
    watch=None,
):
    """Learn from ``gate``; ``maps`` has one ``AffineMap`` a component, ``C`` an entry per row."""
    scales = np.sqrt([affine.scales for affine in maps]).T.astype(X.dtype)
    constants = np.sqrt([affine.constant for affine in maps]).astype(X.dtype)
    total = float(C.sum())
    shapes = [scales.shape, constants.shape, (1,)]
    model = [Parameter(np.zeros(shape, dtype=X.dtype)) for shape in shapes]
    moving = Parameter(np.asarray(gate.parameters, dtype=np.float64))
    batches = Batches(X, targets, len(C) * C / total, batch_size, rng)
    n_steps, count = max_epochs * batches.n_batches, 0
    ridges = (1.0 / total, 1.0 / total, 0.0)
    path = []
    for epoch in range(max_epochs):
        loss_sum = 0.0
        for rows, wanted, share in batches:
            size = learning_rate * one_cycle(count, n_steps)
            count += 1
            current = gate.with_parameters(moving.value)
            u, u0, bias = (part.value for part in model)
            gates = current(rows).astype(X.dtype)
            local = np.asarray(rows @ (scales * u)) + constants * u0
            scores = (gates * local).sum(axis=1, keepdims=True) + bias
            slopes = share[:, None] * loss.slope(scores, wanted)
            active = np.flatnonzero(slopes[:, 0])
            loss_sum += float(share @ loss.value(scores, wanted)) * len(share)
            rows, gates, local, slopes = rows[active], gates[active], local[active], slopes[active]
            weighted = gates * slopes
            gradients = (
                scales * np.asarray(rows.T @ weighted), constants * weighted.sum(axis=0),
                slopes.sum(axis=0),
            )  # fmt: skip
            for part, gradient, ridge in zip(model, gradients, ridges, strict=True):
                part.step(gradient, size, ridge, count)
            if moving.value.size:
                moving.step(current.gradient(rows, slopes * local), size, penalty / total, count)
        path.append(loss_sum / len(C))
        if watch is not None and watch(Progress(epoch + 1, path[-1])):
            break
    u, u0, bias = (part.average for part in model)
    learned = gate.with_parameters(moving.average)
    price = 0.5 * float((u**2).sum() + (u0**2).sum() + penalty * (moving.average**2).sum())
    return GatedModels(learned, scales * u, constants * u0, float(bias[0]), price, tuple(path))
