"""Labels and weights: from what users pass to what solvers take."""

import numbers

import numpy as np

from ..._warn import warn_user
from .constraints import MOST_WEIGHT, check_sample_weight

_MANY_CLASSES, _MOST_CLASSES = 200, 5000  # a score for each of them and each row


def require_few_classes(classes):
    """Refuse what cannot be learned, and say what will take its time."""
    if len(classes) > _MOST_CLASSES:
        raise ValueError(
            f"y has {len(classes)} classes, more than the {_MOST_CLASSES} that a classifier learns "
            "here: take a regressor if y is a number, or merge rare classes."
        )
    if len(classes) > _MANY_CLASSES:
        warn_user(
            f"y has {len(classes)} classes, and the work grows with their number: this fit may "
            "take minutes."
        )


def require_one_type(y):
    """Labels of several types cannot be put in an order; numbers count as one type."""
    if y.dtype != object:
        return
    kinds = {_kind(label) for label in y}
    if len(kinds) > 1:
        raise ValueError(
            f"y mixes labels of several types ({', '.join(sorted(kinds))}); "
            "give all labels the same type."
        )


def _kind(label):
    for kind, name in ((str, "str"), (bool, "bool"), (numbers.Number, "int or float")):
        if isinstance(label, kind):
            return name
    return type(label).__name__


def encode_labels(y, classes):
    """Positions of the labels among sorted ``classes``; an error names a stranger."""
    labels = np.searchsorted(classes, y)
    known = classes[np.minimum(labels, len(classes) - 1)] == y
    if not np.all(known):
        raise ValueError(
            f"partial_fit met the label {y[~known].tolist()[0]!r}, which is not in classes; "
            "list all classes in the first call."
        )
    return labels


def row_weights(X, sample_weight):
    """Sample weights, checked; a copy."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.max() > 0:
        raise ValueError("The sum of sample_weight is zero; give some row a positive weight.")
    return _moderate(weight.copy())


def class_row_weights(X, labels, classes, sample_weight, class_weight):
    """Sample weights times class weights, checked."""
    weight = row_weights(X, sample_weight)
    if class_weight is None:
        return weight
    if class_weight == "balanced":
        mass = np.bincount(labels, weights=weight, minlength=len(classes))
        factors = mass.sum() / (np.count_nonzero(mass) * np.where(mass > 0, mass, np.inf))
    else:
        factors = _named_factors(class_weight, classes.tolist())
    with np.errstate(over="ignore"):
        return _moderate(weight * factors[labels])


def _moderate(weight):
    """Weights whose sums and squares are finite."""
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not total <= MOST_WEIGHT:
        raise ValueError(
            f"The weights of the rows add up to {total:.1g}: divide them by their mean."
        )
    return weight


def _named_factors(class_weight, names):
    factors = np.ones(len(names))
    for label, factor in class_weight.items():
        if label not in names:
            raise ValueError(f"class_weight has the key {label!r}, which y has not.")
        if not (isinstance(factor, numbers.Real) and np.isfinite(factor) and factor >= 0):
            raise ValueError(
                f"class_weight of {label!r} is {factor!r}; it must be a number, 0 or more."
            )
        factors[names.index(label)] = factor
    return factors
