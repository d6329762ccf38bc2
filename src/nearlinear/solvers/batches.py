"""Mini-batches of rows in a new random order each epoch, and the noise added to them."""

import numpy as np


class Batches:
    """Yields rows, targets and each row's share of the batch's mean loss."""

    def __init__(self, Z, targets, row_weight, batch_size, rng):
        self._Z, self._targets, self._weight = Z, targets, row_weight
        self._rng = rng
        self.n_batches = -(-Z.shape[0] // batch_size)
        self.largest = -(-Z.shape[0] // self.n_batches)

    def __iter__(self):
        order = self._rng.permutation(self._Z.shape[0])
        for rows in np.array_split(order, self.n_batches):
            batch = self._Z[rows]
            share = (self._weight[rows] / len(rows)).astype(batch.dtype, copy=False)
            yield batch, self._targets[rows], share


class RowNoise:
    """Adds Gaussian noise to dense rows, in units of the spread of each column of ``like``.

    Sparse rows stay as they are: noise would fill them.
    """

    def __init__(self, like, jitter, rng):
        self._rng, self._spread = rng, None
        if jitter and isinstance(like, np.ndarray):
            self._spread = (jitter * like.std(axis=0, dtype=np.float64)).astype(like.dtype)

    def __call__(self, rows):
        if self._spread is None:
            return rows
        noise = self._rng.standard_normal(rows.shape, dtype=rows.dtype)
        noise *= self._spread
        noise += rows
        return noise
