"""Gates and machines by turns: J(V) is a machine's optimum as a function of its gate.

    J(V) = max_a  yᵀa − ε‖a‖₁ − ½ Σ_q (a ∘ γ_q)ᵀ K_q (a ∘ γ_q),     γ = γ(·, V)

By Danskin's theorem ∂J/∂γ_iq = −a_i [K_q (a ∘ γ_q)]_i at the solution a: the machine is solved,
the gate moves down J's slope, and so on.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ..gates.learned import Rounded
from ..kernels.gated_grams import GatedGrams
from .dual_problem import MachineSolution


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
    was_interrupted: bool = False

    @property
    def objective(self):
        return self.machine.objective + self.penalty


class GateObjective:
    """J and its gradient as functions of a gate; machines start from the last solution."""

    def __init__(self, learning, owners, X, penalty=0.0):
        self.learning, self.owners, self.X = learning, owners, X
        self.base, self.penalty = learning.grams, penalty

    def solve(self, gates, tol):
        """The machine for gate values."""
        self.learning.use(GatedGrams(self.base, self.owners, gates))
        return self.learning.solve(np.ones(len(self.owners)), tol=tol)

    def certified(self, machine, tol):
        """The machine that was solved last with its gap in double precision."""
        return self.learning.certified_machine(machine, np.ones(len(self.owners)), tol=tol)

    def __call__(self, gate, tol):
        """J, its gradient in the gate's parameters, and the machine."""
        gates = gate(self.X)
        machine = self.solve(gates, tol)
        used = np.flatnonzero(machine.dual_coef)
        pulls = self.learning.grams.pulls(machine.dual_coef).T
        gradient = gate.gradient(self.X[used], -machine.dual_coef[used, None] * pulls)
        value = machine.dual_objective + self.price(gate)
        return value, gradient + self.penalty * gate.parameters, machine

    def price(self, gate):
        """½ penalty ‖V‖²."""
        return 0.5 * self.penalty * float(gate.parameters @ gate.parameters)


def learn_gate(objective, gate, *, tol, max_iter, inner_tol=1e-3, margin=1e-3, on_step=None):
    """Descend on J from ``gate`` by L-BFGS until it falls by less than ``tol`` of its value a step.

    The gate is rounded at the end and its machine solved once more, to ``tol``.
    """
    path, best, unit = [], [np.inf, gate], []

    def evaluate(parameters):
        moved = gate.moved(parameters)
        value, gradient, _ = objective(moved, inner_tol)
        if value < best[0]:
            best[:] = value, moved
        unit.append(max(value, 1e-300))
        return value / unit[0], gradient / unit[0]  # what is little, the optimizer takes from 1

    def step(_):
        path.append(float(best[0]))
        if on_step is not None:
            on_step(path[-1], len(path))

    start, was_interrupted = np.asarray(gate.parameters, dtype=np.float64), False
    if len(start) and max_iter > 0:
        try:
            minimize(
                evaluate, start, jac=True, method="L-BFGS-B", callback=step,
                options={"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxls": 10},
            )  # fmt: skip
        except KeyboardInterrupt:
            if not np.isfinite(best[0]):
                raise
            was_interrupted = True
    found = Rounded(best[1], margin)
    gates = found(objective.X)
    machine = objective.certified(objective.solve(gates, tol), tol)
    penalty, n_machines = objective.price(best[1]), objective.learning.n_machines
    return GatedMachine(
        found, gates, machine, tuple(path), penalty, n_machines, was_interrupted
    )  # fmt: skip
