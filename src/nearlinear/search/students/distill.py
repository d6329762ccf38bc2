"""A slow model's knowledge in a fast one."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length, check_random_state

from ..._compile import one_blas_thread
from ..._hints import Rows, Targets
from ..._warn import warn_user
from ...estimators._base.checks import memory_reserved
from ...estimators._base.input import fit_rows
from ...estimators._base.outputs import Teller
from ..contest import Contest, parts_of
from ..encoding import encoded
from ..fitting import budget_of, learned_of
from ..near_linear import NearLinearClassifier, NearLinearRegressor
from ..portfolio import require_known
from ..search import search
from ..trials import copies_memory
from .fidelity import bytes_of, fidelity, held_out, microseconds, scores_beside, unseen
from .lessons import Lesson, learn_enough
from .odds import with_odds
from .teachers import can_learn, dealt, models_of_parts, read_teacher, scores_of_parts

_SHARE_OF_TIME = 0.2  # of a time limit, in which the teacher labels new rows
_OF_A_REPORT = 1.5  # of the time of the first teachers, which those of the report take at most
_NOT_HERE = ("scoring", "class_weight")


def distill(
    teacher: Any,
    X: Rows,
    y: Targets | None = None,
    *,
    classes: ArrayLike | None = None,
    **budget: Any,
) -> NearLinearClassifier | NearLinearRegressor:
    """A fast student of a slow teacher, inside a prediction budget.

    The student is the best model that the search of :class:`NearLinearClassifier` or
    :class:`NearLinearRegressor` finds, but it learns what the teacher says of the rows: values,
    log odds of two classes, or probabilities of several ones. Given ``y``, copies of the teacher
    are fitted to four fifths of the rows and tell the other fifth, since a model is over-sure of
    rows that it has seen. New rows, each between a row and one of its neighbors, are labeled by the
    teacher, too; held-out rows say how many help, and none is among the choices. They also say
    whether ``y`` itself teaches more than the teacher's word; then the student learns ``y``.

    Parameters
    ----------
    teacher : estimator or callable
        A classifier or regressor in the style of scikit-learn (``predict_proba``, else
        ``decision_function``, else ``predict`` is asked), or a function of X that gives
        probabilities, scores of classes, labels or values. An estimator that is not fitted yet
        needs ``y``.
    X : table or array of shape (n_samples, n_features)
        Rows as the teacher takes them. New rows are made of arrays and of tables of pandas.
    y : array of shape (n_samples,) or None, default=None
        Labels or values. None, a function, and a teacher that cannot be cloned: its scores are
        taken as they are, and ``report_["targets"]`` says so; it is "y" where that is learned.
    classes : array or None, default=None
        Of a function whose scores are those of classes: the labels in rising order, one for each
        column; of two classes, a single column is that of the second. None takes those of ``y``.
    **budget
        Parameters of :class:`NearLinearClassifier`: ``max_times_linear``, ``max_us_per_row``,
        ``single_row_us``, ``max_bytes``, ``time_limit``, ``families``, ``encoder``, ``n_jobs``,
        ``random_state``, ``verbose``.

    Returns
    -------
    NearLinearClassifier or NearLinearRegressor
        Fitted; saved, exported and explained as any. Its ``report_`` is a dictionary. On held-out
        rows: ``agreement`` (the share of labels that are the teacher's) and ``correlation`` (of log
        odds or probabilities), or ``r2`` of values; with ``y``, ``teacher_score``,
        ``student_score`` and ``linear_score`` (accuracy or R²) and ``gain_kept``, the student's
        gain over a linear model as a share of the teacher's; it is None, and ``note`` says why,
        where the teacher's lead over a linear model is no more than its standard error. CPU
        microseconds a row of ``predict`` of many rows (``teacher_us``, ``student_us``,
        ``speed_up``), those of the model behind the encoder, which the budget is held against
        (``model_us``), bytes of pickles (``teacher_bytes``, ``student_bytes``), ``n_new_rows`` and
        ``targets``. With ``y`` and a
        teacher that can be fitted anew, held-out rows are new to all: students of the settings that
        were chosen learn from teachers that have not seen these rows. A teacher that is taken as it
        is may know them, and its score is too good then.

    Notes
    -----
    Distillation as of Hinton, Vinyals and Dean (2015). We differ in that targets are out-of-fold,
    and in that log odds of two classes are learned by least squares, up to ±6: on held-out rows of
    banana and magic04 (SVC as the teacher), students around anchors agreed with it on up to 3
    points more rows than those that learned from weighted copies, forests on half a point less.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> from nearlinear import distill
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> teacher = make_pipeline(StandardScaler(), SVC()).fit(X, y)
    >>> student = distill(teacher, X, y, families=["anchors"], max_times_linear=100, random_state=0)
    >>> student.report_["agreement"] > 0.95
    True
    """
    check_consistent_length(*(one for one in (X, y) if one is not None))
    X = np.asarray(X) if isinstance(X, list) else X
    taught = read_teacher(teacher, X, y, classes)
    model = _student(taught, budget)
    began, rng = time.perf_counter(), check_random_state(model.random_state)
    lesson, of_rows = _lesson(model, taught, X, y, rng)
    teacher_us = microseconds(taught.answer, X)
    spent = time.perf_counter() - began
    spent += 0.0 if lesson.models is None else _OF_A_REPORT * spent
    seeker, most = _with_time_left(model, spent, teacher_us)
    with one_blas_thread():
        learn_enough(lesson, rng, model.n_jobs, most)
        rows = lesson.rows()
        n_bytes = copies_memory(rows.training.X)
        rounds = rows.rounds(lesson.n_real, rng)
        once = np.ones(len(rows.parts), dtype=np.intp)
        contest = Contest(*rounds, parts_of(rows.training, once), lesson.judge_of(rows))
        if taught.classes is not None and len(taught.classes) > 2 and not lesson.learns_truth:
            contest = replace(contest, with_twins=with_odds)
        with memory_reserved(n_bytes):
            found, tried, kept = search(
                seeker, rows.training, contest, budget_of(model),
                check_random_state(model.random_state), Teller(model),
            )  # fmt: skip
        learned = learned_of(found, found.blend, tried)
        held = held_out(found, rows)
        if lesson.models is not None and not lesson.learns_truth and kept is None:
            with memory_reserved(n_bytes):
                held = unseen(found, rows, lesson, y, int(rng.randint(2**31 - 1)), model.n_jobs)
        report = {
            "targets": _targets(lesson),
            "n_new_rows": lesson.n_new,
            **fidelity(held, lesson),
        }
        if y is not None:
            report |= scores_beside(model, held, rows, rounds, lesson, y)
    learned.attributes.update(encoder_=lesson.encoder, report_=report)
    if taught.classes is not None:
        learned.attributes.pop("residuals_", None)  # those are errors of log odds
    model._settle(learned, lesson.n_real, of_rows)
    if kept is not None:  # a function that raised would lose it
        warn_user(f"Interrupted: {kept} returned.")
    student_us = microseconds(model.predict, X)
    model.report_ = report | {
        "teacher_us": teacher_us, "student_us": student_us, "speed_up": teacher_us / student_us,
        "model_us": found.price(found.blend).us,
        "teacher_bytes": bytes_of(taught.model),
        "student_bytes": bytes_of((lesson.encoder, learned.predictor)),
        "seconds": time.perf_counter() - began,
    }  # fmt: skip
    return model


def _targets(lesson):
    if lesson.learns_truth:
        return "y"
    return "as the teacher has them" if lesson.models is None else "out-of-fold"


def _student(taught, budget):
    for name in _NOT_HERE:
        if name in budget:
            raise TypeError(f"distill takes no {name}: a student learns what its teacher says.")
    model = (NearLinearRegressor if taught.classes is None else NearLinearClassifier)(**budget)
    model._validate_params()
    require_known(model.families)
    return model


def _lesson(model, taught, X, y, rng):
    """What the teacher says of the rows, and what the rows say of a model."""
    labels = None if y is None or taught.classes is None else _places(taught.classes, y)
    parts = dealt(labels, X.shape[0], rng)
    models = models_of_parts(taught, X, y, parts) if y is not None and can_learn(taught) else None
    scores = scores_of_parts(taught, models, X, parts)
    calibration = None if taught.classes is None else taught.calibration(scores, labels)
    told = scores if calibration is None else calibration(scores)
    answers = told if taught.classes is None else taught.classes[told.argmax(axis=1)]
    answers = answers[:, 0] if answers.ndim == 2 and answers.shape[1] == 1 else answers
    answers = answers if y is None else y
    encoder, Z, of_columns = encoded(model, X, answers)
    of_rows = {**fit_rows(model, Z, answers).attributes, **of_columns}
    if taught.classes is not None:
        of_rows["classes_"] = taught.classes
    Z = check_array(Z, accept_sparse="csr", dtype=[np.float64, np.float32])
    truth = labels
    if taught.classes is None and y is not None:
        truth = np.asarray(y, dtype=np.float64).reshape(X.shape[0], -1)
    return Lesson(taught, models, calibration, encoder, X, Z, told, parts, truth), of_rows


def _places(classes, y):
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known = classes[places] == np.asarray(y)
    if not known.all():
        label = np.asarray(y)[~known].tolist()[0]
        raise ValueError(
            f"y has the label {label!r}, which the teacher does not know: drop such rows, or fit "
            "the teacher to them."
        )
    return places


def _with_time_left(model, spent, teacher_us):
    """A model whose limit is what the teacher has left of it, and how many rows it may label."""
    if model.time_limit is None:
        return model, None
    left = max(0.5 * model.time_limit, model.time_limit - spent)
    most = int(_SHARE_OF_TIME * left / (1e-6 * teacher_us))
    return clone(model).set_params(time_limit=(1.0 - _SHARE_OF_TIME) * left), most
