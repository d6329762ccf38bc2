"""What a rule may ask of a field that came out of a file; each says what is wrong with the model.

All numbers are finite, and floats are single or double.
"""

import numpy as np

from ..kinds import KINDS, family_of, fields_of, rule, stranger
from .container import ModelFileError
from .parts import Part

FLOATS, WHOLE = (np.float32, np.float64), (np.int32, np.int64)


def checked(part, family, *context, only=None):
    """Hold a part of a family against the rule of its kind; what the rule gives.

    ``only`` names the kinds that may stand here, if not all of the family.
    """
    kind = getattr(part, "kind", None)
    is_named = isinstance(part, Part) and isinstance(kind, str)
    is_here = is_named and (only is None or kind in only or kind not in KINDS)
    if not is_here or family_of(kind) != family:
        raise ModelFileError(f"The model has a {family} of {stranger(kind)}.")
    found = rule("check", kind, ModelFileError)
    names, check = found if kind in KINDS else (fields_of(kind), found)
    return fields_checked(part, names, check, *context)


def fields_checked(part, names, check, *context):
    if set(vars(part)) != {"kind", *names}:
        raise ModelFileError(f"The model's {part.kind} does not have the fields of one.")
    try:
        return check(part, *context)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"The model's {part.kind} has fields of the wrong type.") from error


def require(condition, kind, what):
    if not condition:
        raise ModelFileError(f"The model's {kind} is inconsistent: {what}.")


def floats(array, *shape, name):
    """A finite array of floats; None in ``shape`` leaves an extent open."""
    good = isinstance(array, np.ndarray) and array.dtype in FLOATS and array.ndim == len(shape)
    good = good and all(want in (None, have) for want, have in zip(shape, array.shape))
    if not good or not np.all(np.isfinite(array)):
        raise ModelFileError(f"The model's {name} has the wrong shape, type or values.")
    return array.shape


def number(value, name, low=-1e300, high=1e300):
    """A finite number that is one in every precision of ours."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ModelFileError(f"The model's {name} is {_short(value)}.")


def one_type(*arrays, name):
    if len({array.dtype for array in arrays if array is not None}) > 1:
        raise ModelFileError(f"The model's {name} has arrays of several types.")


def count(value, name, low, high):
    if type(value) is not int or not low <= value <= high:
        raise ModelFileError(
            f"The model's {name} is {_short(value)}, not between {low} and {high}."
        )


def _short(value):
    """A number as it is; of anything else its kind, since that may be long."""
    is_number = isinstance(value, int | float)
    return repr(value)[:40] if is_number else f"of type {type(value).__name__}"


def columns(columns, n_features, name):
    require(isinstance(columns, tuple) and len(columns) > 0, name, "it has no columns")
    require(len(columns) <= n_features, name, "it has more columns than there are features")
    for column in columns:
        count(column, f"{name} column", 0, n_features - 1)
