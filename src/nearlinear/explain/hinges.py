"""w(x) and b(x) of layers of units that bend: the model is linear where the same units count."""

import numpy as np

from .._compile import run_blocks
from .linear import LinearParts

_BLOCK_NUMBERS = 1 << 20


def explain_hinges(predictor, X, n_support, n_jobs):
    """The slopes of the units that count for a row; these are told in the model's precision."""
    found = LinearParts(X, predictor.n_outputs, predictor.n_units)
    found.active[...] = np.arange(predictor.n_units)
    found.gates[...] = predictor.active(X, n_jobs)
    weights = [table.astype(np.float64) for table in predictor.weights]
    biases = [offsets.astype(np.float64) for offsets in predictor.biases]
    ends = np.cumsum([len(offsets) for offsets in biases[:-1]])

    def work(start, stop):
        """From the scores back to the columns, a layer at a time."""
        gates = np.split(found.gates[start:stop], ends[:-1], axis=1)
        slopes = np.broadcast_to(weights[-1].T, (stop - start, *weights[-1].T.shape))
        intercepts = np.tile(biases[-1], (stop - start, 1))
        for table, offsets, counts in zip(weights[-2::-1], biases[-2::-1], gates[::-1]):
            slopes = slopes * counts[:, None]
            intercepts += slopes @ offsets
            slopes = slopes @ table.T
        found.coefficients[start:stop], found.intercepts[start:stop] = slopes, intercepts

    widest = max(max(table.shape) for table in weights)
    block = max(1, _BLOCK_NUMBERS // (widest * predictor.n_outputs))
    run_blocks(work, X.shape[0], block, n_jobs)
    return found.explanation("unit")
