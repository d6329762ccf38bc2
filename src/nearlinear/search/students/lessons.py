"""What a student learns from: rows, the teacher's word on them, and new rows that it labels.

Values are learned as they are, and of two classes the log odds. Of several classes a row stands for
each class that the teacher thinks possible, weighted by its probability: under the log loss that is
the same as learning the probabilities, and trees can share one walk for all classes. Around anchors
log probabilities are tried, too: see ``odds``. Where labels or values are given, and held-out rows
say that they teach more than the teacher does, these are learned.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import issparse, vstack

from ..._sklearn import select_rows
from ...estimators._base.rows import TrainingRows
from ...estimators._base.task import Classification, Regression
from ...estimators._base.values.units import TargetUnits
from ..averaging import mean_and_error
from ..candidates import Anchors, Boosted, Hinges
from ..judging import ClassJudge, ValueJudge, paired_gain
from ..portfolio import LINEAR
from ..rounds import rounds_of_parts
from .new_rows import between, can_be_mixed
from .teachers import scores_of_parts

_LARGEST_ODDS = 6.0  # a surer teacher is believed no more than that
_RAREST = 0.01  # a class of less is left out, and the others share what it had
_LEAST_WEIGHT = 1e-6
_MOST_NEW = 50_000
_TIMES = (1, 3)  # new rows for each row
_PROBES = (LINEAR, Anchors(48, 1.0, 0.1), Boosted(30, 31, 0.3, 1.0), Hinges(64))


@dataclass(frozen=True)
class Rows:
    """Rows to train on; ``origin`` is the row that each stands for, ``parts`` belong together."""

    training: TrainingRows
    origin: np.ndarray
    parts: np.ndarray
    is_real: np.ndarray

    def rounds(self, n_real, rng):
        return rounds_of_parts(self.training, self.parts, self.is_real, n_real, rng)


@dataclass
class Lesson:
    """``Z`` are encoded rows, ``told`` is a probability for each class, or values.

    ``truth`` holds places of classes or columns of values, if they are known; ``learns_truth`` says
    that they are learned in place of the teacher's word.
    """

    teacher: object
    models: list | None
    calibration: object
    encoder: object
    X: object
    Z: np.ndarray
    told: np.ndarray
    parts: np.ndarray
    truth: np.ndarray | None = None
    new: list = field(default_factory=list)
    learns_truth: bool = False

    @property
    def n_real(self):
        return self.Z.shape[0]

    @property
    def n_new(self):
        return sum(len(parts) for _, _, parts, _ in self.new)

    def ask(self, count, rng):
        """More new rows, with the word of the teacher that has not seen their parents."""
        found, parts = between(self.X, self.Z, self.parts, count, rng)
        Z = found if self.encoder is None else self.encoder.transform(found)
        told = self._word(found, parts, self.models)
        self.new.append((np.asarray(Z, dtype=self.Z.dtype), told, parts, found))

    def _word(self, X, parts, models):
        scores = scores_of_parts(self.teacher, models, X, parts)
        return scores if self.calibration is None else self.calibration(scores)

    def rows(self):
        """All that there is to learn from by now."""
        if self.learns_truth:
            training, everyone = self._true_rows(), np.arange(self.n_real)
            return Rows(training, everyone, self.parts, np.ones(self.n_real, dtype=bool))
        Z, told, parts = (
            part[0] if len(part) == 1 else _joined(part)
            for part in zip(
                (self.Z, self.told, self.parts), *(one[:3] for one in self.new), strict=True
            )
        )
        training, origin = _training(Z, told, self.teacher.classes)
        return Rows(training, origin, parts[origin], origin < self.n_real)

    def _true_rows(self):
        classes, weight = self.teacher.classes, np.ones(self.n_real)
        if classes is None:
            targets, labels = self.truth.astype(self.Z.dtype), np.zeros(self.n_real, dtype=np.intp)
            task = Regression(TargetUnits())
        else:
            task, labels = Classification(classes), self.truth
            targets = task.targets(labels, self.Z.dtype)
        return TrainingRows(self.Z, labels, targets, weight, self.n_real, task)

    def rows_without(self, part, models):
        """All rows but those of a part, by teachers that have not seen its labels either.

        ``models`` are those of ``models_without``.
        """
        own = {other: model for (first, other), model in models.items() if first == part}
        pieces = []
        for Z, _, parts, X in ((self.Z, self.told, self.parts, self.X), *self.new):
            kept = np.flatnonzero(parts != part)
            told = self._word(select_rows(X, kept), parts[kept], own)
            pieces.append((Z[kept], told))
        Z, told = (_joined(one) for one in zip(*pieces, strict=True))
        return _training(Z, told, self.teacher.classes)[0]

    def judge_of(self, rows):
        """The judge of some of the rows, as a function of their places."""
        training, classes = rows.training, self.teacher.classes

        def judge(rounds):
            held = np.concatenate([one.held for one in rounds])
            weight = training.weight[held]
            if classes is None:
                return ValueJudge(training.targets[held], weight)
            if len(classes) == 2 and not self.learns_truth:
                return OddsJudge(training.targets[held], weight)
            return ClassJudge(training.labels[held], weight, len(classes), classes=classes)

        return judge


class OddsJudge:
    """Log odds, judged by the log loss that the teacher would expect of them."""

    is_of_classes = False  # log odds are averaged as values are

    def __init__(self, targets, weight):
        self.targets, self.weight = targets.astype(np.float64), weight
        self.copies = weight

    def answers(self, candidate, scores):
        return scores.astype(np.float64), None

    def losses(self, answers):
        said, told = answers[:, 0], 1.0 / (1.0 + np.exp(-self.targets[:, 0]))
        return np.logaddexp(0.0, said) - told * said

    def mean(self, answers):
        return float(np.average(self.losses(answers), weights=self.weight))

    def gain(self, one, other):
        return paired_gain(self, one, other)

    def score(self, answers):
        """The share of rows whose label is the teacher's, and its standard error."""
        is_same = (answers[:, 0] > 0) == (self.targets[:, 0] > 0)
        return mean_and_error(is_same, self.weight, self.copies)


