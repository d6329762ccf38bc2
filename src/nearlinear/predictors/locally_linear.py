"""f(x) = Σ_j γ_j(x) (W_jᵀ x + b_j) + b."""

from dataclasses import dataclass, fields

import numpy as np

from .._cached import cached_property
from .._compile import run_blocks
from ..gates.blend import local_scores, rows_per_block
from .base import Cost, check_width
from .gated_expansion import gate_cost

DENSE_BLOCK = 2048  # rows of which all gates are computed at once


@dataclass(frozen=True)
class LocallyLinear:
    """Local linear models and the gate that chooses among them.

    ``weights`` has shape (n_models, n_features, n_outputs), or (n_models, 0, n_outputs) where
    local models are constants; ``biases`` has shape (n_models, n_outputs). ``intercept``
    (n_outputs,), if there is one, is added to all scores. Of a sparse gate, one with ``codes``,
    only the models are evaluated that answer for a row.
    """

    gate: object
    weights: np.ndarray
    biases: np.ndarray
    intercept: np.ndarray | None = None

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR, handled in cache-sized blocks."""
        check_width(X, self.n_features)
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)
        score = self._sparse_scores if self.is_sparse else self._dense_scores

        def work(start, stop):
            score(X[start:stop], scores[start:stop])

        n_rows = rows_per_block(X.shape[1]) if self.is_sparse else DENSE_BLOCK
        run_blocks(work, X.shape[0], n_rows, n_jobs)
        return scores

    @property
    def is_sparse(self):
        return hasattr(self.gate, "codes")

    def _sparse_scores(self, X, scores):
        indices, codes = self.gate.codes(X)
        local = local_scores(self._features(X), indices, self.weights, self.biases)
        np.einsum("ik,ikc->ic", codes, local, out=scores)
        if self.intercept is not None:
            scores += self.intercept.astype(self.dtype)

    def _dense_scores(self, X, scores):
        gates = self.gate(X)
        for output in range(self.n_outputs):
            answers = self.local(X, output)
            answers *= gates
            # a product with ones sums short rows ten times faster
            total = answers @ np.ones(answers.shape[1], dtype=answers.dtype)
            if self.intercept is not None:
                total += self.dtype.type(self.intercept[output])
            scores[:, output] = total

    def local(self, X, output=0):
        """What every model alone would answer, shape (n_rows, n_models)."""
        answers = np.asarray(X @ self._packed[output])
        answers += self.biases[:, output]
        return answers

    @cached_property
    def _packed(self):
        """Weights of every output, (n_features, n_models), so that products run along memory."""
        return np.ascontiguousarray(self.weights.transpose(2, 1, 0))

    def __getstate__(self):
        """Fields only: a pickle has no use for what can be packed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def plain(self, X):
        """The same scores from the formula, with every local model evaluated."""
        features = self._features(X)
        scores = np.zeros((X.shape[0], self.n_outputs), dtype=self.dtype)
        for j, gate in enumerate(self.gate(X).T):
            scores += gate[:, None] * (features @ self.weights[j] + self.biases[j])
        return scores if self.intercept is None else scores + self.intercept

    def _features(self, X):
        return X if X.shape[1] == self.weights.shape[1] else X[:, : self.weights.shape[1]]

    @property
    def n_features(self):
        return self.gate.anchors.shape[1] if self.is_sparse else self.weights.shape[1]

    @property
    def n_outputs(self):
        return self.weights.shape[2]

    @property
    def dtype(self):
        return self.weights.dtype

    @property
    def cost(self):
        n_models, width, n_outputs = self.weights.shape
        n_bytes = self.weights.nbytes + self.biases.nbytes
        if not self.is_sparse:
            work, more = gate_cost(self.gate)
            work += (width + 2) * n_models * n_outputs
            return Cost(work, work / (width * n_outputs), n_bytes + more)
        k = self.gate.n_neighbors
        work = self.gate.anchors.size + k * (width + 1) * n_outputs
        work += k**3 // 3 if hasattr(self.gate, "ridge") else 0
        n_bytes += self.gate.anchors.nbytes
        metric = getattr(self.gate, "metric", None)
        n_bytes += 0 if metric is None else metric.nbytes
        return Cost(int(work), work / (self.n_features * n_outputs), int(n_bytes))
