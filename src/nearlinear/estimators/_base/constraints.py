"""The only file that imports scikit-learn's private validation names."""

from numbers import Integral, Real

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "MOST_WEIGHT",
    "at_least",
    "check_sample_weight",
    "cost",
    "fit_context",
    "one_of",
    "positive",
    "share",
]

# The most that rows may weigh together, and that C may be: products of the two have squares.
MOST_WEIGHT = 1e70


def positive():
    """A number above zero."""
    return Interval(Real, 0, None, closed="neither")


def at_least(lowest, kind=Integral):
    """A number not below ``lowest``; a count fits into 64 bits."""
    if kind is Integral:
        return Interval(kind, lowest, 2**63 - 1, closed="both")
    return Interval(kind, lowest, None, closed="left")


def cost():
    """A number above zero whose square is finite, also after sums over rows."""
    return Interval(Real, 0, MOST_WEIGHT, closed="right")


def share():
    """A number in [0, 1)."""
    return Interval(Real, 0, 1, closed="left")


def one_of(*names):
    return StrOptions(set(names))


def without(left_out, rules):
    """The rules of a base whose method lacks one of its parameters."""
    return {name: rule for name, rule in rules.items() if name != left_out}


# Parameters that several estimators share have the same name and the same constraint.
SHARED = {
    "C": [cost()],
    "tol": [positive()],
    "max_iter": [at_least(1)],
    "class_weight": [dict, one_of("balanced"), None],
    "warm_start": ["boolean"],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "max_memory": [positive(), None],
    "loss": [one_of("hinge", "squared_hinge", "log_loss")],
}
