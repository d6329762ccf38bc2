"""From a table to a fitted model: the encoder, the search, and what is kept of it."""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from .._compile import one_blas_thread
from .._sklearn import select_rows
from .._warn import warn_user
from ..estimators._base.checks import memory_reserved
from ..estimators._base.input import fit_rows
from ..estimators._base.model import Learned
from ..estimators._base.outputs import Teller
from ..estimators._base.rows import copies_of
from ..preparation.origins import origins
from ..preparation.transformers import preparation_of_steps
from .budgets import Budget, Clock
from .candidates import Shape
from .contest import contest_of, parts_of
from .encoding import encode_table, parts_by_round, rows_by_number, splitter
from .found import ALL_ROWS
from .intervals import residuals
from .portfolio import require_known
from .rounds import stratified
from .screening import REASON, Screening, take_columns
from .search import OfAllRows, search
from .time_plan import first_round_rows, max_columns, max_rows
from .trials import HERE, copies_memory, without_hints

_MANY = 20  # classes that are numbers
_MOST_COPIES = 1000  # of a row: more would tell errors and folds little


def budget_of(model):
    return Budget(
        model.max_times_linear, model.max_us_per_row, model.single_row_us, model.max_bytes
    )


def fit_table(model, X, y, sample_weight, tell=None, at=HERE):
    """``fit`` of a front door; ``tell(step, figures)`` hears of every fit in place of a printer.

    Fits run ``at`` a ``Place``.
    """
    if y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
    require_known(model.families)
    clock = Clock(model.time_limit)
    X, y, sample_weight, fitted_to = _training_sample(model, X, y, sample_weight)
    encoder, Z, of_rows, plan = encode_table(model, X, y)
    n_bytes = copies_memory(Z)
    with without_hints():
        rows = fit_rows(model, Z, y, sample_weight)
    _require_all_classes(rows)
    _tell_many_numbers(model, rows, len(y))
    if encoder is None and not issparse(rows.X) and np.isnan(rows.X).any():
        raise ValueError("X holds NaN: take encoder='auto', or fill in what is missing.")
    split = splitter(encoder, X, y, Z, plan)
    with one_blas_thread(), without_hints(), memory_reserved(n_bytes):
        rng = check_random_state(model.random_state)
        screening, n_first = _cut_down(model, rows, encoder, plan)
        contest = contest_for(model, rows, y, sample_weight, split, rng, n_first)
        if screening is not None:
            contest = replace(contest, parts_of=screening.parts(contest.parts_of))
            columns = screening.select(rows)
            kept = np.unique(screening.sources[columns])
            encoder._fit_plan(plan.keep_columns(kept.tolist(), REASON))
            rows = take_columns(rows, columns)
        del plan
        found, tried, kept = search(
            model, rows, contest, budget_of(model), rng, tell or Teller(model),
            OfAllRows(fitted_to), at, clock,
        )  # fmt: skip
        learned = learned_of(found, found.blend, tried, kept)
    learned.attributes["encoder_"] = encoder
    return model._settle(learned, rows.X.shape[0], {**rows.attributes, **of_rows})


def _training_sample(model, X, y, sample_weight):
    """Rows that can be encoded and learned within the time limit, and a description of them."""
    whole = X, y, sample_weight, ALL_ROWS
    X = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else X
    if model.time_limit is None or len(getattr(X, "shape", ())) != 2:
        return whole
    labels = _sampling_labels(model, y)
    weight = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight)
    if labels is None or not labels.shape == weight.shape == X.shape[:1]:
        return whole  # or its error
    is_classification = isinstance(model, ClassifierMixin)
    n_outputs = max(1, labels.max() + (labels.max() > 1)) if is_classification else _width(y)
    count = max_rows(model.time_limit, X, n_outputs, is_classification, model.families)
    if count is None or not np.all(weight >= 0):
        return whole
    rng = check_random_state(model.random_state)
    places = stratified(np.flatnonzero(weight > 0), labels, count, rng)
    # a class without positive weight is an error, which must not depend on the sample
    places = np.union1d(places, np.unique(labels, return_index=True)[1])
    warn_user(
        f"time_limit={model.time_limit:g} is too short for {len(labels):,} rows: the model is "
        f"fitted to a sample of {len(places):,}."
    )
    sample_weight = None if sample_weight is None else weight[places]
    sample = select_rows(X, places), select_rows(y, places), sample_weight
    return *sample, f"a sample of {len(places):,} rows"


