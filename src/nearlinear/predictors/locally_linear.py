"""f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j) with a sparse gate γ."""

from dataclasses import dataclass

import numpy as np

from .._compile import run_blocks
from ..gates.anchors import InverseDistance, ReconstructionCodes, SoftAssignment
from ..gates.blend import local_scores, rows_per_block
from .base import Cost, check_width, count_bytes

_GATES = {gate.__name__: gate for gate in (SoftAssignment, InverseDistance, ReconstructionCodes)}
_GATE_NUMBERS = {"SoftAssignment": "sharpness", "ReconstructionCodes": "ridge"}


@dataclass(frozen=True)
class LocallyLinear:
    """Local linear models and the gate that chooses among them.

    ``weights`` has shape (n_anchors, n_features, n_outputs), or (n_anchors, 0, n_outputs) where
    local models are constants; ``biases`` has shape (n_anchors, n_outputs).
    """

    gate: SoftAssignment | InverseDistance | ReconstructionCodes
    weights: np.ndarray
    biases: np.ndarray

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR, handled in cache-sized blocks."""
        check_width(X, self.gate.anchors.shape[1])
        scores = np.empty((X.shape[0], self.biases.shape[1]), dtype=self.biases.dtype)

        def work(start, stop):
            rows = X[start:stop]
            indices, codes = self.gate.codes(rows)
            local = local_scores(self._features(rows), indices, self.weights, self.biases)
            np.einsum("ik,ikc->ic", codes, local, out=scores[start:stop])

        run_blocks(work, X.shape[0], rows_per_block(X.shape[1]), n_jobs)
        return scores

    def plain(self, X):
        """The same scores from the formula, with every local model evaluated."""
        features = self._features(X)
        scores = np.zeros((X.shape[0], self.biases.shape[1]), dtype=self.biases.dtype)
        for j, share in enumerate(self.gate(X).T):
            scores += share[:, None] * (features @ self.weights[j] + self.biases[j])
        return scores

    def _features(self, X):
        return X if X.shape[1] == self.weights.shape[1] else X[:, : self.weights.shape[1]]

    @property
    def dtype(self):
        return self.weights.dtype

    @property
    def cost(self):
        n_anchors, n_features = self.gate.anchors.shape
        width, n_outputs = self.weights.shape[1:]
        work = n_anchors * n_features + self.gate.n_neighbors * (width + 1) * n_outputs
        if isinstance(self.gate, ReconstructionCodes):
            work += self.gate.n_neighbors**3 // 3
        linear = n_features * n_outputs
        return Cost(int(work), work / linear, count_bytes(self.to_arrays()))

    def to_arrays(self):
        """Plain arrays from which ``from_arrays`` rebuilds the predictor."""
        kind = type(self.gate).__name__
        number = getattr(self.gate, _GATE_NUMBERS[kind]) if kind in _GATE_NUMBERS else 0.0
        arrays = {
            "gate": np.array(kind),
            "anchors": self.gate.anchors,
            "n_neighbors": np.array(self.gate.n_neighbors),
            "gate_number": np.array(number),
            "weights": self.weights,
            "biases": self.biases,
        }
        if getattr(self.gate, "metric", None) is not None:
            arrays["metric"] = self.gate.metric
        return arrays

    @classmethod
    def from_arrays(cls, arrays):
        kind = str(arrays["gate"])
        rest = [float(arrays["gate_number"])] if kind in _GATE_NUMBERS else []
        rest += [arrays["metric"]] if "metric" in arrays else []
        gate = _GATES[kind](arrays["anchors"], int(arrays["n_neighbors"]), *rest)
        return cls(gate, arrays["weights"], arrays["biases"])
