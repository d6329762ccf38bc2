"""How good scores are on held-out rows, and what they say: probabilities of classes, or values."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from ..runtime.outcome import LogLoss, Shares, Sigmoids
from .averaging import mean_and_error

_RAREST = 1e-4  # no probability is held against a model as if it were smaller
_STEEPEST = 1e3  # inverse strength of the shrinkage of a calibration
_N_PARTS = 20  # of the held-out rows, each left out once for the error of a score


class ClassJudge:
    """Probabilities, judged by the log loss or by a scorer."""

    is_of_classes = True

    def __init__(self, labels, weight, n_classes, scorer=None, classes=None, copies=None):
        self.labels, self.weight, self.n_classes = labels, weight, n_classes
        self.scorer, self.classes = scorer, classes
        self.copies = weight if copies is None else copies

    def answers(self, candidate, scores):
        """Probabilities (n_rows, n_classes) of raw scores, and the calibration that made them."""
        calibration = self._calibration(candidate.scores, scores)
        return np.asarray(calibration(scores.astype(np.float64))), calibration

    def _calibration(self, kind, scores):
        if kind == "odds":
            return LogLoss()
        if kind == "shares":
            return Shares()
        wanted = [self.labels == 1] if self.n_classes == 2 else [
            self.labels == number for number in range(self.n_classes)
        ]  # fmt: skip
        lines = [self._line(*pair) for pair in zip(scores.T, wanted, strict=True)]
        return Sigmoids(*(-np.array(part, dtype=np.float64) for part in zip(*lines, strict=True)))

    def _line(self, score, is_it):
        """Slope and offset of the log odds in a score; none where there is nothing to tell."""
        if is_it.all() or not is_it.any():
            return 0.0, 10.0 if is_it.all() else -10.0
        unit = float(np.std(score)) or 1.0
        found = LogisticRegression(C=_STEEPEST).fit(score[:, None] / unit, is_it, self.weight)
        if found.coef_[0, 0] <= 0.0:  # a score that says nothing: all rows have the share
            share = np.average(is_it, weights=self.weight)
            return 0.0, float(np.log(share / (1.0 - share)))
        return found.coef_[0, 0] / unit, found.intercept_[0]

    def losses(self, answers):
        said = answers[np.arange(len(self.labels)), self.labels]
        return -np.log(np.clip(said, _RAREST, 1.0))

    def mean(self, answers):
        """What is made small: a loss, or minus a score."""
        if not self._is_scored:
            return float(np.average(self.losses(answers), weights=self.weight))
        said = _Said(answers, self.classes)
        return -_scored(self.scorer, said, self.classes[self.labels], self.weight)

    @property
    def _is_scored(self):
        # many scorers refuse rows that lack a class; all candidates are judged alike then, too
        return self.scorer is not None and len(np.unique(self.labels)) == self.n_classes

    def gain(self, one, other):
        """By how much the second answers are better, and the standard error of that."""
        if not self._is_scored:
            return paired_gain(self, one, other)
        return _jackknifed_gain(self, self.labels, one, other)

    def of_some(self, rows, share):
        """The judge of some rows, of each of which a share of the copies is left."""
        return ClassJudge(
            self.labels[rows], self.weight[rows] * share, self.n_classes, self.scorer,
            self.classes, self.copies[rows] * share,
        )  # fmt: skip

    def score(self, answers):
        """The share of right labels, and its standard error."""
        return mean_and_error(answers.argmax(axis=1) == self.labels, self.weight, self.copies)


class ValueJudge:
    """Values, judged by squared errors in units of their spread, or by a scorer."""

    is_of_classes = False

    def __init__(self, targets, weight, scorer=None, copies=None):
        self.targets, self.weight, self.scorer = targets.astype(np.float64), weight, scorer
        self.copies = weight if copies is None else copies
        center = np.average(self.targets, axis=0, weights=weight)
        spread = np.average((self.targets - center) ** 2, axis=0, weights=weight)
        self.spread = np.where(spread > 0, spread, 1.0)

    def answers(self, candidate, scores):
        return scores.astype(np.float64), None

    def losses(self, answers):
        return ((answers - self.targets) ** 2 / self.spread).mean(axis=1)

    def mean(self, answers):
        if self.scorer is None:
            return float(np.average(self.losses(answers), weights=self.weight))
        truth = self.targets[:, 0] if self.targets.shape[1] == 1 else self.targets
        return -_scored(self.scorer, _Said(answers, None), truth, self.weight)

    def gain(self, one, other):
        """By how much the second answers are better, and the standard error of that."""
        if self.scorer is None:
            return paired_gain(self, one, other)
        return _jackknifed_gain(self, np.zeros(len(self.targets), dtype=np.intp), one, other)

    def of_some(self, rows, share):
        """The judge of some rows, of each of which a share of the copies is left."""
        return ValueJudge(
            self.targets[rows], self.weight[rows] * share, self.scorer, self.copies[rows] * share
        )

    def score(self, answers):
        """R², and its standard error."""
        loss, error = mean_and_error(self.losses(answers), self.weight, self.copies)
        return 1.0 - loss, error


def paired_gain(judge, one, other):
    """The mean difference of the losses of rows, and its standard error."""
    differ = judge.losses(one) - judge.losses(other)
    return mean_and_error(differ, judge.weight, judge.copies)


def _jackknifed_gain(judge, labels, one, other):
    """The same for a score that need not be a mean over rows: parts of them are left out in turn.

    Every class is dealt over all parts, and the only row of a class stays.
    """
    copies = np.maximum(np.rint(judge.copies), 1).astype(np.intp)
    dealt = np.repeat(np.arange(len(labels)), copies)
    dealt = dealt[np.argsort(labels[dealt], kind="stable")]
    is_last = np.bincount(labels, copies)[labels[dealt]] == 1
    gains = []
    for part in range(_N_PARTS):
        out = dealt[part::_N_PARTS][~is_last[part::_N_PARTS]]
        share = 1.0 - np.bincount(out, minlength=len(copies)) / copies
        rows = np.flatnonzero(share > 0)
        some = judge.of_some(rows, share[rows])
        gains.append(some.mean(one[rows]) - some.mean(other[rows]))
    error = np.sqrt((_N_PARTS - 1) * np.var(gains))
    return judge.mean(one) - judge.mean(other), float(error)


def _scored(scorer, said, truth, weight):
    """A scorer's number; weights count where it takes them."""
    places = np.arange(len(truth))
    try:
        return float(scorer(said, places, truth, sample_weight=weight))
    except TypeError:
        return float(scorer(said, places, truth))


class _Said:
    """What a scorer takes for a fitted model: it knows its answers by the numbers of rows."""

    def __init__(self, answers, classes):
        self.told, self.classes_ = answers, classes
        self._estimator_type = "regressor" if classes is None else "classifier"

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        is_regressor = self.classes_ is None
        return Tags(
            estimator_type=self._estimator_type, target_tags=TargetTags(required=True),
            classifier_tags=None if is_regressor else ClassifierTags(),
            regressor_tags=RegressorTags() if is_regressor else None, input_tags=InputTags(),
        )  # fmt: skip

    def predict(self, X):
        if self.classes_ is None:
            found = self.told[X]
            return found[:, 0] if found.shape[1] == 1 else found
        return self.classes_[self.told[X].argmax(axis=1)]

    def predict_proba(self, X):
        return self.told[X]

    def decision_function(self, X):
        found = np.log(np.clip(self.told[X], 1e-12, 1.0))
        return found[:, 1] - found[:, 0] if found.shape[1] == 2 else found