def _width(y):
    """Number of target columns."""
    return 1 if np.ndim(y) == 1 else np.shape(y)[1]


def _sampling_labels(model, y):
    """Classes as numbers, zeros for a regression; None if y cannot be sampled from."""
    y = np.asarray(y)
    if not isinstance(model, ClassifierMixin):
        is_finite = y.dtype.kind in "iub" or (y.dtype.kind == "f" and np.all(np.isfinite(y)))
        return np.zeros(len(y), dtype=np.intp) if is_finite else None
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1:
        return None
    try:
        return np.unique(y, return_inverse=True)[1].ravel()
    except TypeError:  # labels that have no order
        return None


def _cut_down(model, rows, encoder, plan):
    """The ``Screening`` and the rows of the first round that a time limit asks for, or None."""
    if model.time_limit is None or issparse(rows.X):
        return None, None
    is_classification = hasattr(rows.task, "classes")
    shape = Shape(*rows.X.shape, rows.targets.shape[1], is_classification)
    count, screening = None, None
    if plan is not None:
        count = max_columns(model.time_limit, shape, model.families)
    if count is not None:
        sources = np.array(origins(preparation_of_steps([encoder])))
        screening = Screening(count, sources)
        shape = replace(shape, n_features=count)
    return screening, first_round_rows(model.time_limit, shape, model.families)


def contest_for(model, rows, y, sample_weight, split, rng, max_rows=None):
    """Rounds on rows as they are encoded, or encoded anew by ``split`` in each round.

    The first round has at most ``max_rows`` training rows.
    """
    if split is None:
        copies = _copies(model, rows, sample_weight)
        return contest_of(model, rows, copies, rng, parts_of(rows, copies), max_rows)
    numbered = rows_by_number(model, y, sample_weight, rows.X.dtype)
    copies = _copies(model, numbered, sample_weight)
    parts = parts_by_round(numbered, copies, split)
    return contest_of(model, numbered, copies, rng, parts, max_rows)


def _copies(model, rows, sample_weight):
    """How often each row was there; weights count rows if they look as numbers of them do."""
    looks_so = rows.weight.min() == 1.0 and np.array_equal(rows.weight, np.rint(rows.weight))
    if getattr(model, "class_weight", None) is None and (sample_weight is None or looks_so):
        return np.minimum(rows.weight, _MOST_COPIES).astype(np.intp)
    return copies_of(rows, _MOST_COPIES)


def _require_all_classes(rows):
    known = getattr(rows.task, "classes", None)
    gone = [] if known is None else np.setdiff1d(np.arange(len(known)), rows.labels)
    if len(gone):
        raise ValueError(
            f"Class {known.tolist()[gone[0]]!r} has no row of positive weight: leave its rows out."
        )


def _tell_many_numbers(model, rows, n_rows):
    """Numbers of which there are many are rather values: once, in place of a hint at every fit."""
    known = getattr(rows.task, "classes", ())
    if len(known) > _MANY and 3 * len(known) > n_rows and known.dtype.kind in "fiu":
        other = type(model).__name__.replace("Classifier", "Regressor")
        warn_user(
            f"y has {len(known)} different numbers in {n_rows} rows, each of which is learned as "
            f"a class of its own: take {other} if they are amounts."
        )


def learned_of(found, blend, tried, kept=None):
    """What a model takes over of a search: one blend of its members."""
    predictor = found.predictor(blend)
    attributes = {"record_": found.points(blend), "tried_": tried}
    if not found.judge.is_of_classes:
        attributes["residuals_"] = residuals(found, blend)
    return Learned(predictor, attributes, state=found, kept=kept)
