"""Curves of one number: lines between knots, a number for each category, or normal scores."""

import numpy as np


def on_curve(curve, x):
    """What a curve makes of numbers; NaN stays.

    A curve is a pair of knots, in ascending order, and of the values there. Lines join them, and
    the ends go on level. Where a knot stands several times the curve jumps, and at the knot itself
    the middle one of its values counts. Without knots, x are places of categories: the first value
    is that of an unknown one. The curve "normal" makes normal scores of tails.
    """
    x = np.asarray(x, dtype=np.float64)
    if isinstance(curve, str):
        return normal_scores(x)
    knots, values = curve
    if knots is None:
        places = np.nan_to_num(x, nan=-1.0).astype(np.intp) + 1
        return np.where(np.isnan(x), x, values[places])
    first, last = (np.searchsorted(knots, x, side) for side in ("left", "right"))
    middle = np.minimum((first + last - 1) // 2, len(knots) - 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # slopes of jumps, which nobody asks for
        between = np.interp(x, knots, values)
    return np.where(last > first, values[middle], between)


# --- normal scores ------------------------------------------------------------------------------

NORMAL = "normal"  # a curve that has no knots
LEAST_TAIL = 1e-7 - 2.0**-52  # as scikit-learn's QuantileTransformer, whose scores end there
MIDDLE = 0.425  # of the distance to 1/2, up to where the first ratio holds
# Ratios of polynomials, highest power last: Wichura, Algorithm AS 241, Applied Statistics 37
# (1988), for scores below 7.
NEAR = (
    (
        3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
        1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
        3.3430575583588128105e4, 2.5090809287301226727e3,
    ),
    (
        1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
        2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
        5.2264952788528545610e3,
    ),
)  # fmt: skip
FAR = (
    (
        1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
        3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4,
    ),
    (
        1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
        1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ),
)  # fmt: skip


def normal_scores(tails):
    """The score of the normal law that has these tails; of the upper tail where it is negative.

    So both ends of the law are as exact in single precision.
    """
    tail = np.clip(np.abs(tails), LEAST_TAIL, 0.5)
    away = 0.5 - tail
    far = np.sqrt(-np.log(tail)) - 1.6
    near = MIDDLE**2 - away**2
    size = np.where(away <= MIDDLE, away * _ratio(NEAR, near), _ratio(FAR, far))
    return np.where(tails < 0.0, size, -size)


def _ratio(polynomials, x):
    above, below = (np.polynomial.polynomial.polyval(x, one) for one in polynomials)
    return above / below
