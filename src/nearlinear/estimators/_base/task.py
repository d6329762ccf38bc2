"""What is learned: classes or values. From what users pass to targets, and from scores back."""

import numbers
from dataclasses import dataclass

import numpy as np
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ..._sklearn import check_sample_weight
from ..._warn import warn_user
from ...losses import accuracy, explained_variance, label_accuracy
from ...solvers.machine.problem import DualProblem
from .checks import LEAST_WEIGHT, MOST_WEIGHT
from .values.units import TargetUnits

_MANY_CLASSES, _MOST_CLASSES = 200, 5000  # a score for each of them and each row


@dataclass(frozen=True)
class Classification:
    """Labels; scores are margins, one column for two classes and else one per class."""

    classes: np.ndarray
    units, unit_attributes = TargetUnits(), {}
    score, score_name = staticmethod(accuracy), "accuracy"

    @property
    def attributes(self):
        return {"classes_": self.classes}

    @property
    def n_outputs(self):
        return 1 if len(self.classes) == 2 else len(self.classes)

    def targets(self, labels, dtype):
        """±1 targets of labels, which are positions among the classes."""
        if len(self.classes) == 2:
            return np.where(labels == 1, 1, -1).astype(dtype)[:, None]
        return np.where(labels[:, None] == np.arange(len(self.classes)), 1, -1).astype(dtype)

    def problems(self, rows, C, epsilon=None):
        """One dual problem for each output."""
        return [DualProblem.of_signs(signs, C * rows.weight) for signs in rows.targets.T]


@dataclass(frozen=True)
class MultiLabel:
    """Several labels a row: a score for each, positive where the row has it."""

    classes: np.ndarray
    units, unit_attributes = TargetUnits(), {}
    score, score_name = staticmethod(label_accuracy), "accuracy of labels"

    @property
    def attributes(self):
        return {"classes_": self.classes, "multilabel_": True}

    @property
    def n_outputs(self):
        return len(self.classes)


@dataclass(frozen=True)
class Regression:
    """Values, and the unit in which machines learn them."""

    units: TargetUnits
    attributes, n_outputs = {}, 1
    score, score_name = staticmethod(explained_variance), "R²"

    @property
    def unit_attributes(self):
        return {"target_spread_": self.units.spread}

    def problems(self, rows, C, epsilon):
        """The one dual problem, of values in their unit."""
        units = self.units
        values = np.clip(units.scaled(rows.targets[:, 0]), -units.reach, units.reach)
        return [DualProblem.of_values(values, C * rows.weight, epsilon)]


def answers(classes, scores):
    """Labels for the highest scores; values as they are where there are no classes."""
    if classes is None:
        return scores[:, 0] if scores.shape[1] == 1 else scores
    if scores.shape[1] == 1:
        return classes[(scores[:, 0] > 0).astype(np.intp)]
    return classes[scores.argmax(axis=1)]


def classes_in(model, X, y, sample_weight):
    """The task of labels, their positions among the classes, and the weights of rows."""
    check_labels(y)
    classes, labels = np.unique(y, return_inverse=True)
    weight = _class_weights(X, labels, classes, sample_weight, model.class_weight)
    return task_of_classes(model, classes, np.unique(labels[weight > 0])), labels, weight


def task_of_classes(model, classes, present):
    """The task of these classes, of which those at the positions ``present`` have weight."""
    present = classes[present].tolist()
    if len(present) < 2:
        raise ValueError(
            f"{type(model).__name__} needs at least two classes with positive weight, "
            f"y has one class: {present[0] if present else None!r}."
        )
    _require_few(classes)
    return Classification(classes)


