"""How near a student comes to its teacher: on held-out rows, in time and in bytes."""

import pickle
import time

import numpy as np
from sklearn.utils import _safe_indexing

from ...estimators._base.input import fit_rows
from ..portfolio import LINEAR
from .lessons import log_odds
from .teachers import models_without

_MOST_ROWS, _SECONDS, _TURNS = 10_000, 0.2, 5


def fidelity(held, lesson):
    """Agreement of labels and correlation of scores, or R² of values."""
    origin, answers = held
    told = lesson.told[origin]
    if lesson.teacher.classes is None:
        return {"r2": _r2(told, answers)}
    agreement = float(np.mean(_places(answers) == told.argmax(axis=1)))
    told = log_odds(told) if answers.shape[1] == 1 else told
    with np.errstate(invalid="ignore"):  # NaN where one of them says the same of all rows
        correlation = np.corrcoef(told.ravel(), answers.ravel())[0, 1]
    return {"agreement": agreement, "correlation": float(correlation)}


def scores_beside(model, held, rows, rounds, lesson, y):
    """Accuracy or R² of the teacher, the student and a linear model, each on held-out rows."""
    origin, answers = held
    classes, told, truth = lesson.teacher.classes, lesson.told[origin], np.asarray(y)[origin]
    line = _linear_answers(model, rows, rounds, lesson, np.asarray(y))[origin]
    if classes is None:
        truth = truth.reshape(len(origin), -1)
        scores = [_r2(truth, one.reshape(truth.shape)) for one in (told, answers, line)]
    else:
        said = classes[told.argmax(axis=1)], classes[_places(answers)], line
        scores = [float(np.mean(one == truth)) for one in said]
    teacher, student, linear = scores
    gain = teacher - linear
    return {
        "teacher_score": teacher, "student_score": student, "linear_score": linear,
        "gain_kept": (student - linear) / gain if gain > 0 else float("nan"),
    }  # fmt: skip


def held_out(found, rows):
    """Rows that were held out, each once, and the student's answers."""
    origin, first = np.unique(rows.origin[found.held], return_index=True)
    return origin, found.blend.answers(found.answers)[first]


def unseen(found, rows, lesson, y, seed, means):
    """The same, of students all of whose teachers have not seen these rows' labels either.

    They are those that were chosen, fitted anew.
    """
    origin = np.unique(rows.origin[found.held])
    parts = lesson.parts[origin]
    models = models_without(lesson.teacher, lesson.X, y, lesson.parts, np.unique(parts))
    told = None
    for part in np.unique(parts):
        training, own = lesson.rows_without(part, models), np.flatnonzero(parts == part)
        said = _blended(found, training, lesson.Z[origin[own]], seed, means)
        told = np.empty((len(origin), said.shape[1])) if told is None else told
        told[own] = said
    return origin, told


def _blended(found, training, Z, seed, means):
    """Answers of the members of the chosen blend, fitted to other rows."""
    answers = []
    for place in found.blend.places:
        member = found.members[place]
        predictor = member.candidate.fit(training, seed, *means)
        scores = predictor(Z.astype(predictor.dtype), n_jobs=means.n_jobs).astype(np.float64)
        calibration = member.calibration
        answers.append(scores if calibration is None else np.asarray(calibration(scores)))
    return sum(w * one for w, one in zip(found.blend.weights, answers, strict=True))


def _linear_answers(model, rows, rounds, lesson, y):
    """Labels or values of the rows of all rounds, by a linear model that has not seen them."""
    played, is_nested = rounds
    answers = np.zeros(y.shape, dtype=y.dtype)
    for one in played[-1:] if is_nested else played:
        held = np.unique(rows.origin[one.held])
        kept = np.unique(rows.origin[one.kept][rows.is_real[one.kept]])
        training = fit_rows(model, lesson.Z[kept], y[kept])
        predictor = LINEAR.fit(training, 0, 1)
        found = predictor(lesson.Z[held].astype(predictor.dtype), n_jobs=1)
        if lesson.teacher.classes is None:
            answers[held] = found.reshape(answers[held].shape)
        else:
            answers[held] = training.task.classes[_places(found)]
    return answers


def _places(answers):
    return (answers[:, 0] > 0).astype(np.intp) if answers.shape[1] == 1 else answers.argmax(axis=1)


def _r2(truth, answers):
    spread = np.maximum(((truth - truth.mean(axis=0)) ** 2).mean(axis=0), 1e-300)
    return 1.0 - float((((truth - answers) ** 2).mean(axis=0) / spread).mean())


def microseconds(answer, X):
    """CPU microseconds a row, those of all threads together: the best of a few."""
    n_rows, best = min(64, X.shape[0]), np.inf
    for _ in range(_TURNS):
        some = _safe_indexing(X, np.arange(n_rows))
        began = time.process_time()
        answer(some)
        best = min(best, max(time.process_time() - began, 1e-6) / n_rows)
        n_rows = int(np.clip(_SECONDS / best, n_rows, min(_MOST_ROWS, X.shape[0])))
    return 1e6 * best


def bytes_of(thing):
    """Of its pickle; None where it has none."""
    try:
        return len(pickle.dumps(thing))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
