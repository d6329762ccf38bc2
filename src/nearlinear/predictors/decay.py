"""exp(−u) of many numbers at once, for all that fades: Gaussians and conformal profiles.

libm's exponential is called for one number after the other. This one is straight-line arithmetic,
so the vector unit takes a whole vector of numbers.
"""

from math import factorial, log

import numpy as np

from .._compile import compiled, compiled_fast_sums


def exponential_numbers(dtype):
    """Range reduction and Taylor series of exp(−u), as ``decay`` takes them.

    ln 2 has two parts, the first so short that its multiples are exact. The limits are where
    2^−n ends; the series, where |r| ≤ ln 2 / 2 leaves less than a rounding error.
    """
    if dtype == np.float32:
        high, low, limit, degree = 355 / 512, -2.1219444005469058e-4, 87.0, 7
    else:
        high, low = float.fromhex("0x1.62e42feep-1"), 1.9082149292705877e-10
        limit, degree = 708.0, 12
    number = np.dtype(dtype).type
    reduction = tuple(number(value) for value in (1 / log(2), 0.5, high, low, limit, 0.0))
    return reduction, tuple(number((-1) ** j / factorial(j)) for j in range(degree, -1, -1))


@compiled_fast_sums
def _series_at(r, series):
    total = series[0]
    for coefficient in series[1:]:
        total = total * r + coefficient
    return total


# Strict order: free to reorder, the compiler would put the two parts of ln 2 together again.
@compiled
def decay(u, reduction, series, like):
    """exp(−u) = 2^−n exp(−r): libm's would be called for one number after the other."""
    per_octave, half, high, low, limit, zero = reduction
    near = min(u, limit)
    n = np.int32(near * per_octave + half)
    octaves = like.dtype.type(n)
    value = _series_at((near - octaves * high) - octaves * low, series)
    if len(series) < 10:  # float32: known when this is compiled, so is the way to write 2^−n
        value *= like.dtype.type(np.int32((127 - n) << 23).view(np.float32))
    else:
        value *= like.dtype.type(np.int64((1023 - np.int64(n)) << 52).view(np.float64))
    return value if u < limit else zero
