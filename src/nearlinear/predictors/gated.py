"""Components blended by a gate: sums, votes, and local linear models."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._compile import run_blocks
from ..gates.scores import top_and_bottom
from ..kernels.gated_grams import with_gates
from .base import Cost
from .component_scores import ComponentScores
from .kernel_expansion import KernelExpansion

_BLOCK = 2048  # rows whose gates are computed at once


@dataclass(frozen=True)
class GatedExpansion:
    """f(x) = Σ_q γ_q(x) f_q(x) + bias."""

    gate: Callable
    components: ComponentScores
    bias: float

    def __call__(self, X, n_jobs=None):
        scores = self.components(X, n_jobs=n_jobs)
        gates = self.gate(X)
        return (np.einsum("iq,iq->i", gates, scores) + self.bias)[:, None].astype(scores.dtype)

    @property
    def dtype(self):
        return self.components.dtype

    @property
    def cost(self):
        return _with_gate(self.components.cost, self.gate, self.components.n_features)

    def to_arrays(self):
        return {**self.components.to_arrays(), "bias": np.array(self.bias)}


@dataclass(frozen=True)
class GatedVote:
    """f(x) = Σ_q γ_q(x) tanh f_q(x)."""

    gate: Callable
    components: ComponentScores

    def __call__(self, X, n_jobs=None):
        scores = self.components(X, n_jobs=n_jobs)
        votes = np.einsum("iq,iq->i", self.gate(X), np.tanh(scores))
        return votes[:, None].astype(scores.dtype)

    @property
    def dtype(self):
        return self.components.dtype

    @property
    def cost(self):
        return _with_gate(self.components.cost, self.gate, self.components.n_features)

    def to_arrays(self):
        return self.components.to_arrays()


@dataclass(frozen=True)
class SelectedSum:
    """Half the sum of the ``n_selected`` largest and as many smallest f_q(x), plus bias."""

    components: ComponentScores
    n_selected: int
    bias: float

    def __call__(self, X, n_jobs=None):
        scores = self.components(X, n_jobs=n_jobs)
        chosen = top_and_bottom(scores, self.n_selected)
        return (np.einsum("iq,iq->i", chosen, scores) + self.bias)[:, None].astype(scores.dtype)

    @property
    def dtype(self):
        return self.components.dtype

    @property
    def cost(self):
        return self.components.cost

    def to_arrays(self):
        return {**self.components.to_arrays(), "bias": np.array(self.bias)}


@dataclass(frozen=True)
class ExpansionOfGatedRows:
    """A kernel expansion on rows that carry their gates' values as last columns."""

    gate: Callable
    expansion: KernelExpansion

    def __call__(self, X, n_jobs=None):
        return self.expansion(with_gates(X, self.gate(X)), n_jobs=n_jobs)

    @property
    def dtype(self):
        return self.expansion.coefficients.dtype

    @property
    def cost(self):
        return _with_gate(self.expansion.cost, self.gate, self.expansion.n_features)

    def to_arrays(self):
        return self.expansion.to_arrays()


@dataclass(frozen=True)
class GatedLinear:
    """f(x) = Σ_q γ_q(x) (⟨w_q, x⟩ + b_q) + bias, ``weights`` (n_features, n_components)."""

    gate: Callable
    weights: np.ndarray
    biases: np.ndarray
    bias: float

    def __call__(self, X, n_jobs=None):
        scores = np.empty((X.shape[0], 1), dtype=self.weights.dtype)

        def work(start, stop):
            scores[start:stop, 0] = self._score(X[start:stop])

        run_blocks(work, X.shape[0], _BLOCK, n_jobs)
        return scores

    def _score(self, X):
        answers = self.local(X)
        answers *= self.gate(X)
        # a product with ones sums short rows ten times faster
        return answers @ np.ones(answers.shape[1], dtype=answers.dtype) + self.bias

    def local(self, X):
        """What every component alone would answer."""
        answers = np.asarray(X @ self.weights)
        answers += self.biases
        return answers

    @property
    def dtype(self):
        return self.weights.dtype

    @property
    def cost(self):
        n_features, n_components = self.weights.shape
        work = (n_features + 2) * n_components
        n_bytes = self.weights.nbytes + self.biases.nbytes
        return _with_gate(Cost(work, work / n_features, n_bytes), self.gate, n_features)

    def to_arrays(self):
        return {"weights": self.weights, "biases": self.biases, "bias": np.array(self.bias)}


@dataclass(frozen=True)
class Stacked:
    """One predictor per output, side by side."""

    outputs: tuple

    def __call__(self, X, n_jobs=None):
        return np.hstack([output(X, n_jobs=n_jobs) for output in self.outputs])

    @property
    def dtype(self):
        return self.outputs[0].dtype

    @property
    def cost(self):
        costs = [output.cost for output in self.outputs]
        work = sum(cost.multiply_adds for cost in costs)
        times = sum(cost.times_linear for cost in costs) / len(costs)
        return Cost(work, times, sum(cost.n_bytes for cost in costs))

    def to_arrays(self):
        return {
            f"{name}_{k}": array
            for k, output in enumerate(self.outputs)
            for name, array in output.to_arrays().items()
        }


def _with_gate(cost, gate, n_features):
    """The gate's own work: its scores where it has some, else one product a parameter."""
    extra = getattr(_innermost(gate), "scores", None)
    if extra is not None and hasattr(extra, "cost"):
        work, n_bytes = extra.cost.multiply_adds, extra.cost.n_bytes
    else:
        work = int(np.size(getattr(_innermost(gate), "parameters", ())))
        n_bytes = work * 8
    work += cost.multiply_adds
    return Cost(int(work), work / n_features, int(cost.n_bytes + n_bytes))


def _innermost(gate):
    while not hasattr(gate, "scores") and hasattr(gate, "gate"):
        gate = gate.gate
    return gate
