"""Dates as numbers."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._sklearn import check_feature_names_in
from ..preparation.columns import joined
from ..preparation.transformers import register_step
from ..runtime.columns.readings import Reading, Unreadable
from .cells import present

UNITS = ("days", "month", "weekday", "hour")


def numbers_of(dates, unit):
    """Days since 1970 with their fraction, month 1 to 12, weekday 0 (Monday) to 6, hour."""
    try:
        return Reading(0, unit)(dates)
    except Unreadable as error:
        row, cell = error.args[:2]
        raise ValueError(
            f"Row {row} has {cell!r} where a date belongs: write dates as 2024-02-29."
        ) from error


class DateParts(TransformerMixin, BaseEstimator):
    """Dates as numbers: days since 1970, month, day of the week, hour.

    Columns are dates or texts such as "2024-02-29" or "2024-02-29T12:30". Missing ones stay
    missing (NaN).

    Parameters
    ----------
    units : list of tuples of {"days", "month", "weekday", "hour"} or None, default=None
        The numbers of each column. None takes the days and whatever varies in the fit.

    Attributes
    ----------
    units_ : list of tuples
        The numbers of each column.
    n_features_in_ : int
        Number of columns of the fit.
    """

    def __init__(self, units=None):
        self.units = units

    def fit(self, X, y=None):
        """Find what varies."""
        columns = _columns(X)
        self.n_features_in_ = len(columns)
        given = self.units
        self.units_ = [varying(c) for c in columns] if given is None else [tuple(u) for u in given]
        return self

    def transform(self, X):
        """Numbers, those of the first column first."""
        check_is_fitted(self)
        pairs = zip(_columns(X), self.units_, strict=True)
        return np.column_stack([numbers_of(c, unit) for c, units in pairs for unit in units])

    def get_feature_names_out(self, input_features=None):
        """Words such as "born_month"."""
        check_is_fitted(self)
        names = check_feature_names_in(self, input_features)
        pairs = zip(names, self.units_)
        return np.array([f"{name}_{unit}" for name, units in pairs for unit in units], dtype=object)


def varying(dates):
    """Units that are not the same for all dates."""
    found = {unit: numbers_of(dates, unit) for unit in UNITS}
    kept = [unit for unit, values in found.items() if len(set(values[present(values)])) > 1]
    return tuple(kept) or ("days",)


def _columns(X):
    return list(np.asarray(X).T)


def _dated(step, columns, known):
    return joined([columns.pick([k]).dated(units) for k, units in enumerate(step.units_)])


register_step(DateParts, _dated)
