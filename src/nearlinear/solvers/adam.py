"""Adam steps with a one-cycle step size and a running average of each parameter."""

import numpy as np

from .._compile import compiled

_WARM_UP = 0.1  # share of the steps in which the step size rises
_MOMENTUM, _SCALE_MEMORY, _AVERAGE = 0.9, 0.999, 0.998


def one_cycle(step, n_steps):
    """Factor of the step size: a linear rise, then half a cosine to zero."""
    rise = max(1.0, _WARM_UP * n_steps)
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1.0 + np.cos(np.pi * (step - rise) / max(1.0, n_steps - rise)))


class Parameter:
    """One parameter array with its Adam moments and its running average.

    The ridge of a step pulls it towards ``center``, or towards zero.
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
