"""Training by mini-batches: rows in random order, Adam steps with a one-cycle size, averages."""

import numpy as np

from .._compile import compiled

_WARM_UP = 0.1  # share of the steps in which the step size rises
_MOMENTUM, _SCALE_MEMORY, _AVERAGE = 0.9, 0.999, 0.998
_PARTS = ("value", "average", "_mean", "_square")  # of a parameter


def one_cycle(step, n_steps):
    """Factor of the step size: a linear rise, then half a cosine to zero."""
    rise = max(1.0, _WARM_UP * n_steps)
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1.0 + np.cos(np.pi * (step - rise) / max(1.0, n_steps - rise)))


class Parameter:
    """One parameter array with its Adam moments and its running average.

    The ridge of a step pulls it toward ``center``, or toward zero.
    """

    def __init__(self, start, center=None):
        self._start, self._center = start, center
        self.value = start.copy()
        self.average = start.copy()
        self._mean = np.zeros_like(start)
        self._square = np.zeros_like(start)

    def step(self, gradient, size, ridge, count, reach=np.inf):
        """Move by at most about ``size``, never further than ``reach`` from the start."""
        scale = np.sqrt(1.0 - _SCALE_MEMORY**count) / (1.0 - _MOMENTUM**count)
        keep = min(_AVERAGE, count / (count + 9.0))  # a short run must forget its start
        as_type = self.value.dtype.type
        if self._center is not None and ridge:
            gradient = gradient - as_type(ridge) * self._center
        _adam_pass(
            self.value.ravel(),
            np.ascontiguousarray(gradient).ravel(),
            self._mean.ravel(),
            self._square.ravel(),
            self.average.ravel(),
            as_type(size * scale),
            as_type(ridge),
            as_type(keep),
        )
        if reach < np.inf:
            np.clip(self.value, self._start - reach, self._start + reach, out=self.value)

    def state(self):
        """All that the next steps depend on, as arrays by name."""
        return {name: getattr(self, name) for name in _PARTS}

    def restore(self, state):
        """Go on from what ``state`` gave."""
        for name in _PARTS:
            getattr(self, name)[...] = state[name]

    def restart(self, index, value):
        """Put one entry elsewhere and forget how it moved."""
        for array in (self.value, self.average):
            array[index] = value
        self._mean[index] = 0.0


@compiled
def _adam_pass(value, gradient, mean, square, average, size, ridge, keep):
    one = value.dtype.type(1.0)
    momentum, memory = value.dtype.type(0.9), value.dtype.type(0.999)
    tiny = value.dtype.type(1e-8)
    for t in range(len(value)):
        slope = gradient[t] + ridge * value[t]
        mean[t] = momentum * mean[t] + (one - momentum) * slope
        square[t] = memory * square[t] + (one - memory) * slope * slope
        value[t] -= size * mean[t] / (np.sqrt(square[t]) + tiny)
        average[t] = keep * average[t] + (one - keep) * value[t]


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
