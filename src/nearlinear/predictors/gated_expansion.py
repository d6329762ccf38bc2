"""Kernel machines blended by a gate: f(x) = Σ_q γ_q(x) s(f_q(x)) + b."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .base import Cost
from .kernel_expansion import KernelExpansion

ACTIVATIONS = {"identity": lambda scores: scores, "tanh": np.tanh}


@dataclass(frozen=True)
class GatedExpansion:
    """f(x) = Σ_q γ_q(x) s(f_q(x)) + bias, with s the "identity" or "tanh".

    Where γ_q(x) is exactly 0, f_q(x) is not evaluated. A gate of the components' scores, such as
    ``TopAndBottom``, reads these in place of rows, and so needs them all.
    """

    gate: Callable
    components: KernelExpansion
    bias: float = 0.0
    activation: str = "identity"

    def __call__(self, X, n_jobs=None):
        if reads_scores(self.gate):
            scores = self.components(X, n_jobs=n_jobs)
            gates = self.gate(scores)
        else:
            gates = self.gate(X)
            scores = self.components(X, n_jobs=n_jobs, wanted=gates != 0.0)
        answers = ACTIVATIONS[self.activation](scores)
        blend = np.einsum("iq,iq->i", gates, answers) + self.bias
        return blend[:, None].astype(scores.dtype)

    n_outputs = 1

    @property
    def n_features(self):
        return self.components.n_features

    @property
    def dtype(self):
        return self.components.dtype

    @property
    def cost(self):
        own, (work, n_bytes) = self.components.cost, gate_cost(self.gate)
        work += own.multiply_adds
        return Cost(int(work), work / self.n_features, int(own.n_bytes + n_bytes))


def reads_scores(gate):
    return getattr(gate, "reads_scores", False)


def gate_cost(gate):
    """A gate's own work and bytes: its scores where it has some, else one product a parameter."""
    while not hasattr(gate, "scores") and hasattr(gate, "gate"):
        gate = gate.gate
    extra = getattr(gate, "scores", None)
    if extra is not None and hasattr(extra, "cost"):
        return extra.cost.multiply_adds, extra.cost.n_bytes
    n_parameters = int(np.size(getattr(gate, "parameters", ())))
    return n_parameters, 8 * n_parameters