def labels_in(model, X, Y, sample_weight):
    """The task of an indicator matrix, its ±1 targets, and the weights of rows."""
    if type_of_target(Y) != "multilabel-indicator" or not np.isin(Y, (0, 1)).all():
        raise ValueError(
            f"y has {Y.shape[1]} columns: {type(model).__name__} takes one column of labels, or a "
            "matrix of 0 and 1 that says which labels a row has."
        )
    if model.class_weight is not None:
        raise ValueError(
            "class_weight is for one label a row: weigh rows of several labels by sample_weight."
        )
    targets = np.where(np.asarray(Y) > 0, 1, -1).astype(X.dtype)
    weight = row_weights(X, sample_weight)
    seen = targets[weight > 0]
    if not np.any(seen.min(axis=0) < seen.max(axis=0)):
        raise ValueError("No label of y is there in some rows and not in others.")
    return MultiLabel(np.arange(Y.shape[1])), targets, weight


def classes_of_stream(model, X, y, classes, sample_weight):
    """The same for rows of a stream, whose classes are named in the first call."""
    classes = classes_to_come(model, classes)
    labels = known_labels(classes, y)
    weight = _class_weights(X, labels, classes, sample_weight, model.class_weight)
    return Classification(classes), labels, weight


def known_labels(classes, y):
    """Positions of labels among the classes that were named."""
    check_labels(y)
    labels = np.searchsorted(classes, y)
    known = classes[np.minimum(labels, len(classes) - 1)] == y
    if not np.all(known):
        raise ValueError(
            f"partial_fit met the label {y[~known].tolist()[0]!r}, which is not in classes; "
            "list all classes in the first call."
        )
    return labels


def classes_to_come(model, classes):
    """All classes of a stream: those that the first call names."""
    known = getattr(model, "classes_", None)
    if classes is None:
        if known is None:
            raise ValueError("partial_fit needs classes in its first call.")
        return known
    classes = np.unique(classes)
    _require_few(classes)
    if len(classes) < 2:
        raise ValueError(f"{type(model).__name__} needs at least two classes.")
    if known is not None and not np.array_equal(classes, known):
        raise ValueError(
            f"classes={classes.tolist()} differs from {known.tolist()} of the "
            "earlier calls; leave it out, or start a new model."
        )
    return classes


def check_labels(y):
    """Labels of several types cannot be put in an order; numbers count as one type."""
    if y.dtype == object:
        kinds = {_kind(label) for label in y}
        if len(kinds) > 1:
            raise ValueError(
                f"y mixes labels of several types ({', '.join(sorted(kinds))}); "
                "give all labels the same type."
            )
    check_classification_targets(y)


def _kind(label):
    for kind, name in ((str, "str"), (bool, "bool"), (numbers.Number, "int or float")):
        if isinstance(label, kind):
            return name
    return type(label).__name__


def _require_few(classes):
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


def row_weights(X, sample_weight):
    """Sample weights, checked; a copy."""
    weight = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.max() > 0:
        raise ValueError("The sum of sample_weight is zero; give some row a positive weight.")
    return _moderate(weight.copy())


def _class_weights(X, labels, classes, sample_weight, class_weight):
    """Sample weights times class weights, checked."""
    weight = row_weights(X, sample_weight)
    if class_weight is None:
        return weight
    mass = np.bincount(labels, weights=weight, minlength=len(classes))
    factors = class_factors(class_weight, classes, mass)
    with np.errstate(over="ignore"):
        return _moderate(weight * factors[labels])


def class_factors(class_weight, classes, mass):
    """What the weights of each class are multiplied by; ``mass`` is their sum."""
    if class_weight is None:
        return np.ones(len(classes))
    if class_weight == "balanced":
        return mass.sum() / (np.count_nonzero(mass) * np.where(mass > 0, mass, np.inf))
    return _named_factors(class_weight, classes.tolist())


def _moderate(weight):
    """Return weights; refuse sums that overflow or vanish in further arithmetic."""
    with np.errstate(over="ignore"):
        total = weight.sum()
    if total > 0 and not LEAST_WEIGHT <= total <= MOST_WEIGHT:
        raise ValueError(
            f"The weights of the rows add up to {total:.1g}, which is outside "
            f"[{LEAST_WEIGHT:g}, {MOST_WEIGHT:g}]: divide them by their mean."
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
