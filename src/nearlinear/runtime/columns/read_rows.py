"""Rows whose texts and dates were read already: for targets whose rows are numbers."""

from dataclasses import replace

import numpy as np

from .readings import NOT_KNOWN, is_missing


def read_before(preparation):
    """Readings of text and of dates."""
    found = preparation.first.readings or ()
    return tuple(one for one in found if one.is_of_text or one.is_of_dates)


def loose_numbers(preparation):
    """Readings of numbers whose columns may hold slips; in rows of numbers they are these."""
    return tuple(one for one in preparation.first.readings or () if one.is_of_numbers)


def raw_columns(preparation):
    """The raw column that each column of a first table comes from."""
    p = preparation
    read = np.array([one.column for one in p.readings or ()], dtype=np.intp)
    return np.concatenate([np.arange(p.n_features), read])[p.sources]


def raw_sources(preparation):
    """Raw columns that a preparation looks at."""
    first = preparation.first
    return {one.column for one in first.readings or ()} | set(raw_columns(first).tolist())


def of_read_rows(preparation, at=None):
    """The same preparation for rows of numbers, which hold what ``read_before`` names.

    That stands ``at`` these raw columns; None: in as many further columns, which come last.
    """
    read, loose = read_before(preparation), loose_numbers(preparation)
    if not read and not loose:
        return preparation
    n_features = preparation.n_features + (len(read) if at is None else 0)
    at = range(preparation.n_features, n_features) if at is None else at
    at = dict(zip(read, at)) | {one: one.column for one in loose}
    return _remade(preparation, at, n_features)


def _remade(p, at, n_features):
    if p.before is not None:
        return replace(p, n_features=n_features, before=_remade(p.before, at, n_features))
    left = [one for one in p.readings if one not in at]
    places = [at.get(one) for one in p.readings]
    places = [
        n_features + left.index(one) if s is None else s for one, s in zip(p.readings, places)
    ]
    source = np.concatenate([np.arange(p.n_features), places]).astype(np.intp)[p.sources]
    return replace(p, n_features=n_features, readings=tuple(left) or None, source=source)


class RowReader:
    """Makes a row of numbers of one that holds texts or dates; these come last.

    A category that is refused is an error.
    """

    def __init__(self, preparation, dtype):
        self._n_features, self._readings = preparation.n_features, read_before(preparation)
        self._loose = loose_numbers(preparation)
        read = {one.column for one in (*self._readings, *self._loose)}
        self._numbers = sorted(raw_sources(preparation) - read)
        self._dtype = np.dtype(dtype)

    def __call__(self, x):
        """The row, or None where something in it is refused."""
        if len(x) != self._n_features:
            return None
        cells = x.tolist() if isinstance(x, np.ndarray) else list(x)
        row = np.full(len(cells) + len(self._readings), np.nan, dtype=self._dtype)
        try:
            for place in self._numbers:
                if not is_missing(cells[place]):
                    row[place] = cells[place]
            for one in self._loose:
                row[one.column] = one.place(cells[one.column])
            for place, reading in enumerate(self._readings, len(cells)):
                row[place] = reading.place(cells[reading.column], self._dtype)
                if reading.unknown == "refused" and row[place] == NOT_KNOWN:
                    return None
        except (TypeError, ValueError, OverflowError):
            return None
        return row
