"""A table as numbers: once, or anew in each round where y has a say in the numbers.

Means of y are an answer of the rows that they come from. Rows that judge must not be among these:
where an encoder looks at y, each round's training rows fit it, and encode the held-out ones.
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, get_tags

from .._sklearn import select_rows
from ..estimators._base.input import fit_rows
from ..estimators._base.task import check_labels
from ..runtime.columns.readings import is_missing, require_values
from ..tables.encoder import TableEncoder
from ..tables.target_means import TargetMeans
from .contest import weight_of

_FAR = 1e4  # standard deviations
_MAY_LOOK = (
    TableEncoder,
    SelectorMixin,
    RegressorMixin,
)  # without saying in their tags that they do


def encoded(model, X, y):
    """The fitted encoder, its rows in single precision, and what a fit says of the columns."""
    return encode_table(model, X, y)[:3]


def encode_table(model, X, y):
    """The same and the ``TablePlan``, None if there is none."""
    if model.encoder is None:
        return None, np.asarray(X) if isinstance(X, list) else X, {}, None
    if isinstance(model, ClassifierMixin) and np.asarray(y).dtype == object:
        known = [label for label in np.asarray(y).ravel().tolist() if not is_missing(label)]
        check_labels(np.array(known, dtype=object))
    if isinstance(model.encoder, str):
        kind = "classes" if isinstance(model, ClassifierMixin) else "values"
        encoder = TableEncoder(target_type=kind)
    else:
        encoder = clone(model.encoder)
    check_consistent_length(X, y)
    plan = None
    if type(encoder) is TableEncoder and not issparse(X):
        encoder._validate_params()
        plan = encoder._plan(X, y)
        Z = encoder._fit_plan(plan)
    else:
        Z = encoder.fit_transform(X, y)
    names = ("n_features_in_", "feature_names_in_")
    of_rows = {name: getattr(encoder, name) for name in names if hasattr(encoder, name)}
    return encoder, Z.astype(np.float64 if is_far(model, y) else np.float32), of_rows, plan


def is_far(model, y):
    """Whether values are so far from 0 that single precision, of 7 digits, loses what they tell."""
    if isinstance(model, ClassifierMixin):
        return False
    require_values(y)
    y = np.asarray(y, dtype=np.float64)
    return bool(np.any(np.abs(y).max(axis=0) > _FAR * y.std(axis=0)))


def splitter(encoder, X, y, Z, plan=None):
    """``split(kept, held)`` encodes two parts of the rows, held-out ones by what is known of the
    others; None where an encoder does not look at y."""
    if isinstance(encoder, TableEncoder):
        table = None if plan is None else plan.table
        means = None if encoder.is_sparse_ else TargetMeans.of(encoder, X, y, table)
        return None if means is None else lambda kept, held: means.split(Z, kept, held)
    if not _looks_at_answers(encoder):
        return None

    def split(kept, held):
        own = clone(encoder)
        part = own.fit_transform(select_rows(X, kept), select_rows(y, kept))
        other = own.transform(select_rows(X, held))
        return part.astype(Z.dtype), other.astype(Z.dtype)

    return split


def _looks_at_answers(encoder):
    """Whether a transformer of a user's, or one of its parts, asks for y or may take it."""
    if not isinstance(encoder, BaseEstimator):
        return False
    parts = [one for one in encoder.get_params().values() if isinstance(one, BaseEstimator)]
    return any(
        isinstance(one, _MAY_LOOK) or get_tags(one).target_tags.required
        for one in (encoder, *parts)
    )


def rows_by_number(model, y, sample_weight, dtype):
    """Rows that are known by their numbers alone, which are their only column."""
    numbers = np.arange(len(y), dtype=np.float64)
    rows = fit_rows(model, numbers[:, None], y, sample_weight)
    return replace(rows, targets=rows.targets.astype(dtype))


def parts_by_round(rows, copies, split):
    """Training rows and held-out rows of a round, of rows that are known by their numbers."""
    numbers = rows.X[:, 0].astype(np.intp)

    def parts(one):
        X, held = split(numbers[one.kept], numbers[one.held])
        kept = replace(rows.take(one.kept), X=X, weight=weight_of(rows, copies, one))
        answers = np.unique(kept.targets, axis=0, return_inverse=True)[1].ravel()
        return kept.merged(answers), held

    return parts
