"""From a table to a fitted model: the encoder, the search, and what is kept of it."""

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from .._compile import one_blas_thread
from .._warn import warn_user
from ..estimators._base.input import fit_rows
from ..estimators._base.model import Learned
from ..estimators._base.outputs import Teller
from ..estimators._base.rows import copies_of
from .budgets import Budget
from .contest import contest_of, parts_of
from .encoding import encoded, parts_by_round, rows_by_number, splitter
from .intervals import residuals
from .portfolio import require_known
from .search import search
from .trials import HERE, Means, without_hints

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
    encoder, Z, of_rows = encoded(model, X, y)
    means = Means.of(model, Z)
    with without_hints():
        rows = fit_rows(model, Z, y, sample_weight)
    _require_all_classes(rows)
    _tell_many_numbers(model, rows, len(y))
    if encoder is None and not issparse(rows.X) and np.isnan(rows.X).any():
        raise ValueError("X holds NaN: take encoder='auto', or fill in what is missing.")
    split = splitter(encoder, X, y, Z)
    with one_blas_thread(), without_hints():
        rng = check_random_state(model.random_state)
        contest = contest_for(model, rows, y, sample_weight, split, rng)
        found, tried, kept = search(
            model, rows, contest, budget_of(model), means, rng, tell or Teller(model), at=at
        )
        learned = learned_of(found, found.blend, tried, kept)
    learned.attributes["encoder_"] = encoder
    return model._settle(learned, rows.X.shape[0], {**rows.attributes, **of_rows})


def contest_for(model, rows, y, sample_weight, split, rng):
    """Rows against each other as they are encoded, or encoded anew by ``split`` in each round."""
    if split is None:
        copies = _copies(model, rows, sample_weight)
        return contest_of(model, rows, copies, rng, parts_of(rows, copies))
    numbered = rows_by_number(model, y, sample_weight, rows.X.dtype)
    copies = _copies(model, numbered, sample_weight)
    return contest_of(model, numbered, copies, rng, parts_by_round(numbered, copies, split))


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
