"""Mini-batches of rows in a new random order each epoch, with noise if asked."""

import numpy as np


class Batches:
    """Yields rows, targets and each row's share of the batch's mean loss.

    ``jitter`` adds Gaussian noise to dense rows, in units of each feature's standard deviation.
    """

    def __init__(self, Z, targets, row_weight, batch_size, jitter, rng):
        self._Z, self._targets, self._weight = Z, targets, row_weight
        self._rng = rng
        self.n_batches = -(-Z.shape[0] // batch_size)
        self.largest = -(-Z.shape[0] // self.n_batches)
        self._noise = None
        if jitter and isinstance(Z, np.ndarray):
            self._noise = Z.std(axis=0, dtype=np.float64).astype(Z.dtype) * Z.dtype.type(jitter)

    def __iter__(self):
        order = self._rng.permutation(self._Z.shape[0])
        for rows in np.array_split(order, self.n_batches):
            batch = self._Z[rows]
            if self._noise is not None:
                batch += self._noise * self._rng.standard_normal(batch.shape, dtype=batch.dtype)
            share = (self._weight[rows] / len(rows)).astype(batch.dtype, copy=False)
            yield batch, self._targets[rows], share
