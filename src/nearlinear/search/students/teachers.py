"""A teacher's scores: what kind they are, and those of models that have not seen the rows."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from ..._class_labels import class_labels
from ..._sklearn import select_rows
from ...runtime.outcome import LogLoss, Shares
from ..judging import ClassJudge

N_PARTS = 5
_WAYS = ("predict_proba", "decision_function", "predict")
_USUAL_ODDS = 3.0  # log odds of the mean margin of a teacher whose margins nobody has calibrated


class _Margins:
    scores = "margins"


@dataclass(frozen=True)
class Teacher:
    """A fitted model or a function; ``classes`` is None where it tells values.

    ``way`` is the method that is asked, None of a function. ``kind`` says what it gives:
    "probabilities", "margins", "labels" or "values".
    """

    model: object
    classes: np.ndarray | None
    way: str | None
    kind: str

    @property
    def answer(self):
        """What its user calls."""
        return self.model if self.way is None else self.model.predict

    def scores(self, X, model=None):
        """(n_rows, n_outputs): probabilities or margins in the order of the classes, or values."""
        model = self.model if model is None else model
        found = np.asarray(_asked(model, self.way, X))
        if self.kind == "labels":
            return (found[:, None] == self.classes).astype(np.float64)
        found = found[:, None] if found.ndim == 1 else found
        found = self._ordered(found.astype(np.float64), class_labels(model))
        if self.kind == "probabilities" and found.shape[1] == 1:
            found = np.hstack([1.0 - found, found])
        return found

    def _ordered(self, found, own):
        """A model that has not met all classes says little of the others."""
        if self.classes is None or own is None or len(own) == len(self.classes):
            return found
        if found.shape[1] == 1:
            found = np.hstack([-found, found])
        least = 0.0 if self.kind == "probabilities" else found.min() - 1.0
        filled = np.full((len(found), len(self.classes)), least)
        filled[:, np.searchsorted(self.classes, own)] = found
        return filled

    def calibration(self, scores, labels):
        """What makes probabilities of scores; with labels, margins are calibrated by them."""
        if self.kind != "margins":
            return Shares() if scores.shape[1] > 1 else LogLoss()
        if labels is not None and scores.shape[1] > 1:
            return _Softmax.of(scores, labels)
        if labels is not None:
            judge = ClassJudge(labels, np.ones(len(labels)), len(self.classes))
            return judge.answers(_Margins, scores)[1]
        ranked = np.sort(scores, axis=1)
        gap = np.abs(scores) if scores.shape[1] == 1 else ranked[:, -1] - ranked[:, -2]
        return _Scaled(_USUAL_ODDS / max(float(gap.mean()), 1e-300))


@dataclass(frozen=True)
class _Softmax:
    """Probabilities of several classes by logistic regression on all margins.

    One sigmoid a class, which our own models take along to every target, is blunter: on letter the
    log loss of an SVC's margins is 0.41 so and 0.27 here.
    """

    unit: float
    model: LogisticRegression
    n_classes: int

    @classmethod
    def of(cls, scores, labels):
        unit = float(np.std(scores)) or 1.0
        model = LogisticRegression(C=10.0, max_iter=1000).fit(scores / unit, labels)
        return cls(unit, model, scores.shape[1])

    def __call__(self, scores):
        found = np.zeros((len(scores), self.n_classes))
        found[:, self.model.classes_] = self.model.predict_proba(scores / self.unit)
        return found


@dataclass(frozen=True)
class _Scaled:
    factor: float

    def __call__(self, scores):
        return LogLoss()(self.factor * scores)


def read_teacher(teacher, X, y, classes):
    """What a teacher is, by what it has and by what it says of a few rows."""
    if not hasattr(teacher, "predict"):
        if not callable(teacher):
            raise TypeError(
                f"distill takes a teacher with predict, or a function of X: {teacher!r} is neither."
            )
        return _of_function(teacher, X, y, classes)
    fitted = _fitted(teacher, X, y)
    labels = class_labels(fitted)
    if isinstance(labels, list):
        raise ValueError("distill supports one label per row: fit a teacher for each label.")
    way = next(name for name in _WAYS if hasattr(fitted, name))
    if labels is None and classes is not None:
        return _of_function(getattr(fitted, way), X, y, classes)
    if labels is None and way == "predict":
        return Teacher(fitted, None, way, "values")
    labels = np.unique(fitted.predict(X)) if labels is None else np.asarray(labels)
    kinds = {"predict_proba": "probabilities", "decision_function": "margins"}
    return Teacher(fitted, labels, way, kinds.get(way, "labels"))


def _fitted(teacher, X, y):
    try:
        check_is_fitted(teacher)
    except NotFittedError:
        if y is None:
            raise
        return clone(teacher).fit(X, y)
    except TypeError:
        pass  # no estimator, yet it has predict
    return teacher


def _of_function(function, X, y, classes):
    """Columns that add up to one are probabilities; other numbers are margins where there are
    classes, and else values."""
    some = np.asarray(function(select_rows(X, np.arange(min(200, X.shape[0])))))
    n_columns = 1 if some.ndim == 1 else some.shape[1]
    if classes is not None and not np.array_equal(classes, np.unique(classes)):
        raise ValueError("classes has to be in rising order, without repeats.")
    if classes is None and y is not None and len(np.unique(y)) == max(2, n_columns):
        classes = np.unique(y)
    if not np.issubdtype(some.dtype, np.floating):
        known = np.unique(np.asarray(function(X))) if classes is None else np.unique(classes)
        return Teacher(function, known, None, "labels")
    is_share = some.min() >= 0.0 and some.max() <= 1.0
    if n_columns > 1:
        is_share = is_share and np.allclose(some.sum(axis=1), 1.0, atol=1e-3)
        if classes is None and is_share:
            classes = np.arange(n_columns)
    if classes is None:
        return Teacher(function, None, None, "values")
    if len(classes) != max(2, n_columns):
        raise ValueError(
            f"The teacher gives {n_columns} columns and there are {len(classes)} classes: a "
            "column for each class is needed, or one for two classes."
        )
    kind = "probabilities" if is_share else "margins"
    return Teacher(function, np.asarray(classes), None, kind)


def _asked(model, way, X):
    return model(X) if way is None else getattr(model, way)(X)


def dealt(labels, n_rows, rng):
    """The part of each row, of ``N_PARTS``; every class is spread over all."""
    order = rng.permutation(n_rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    parts = np.empty(n_rows, dtype=np.intp)
    parts[order] = np.arange(n_rows) % N_PARTS
    return parts


def can_learn(teacher):
    """Whether a copy of it can be fitted to some of the rows."""
    model = teacher.model
    if teacher.way is None or isinstance(model, FrozenEstimator) or not hasattr(model, "fit"):
        return False
    try:
        clone(model)
    except (TypeError, RuntimeError):
        return False
    return True


def models_of_parts(teacher, X, y, parts):
    """For each part, a copy of the teacher that was fitted to the other parts."""
    found = []
    for part in range(N_PARTS):
        kept = np.flatnonzero(parts != part)
        model = clone(teacher.model)
        found.append(model.fit(select_rows(X, kept), select_rows(y, kept)))
    return found


def models_without(teacher, X, y, parts, held):
    """``{(part, other): model}`` that has seen neither; one of the two is among the ``held``."""
    found = {}
    for part, other in combinations(range(N_PARTS), 2):
        if part in held or other in held:
            kept = np.flatnonzero((parts != part) & (parts != other))
            model = clone(teacher.model)
            model.fit(select_rows(X, kept), select_rows(y, kept))
            found[part, other] = found[other, part] = model
    return found


def scores_of_parts(teacher, models, X, parts):
    """Scores of each row by the model of its part; by the teacher itself without such models."""
    if models is None:
        return teacher.scores(X)
    found = None
    for part in np.unique(parts):
        places = np.flatnonzero(parts == part)
        own = teacher.scores(select_rows(X, places), models[part])
        found = np.empty((len(parts), own.shape[1])) if found is None else found
        found[places] = own
    return found