def log_odds(shares):
    """Of the second of two classes, (n_rows, 1)."""
    with np.errstate(divide="ignore"):
        found = np.log(shares[:, 1:]) - np.log(shares[:, :1])
    return np.clip(found, -_LARGEST_ODDS, _LARGEST_ODDS)


def learn_enough(lesson, rng, n_jobs, most=None):
    """As many new rows as held-out rows say are good, none among the choices, or the truth alone.

    A few cheap models are fitted with and without them, and the best one counts.
    """
    seed = int(rng.randint(np.iinfo(np.int32).max))
    lowest = _lowest_loss(lesson, seed, n_jobs)
    if not issparse(lesson.Z) and can_be_mixed(lesson.X):
        most = _MOST_NEW if most is None else min(most, _MOST_NEW)
        lowest = _with_new_rows(lesson, rng, n_jobs, most, seed, lowest)
    if lesson.truth is not None:
        lesson.learns_truth = True
        lesson.learns_truth = _lowest_loss(lesson, seed, n_jobs) < lowest
        if lesson.learns_truth:
            lesson.new.clear()


def _with_new_rows(lesson, rng, n_jobs, most, seed, lowest):
    """The lowest loss, with as many new rows as it takes."""
    for times in _TIMES:
        before = len(lesson.new)
        count = min(times * lesson.n_real, most) - lesson.n_new
        if count <= 0:
            break
        lesson.ask(count, rng)
        loss = _lowest_loss(lesson, seed, n_jobs)
        if loss >= lowest:
            del lesson.new[before:]
            break
        lowest = loss
    return lowest


def _lowest_loss(lesson, seed, n_jobs):
    """Of the cheap models on held-out rows: by the truth, where it is known."""
    rows = lesson.rows()
    rounds, _ = rows.rounds(lesson.n_real, np.random.RandomState(seed))
    kept, held = rows.training.take(rounds[0].kept), rounds[0].held
    judge = lesson.judge_of(rows)(rounds[:1])
    if lesson.truth is not None:
        origin, first = np.unique(rows.origin[held], return_index=True)
        judge, held = _true_judge(lesson, origin), held[first]
    losses = []
    for candidate in _PROBES:
        if issparse(lesson.Z) and not candidate.takes_sparse:
            continue
        predictor = candidate.fit(kept, seed, n_jobs)
        scores = predictor(rows.training.X[held].astype(predictor.dtype), n_jobs=n_jobs)
        losses.append(judge.mean(judge.answers(candidate, scores)[0]))
    return min(losses)


def _true_judge(lesson, places):
    classes, weight = lesson.teacher.classes, np.ones(len(places))
    if classes is None:
        return ValueJudge(lesson.truth[places], weight)
    return ClassJudge(lesson.truth[places], weight, len(classes))


def _training(Z, told, classes):
    """Weighted rows, and the row that each stands for."""
    n_rows = Z.shape[0]
    if classes is None or len(classes) == 2:
        targets = (told if classes is None else log_odds(told)).astype(Z.dtype)
        rows = TrainingRows(
            Z, np.zeros(n_rows, dtype=np.intp), targets, np.ones(n_rows), n_rows,
            Regression(TargetUnits()),
        )  # fmt: skip
        return rows, np.arange(n_rows)
    is_kept = told >= _RAREST
    is_kept[np.arange(n_rows), told.argmax(axis=1)] = True
    is_kept[told.argmax(axis=0), np.arange(len(classes))] = True  # no class is left without a row
    origin, labels = np.nonzero(is_kept)
    weight = np.maximum(told[origin, labels], _LEAST_WEIGHT)
    weight = weight / np.bincount(origin, weight)[origin]
    task = Classification(classes)
    targets = task.targets(labels, Z.dtype)
    return TrainingRows(Z[origin], labels, targets, weight, n_rows, task), origin


def _joined(parts):
    return vstack(parts, format="csr") if issparse(parts[0]) else np.concatenate(parts)
