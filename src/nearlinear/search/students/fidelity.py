"""How near a student comes to its teacher: on held-out rows, in time and in bytes."""

import pickle

import numpy as np

from ..._cpu_time import process_time
from ..._sklearn import select_rows
from ...estimators._base.input import fit_rows
from ..averaging import mean_and_error
from ..portfolio import LINEAR
from .lessons import log_odds
from .teachers import models_without

_MOST_ROWS, _SECONDS, _TURNS, _MOST_TURNS = 10_000, 0.2, 5, 30


def fidelity(held, lesson):
    """Agreement of labels and correlation of scores, or R² of values."""
    origin, answers = held
    told = lesson.told[origin]
    if lesson.teacher.classes is None:
        return {"r2": float(_explained(told, answers).mean())}
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
        gains = [_explained(truth, one.reshape(truth.shape)) for one in (told, answers, line)]
    else:
        said = classes[told.argmax(axis=1)], classes[_places(answers)], line
        gains = [one == truth for one in said]
    teacher, student, linear = (float(np.mean(one)) for one in gains)
    gain, note = lead(gains[0], gains[2]), None
    if gain is None:
        note = (
            f"The teacher is no better than a linear model ({teacher:.4f} and {linear:.4f} on "
            f"{len(origin):,} held-out rows, within a standard error): there is no gain to keep."
        )
    return {
        "teacher_score": teacher, "student_score": student, "linear_score": linear,
        "gain_kept": None if gain is None else (student - linear) / gain, "note": note,
    }  # fmt: skip


def lead(one, other):
    """How much higher the mean of rows is; None if that is no more than its standard error."""
    apart = np.asarray(one, dtype=np.float64) - other
    mean, error = mean_and_error(apart, np.ones(len(apart)), np.ones(len(apart)))
    return mean if mean > error else None


def held_out(found, rows):
    """Rows that were held out, each once, and the student's answers."""
    origin, first = np.unique(rows.origin[found.held], return_index=True)
    return origin, found.blend.answers(found.answers)[first]


def unseen(found, rows, lesson, y, seed, n_jobs):
    """The same, of students all of whose teachers have not seen these rows' labels either.

    They are those that were chosen, fitted anew.
    """
    origin = np.unique(rows.origin[found.held])
    parts = lesson.parts[origin]
    models = models_without(lesson.teacher, lesson.X, y, lesson.parts, np.unique(parts))
    told = None
    for part in np.unique(parts):
        training, own = lesson.rows_without(part, models), np.flatnonzero(parts == part)
        said = _blended(found, training, lesson.Z[origin[own]], seed, n_jobs)
        told = np.empty((len(origin), said.shape[1])) if told is None else told
        told[own] = said
    return origin, told


def _blended(found, training, Z, seed, n_jobs):
    """Answers of the members of the chosen blend, fitted to other rows."""
    answers = []
    for place in found.blend.places:
        member = found.members[place]
        predictor = member.candidate.fit(training, seed, n_jobs)
        scores = predictor(Z.astype(predictor.dtype), n_jobs=n_jobs).astype(np.float64)
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


def _explained(truth, answers):
    """Of each row, what adds up to R²."""
    spread = np.maximum(((truth - truth.mean(axis=0)) ** 2).mean(axis=0), 1e-300)
    return 1.0 - ((truth - answers) ** 2 / spread).mean(axis=1)


def microseconds(answer, X):
    """CPU microseconds a row, those of all threads together: the best of a few.

    Few rows stand for many, one after the other: a call takes microseconds of its own.
    """
    n_rows, best, spent = 64, np.inf, 0.0
    for turn in range(_MOST_TURNS):
        if turn >= _TURNS and spent > _SECONDS:
            break
        some = select_rows(X, np.arange(n_rows) % X.shape[0])
        began = process_time()
        answer(some)
        took = max(process_time() - began, 1e-6)
        best, spent = min(best, took / n_rows), spent + took
        n_rows = int(np.clip(_SECONDS / best, n_rows, _MOST_ROWS))
    return 1e6 * best


def bytes_of(thing):
    """Of its pickle; None where it has none."""
    try:
        return len(pickle.dumps(thing))
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
