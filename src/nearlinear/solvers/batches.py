"""Mini-batches of rows in a new random order each epoch, and the noise added to them."""

import numpy as np

_BLOCK = 4096  # rows measured at once


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
    """Adds Gaussian noise to dense rows, in units of the standard deviation of their columns.

    The deviations are those of all rows ``like``, as ``view`` shows them. Rows that are sparse then
    stay as they are: noise would fill them.
    """

    def __init__(self, like, jitter, rng, view=lambda rows: rows):
        self._rng, self._spread = rng, None
        spread = _column_spread(like, view) if jitter else None
        if spread is not None:
            self._spread = (jitter * spread).astype(like.dtype)

    def __call__(self, rows):
        if self._spread is None:
            return rows
        noise = self._rng.standard_normal(rows.shape, dtype=rows.dtype)
        noise *= self._spread
        noise += rows
        return noise


def _column_spread(rows, view):
    """Standard deviations of the columns of ``view(rows)``, a block at a time; None if sparse."""
    origin = None
    for start in range(0, rows.shape[0], _BLOCK):
        seen = view(rows[start : start + _BLOCK])
        if not isinstance(seen, np.ndarray):
            return None
        if origin is None:
            origin = seen[0]
            total, squares = np.zeros((2, len(origin)))
        # constant columns are zeros to the last bit, and rows far away lose no digits
        moved = (seen - origin).astype(np.float64, copy=False)
        total += moved.sum(axis=0)
        squares += np.einsum("id,id->d", moved, moved)
    mean = total / rows.shape[0]
    return np.sqrt(np.maximum(squares / rows.shape[0] - mean**2, 0.0))
