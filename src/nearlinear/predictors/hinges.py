"""f(x) = V max(0, Wx + t) + b, and the same with more layers: units that bend at hyperplanes."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from .._compile import compiled_fast_sums, run_blocks
from .base import Cost, check_width, products

_BLOCK_BYTES = 1 << 18  # of the widest layer: it stays in the second cache
_MOST_ROWS = 4096


@dataclass(frozen=True)
class Hinges:
    """Hinging hyperplanes (Breiman 1993), as a network of one or more layers of ReLU units.

    A unit counts where its plane is positive: γ_m(x) = [⟨θ_m, x⟩ + t_m > 0] is the gate of a
    half-space, and the local model behind it is ⟨θ_m, x⟩ + t_m times a vector. So the model is
    linear wherever the same units count.

    ``weights`` has an array (n_inputs, n_units) for each layer and ``biases`` one of (n_units,).
    The first layer sees rows, each other one max(0, what the layer before it gives). The last one
    gives the scores. There are two layers or more, all in one precision.
    """

    weights: tuple
    biases: tuple

    def __call__(self, X, n_jobs=None):
        """Scores, shape (n_rows, n_outputs); rows dense or CSR."""
        scores = np.empty((X.shape[0], self.n_outputs), dtype=self.dtype)

        def keep(start, stop, values):
            products(values, self.weights[-1], scores[start:stop])
            scores[start:stop] += self.biases[-1]

        self._run(X, lambda layer, start, stop, values: None, keep, n_jobs)
        return scores

    def active(self, X, n_jobs=None):
        """Which units count for each row, shape (n_rows, n_units), the first layer's first."""
        found = np.empty((X.shape[0], self.n_units), dtype=bool)
        places = np.cumsum([0, *(len(biases) for biases in self.biases[:-1])])

        def note(layer, start, stop, values):
            np.greater(values, 0, out=found[start:stop, places[layer] : places[layer + 1]])

        self._run(X, note, lambda start, stop, values: None, n_jobs)
        return found

    def _run(self, X, note, keep, n_jobs):
        """Hidden layers, block by block; ``note`` sees each of them, ``keep`` the last."""
        check_width(X, self.n_features)

        def work(start, stop):
            values = X[start:stop]
            for layer, (weights, biases) in enumerate(self._hidden):
                if issparse(values):
                    seen = values @ weights
                else:
                    seen = np.empty((stop - start, len(biases)), dtype=self.dtype)
                    products(values, weights, seen)
                _bend(seen, biases)
                note(layer, start, stop, seen)
                values = seen
            keep(start, stop, values)

        widest = max(len(biases) for biases in self.biases)
        block = _BLOCK_BYTES // (16 * widest * self.dtype.itemsize) * 16
        run_blocks(work, X.shape[0], int(np.clip(block, 64, _MOST_ROWS)), n_jobs)

    @property
    def _hidden(self):
        return list(zip(self.weights, self.biases, strict=True))[:-1]

    def plain(self, X):
        """The same scores from the formula, in NumPy."""
        values = X
        for weights, biases in self._hidden:
            values = np.maximum(np.asarray(values @ weights) + biases, 0)
        return values @ self.weights[-1] + self.biases[-1]

    @property
    def n_features(self):
        return self.weights[0].shape[0]

    @property
    def n_outputs(self):
        return len(self.biases[-1])

    @property
    def n_units(self):
        """Of all layers but the last, which gives scores."""
        return sum(len(biases) for biases in self.biases[:-1])

    @property
    def dtype(self):
        return self.weights[0].dtype

    @property
    def cost(self):
        """A multiply-add for each weight; and the comparison of a unit counts as one."""
        work = sum(weights.size for weights in self.weights) + self.n_units
        n_bytes = sum(array.nbytes for array in (*self.weights, *self.biases))
        return Cost(work, work / (self.n_features * self.n_outputs), int(n_bytes))


@compiled_fast_sums
def _bend(values, biases):
    """max(0, values + biases) in one pass."""
    zero = values.dtype.type(0.0)
    for i in range(len(values)):
        row = values[i]
        for j in range(len(biases)):
            total = row[j] + biases[j]
            row[j] = total if total > zero else zero
