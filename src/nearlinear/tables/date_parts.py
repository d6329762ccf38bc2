"""Dates as numbers."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..preparation.columns import joined
from ..preparation.transformers import register_step
from .cells import DATE, column_of, present, read_dates

_DAY, _HOUR = np.timedelta64(1, "D"), np.timedelta64(1, "h")


def _since(dates, unit):
    return dates - dates.astype(f"datetime64[{unit}]").astype(DATE)


UNITS = {
    "days": lambda dates: (dates - np.datetime64("1970-01-01", "us")) / _DAY,
    "month": lambda dates: _counted(dates, "M") % 12 + 1,
    "weekday": lambda dates: (_counted(dates, "D") + 3) % 7,  # 1970 began on a Thursday
    "hour": lambda dates: _since(dates, "D") // _HOUR,
}


def _counted(dates, unit):
    return dates.astype(f"datetime64[{unit}]").astype(np.int64)


def numbers_of(dates, unit):
    """Days since 1970 with their fraction, month 1 to 12, weekday 0 (Monday) to 6, hour."""
    with np.errstate(invalid="ignore"):
        numbers = np.asarray(UNITS[unit](dates), dtype=np.float64)
    return np.where(np.isnat(dates), np.nan, numbers)


def dates_of(column, name="a column"):
    """A column of dates, of texts such as 2024-02-29, or of objects as dates."""
    if column.dtype.kind == "M":
        return column.astype(DATE)
    column = column_of(column.tolist(), name)
    if column.dtype.kind == "M" or not present(column).any():
        return column.astype(DATE) if column.dtype.kind == "M" else np.full(column.shape, "", DATE)
    found = read_dates(column) if column.dtype == object else None
    if found is None:
        raise ValueError(f"In {name}, a cell is no date: write dates as 2024-02-29.")
    return found


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
        names = _check_feature_names_in(self, input_features)
        pairs = zip(names, self.units_)
        return np.array([f"{name}_{unit}" for name, units in pairs for unit in units], dtype=object)


def varying(dates):
    """Units that are not the same for all dates."""
    found = {unit: numbers_of(dates, unit) for unit in UNITS}
    kept = [unit for unit, values in found.items() if len(set(values[present(values)])) > 1]
    return tuple(kept) or ("days",)


def _columns(X):
    X = np.asarray(X)
    return [dates_of(X[:, k], f"column {k}") for k in range(X.shape[1])]


def _dated(step, columns, known):
    return joined([columns.pick([k]).dated(units) for k, units in enumerate(step.units_)])


register_step(DateParts, _dated)
