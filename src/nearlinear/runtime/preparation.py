"""From raw columns to the columns of a model: the plain formula.

Every column of a prepared row comes from one raw column:

    prepared[j] = missing[j]                                        where a value is missing (NaN),
                  clip((v − shift[j]) / scale[j], low[j], high[j])  elsewhere.

v is the raw number x, or 1 where x equals ``equals[j]`` and 0 elsewhere, or what a curve makes of
x. Raw columns of categories and of dates are read as numbers first: these follow the raw columns.
Scalers, imputers, encoders, quantiles, and chains and choices of columns of these are all such
tables. A piece between knots rises and falls again: it is the lesser of the clipped number and of
another one,

    max((v − fold[j, 0]) / fold[j, 1] + fold[j, 2], fold[j, 3]).

Where columns are mixed, as by principal components, the row z of the table becomes
matrix z + offset. Tables may follow each other: what comes ``before`` makes the row that the next
one takes for raw.
"""

from dataclasses import dataclass, replace

import numpy as np

from .columns.curves import on_curve
from .columns.readings import NOT_KNOWN, Unreadable, plain_numbers

NO_FOLD = (0.0, 1.0, 0.0, np.inf)  # shift, scale, lift and floor of a line that is above all


@dataclass(frozen=True, eq=False)
class Preparation:
    """What is done to a row of ``n_features`` raw columns; None where nothing is.

    ``readings`` are raw columns that are read as numbers; their numbers follow the raw columns.
    ``source`` has one of all these columns for each prepared one (None: the same, in order).
    ``missing`` is NaN where a missing value is refused. ``equals`` has a number that others are
    compared with, NaN for columns that are not. ``curves`` has pairs of knots and values, or None.
    ``fold`` (n_columns, 4) has the shift, scale, lift and floor of second lines; the lesser counts.
    ``matrix`` (width, n_columns) and ``offset`` (width,) mix the columns of the table. ``before``
    is a preparation whose rows the table takes in place of raw ones.
    """

    n_features: int
    source: np.ndarray | None = None
    missing: np.ndarray | None = None
    shift: np.ndarray | None = None
    scale: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    readings: tuple | None = None
    equals: np.ndarray | None = None
    curves: tuple | None = None
    fold: np.ndarray | None = None
    matrix: np.ndarray | None = None
    offset: np.ndarray | None = None
    before: "Preparation | None" = None

    @property
    def width(self):
        """Columns of a prepared row."""
        return self.n_columns if self.matrix is None else len(self.matrix)

    @property
    def n_columns(self):
        """Columns of the table, before they are mixed."""
        return self.n_inputs if self.source is None else len(self.source)

    @property
    def n_inputs(self):
        """Columns of the rows that the table takes."""
        if self.before is not None:
            return self.before.width
        return self.n_features + len(self.readings or ())

    @property
    def sources(self):
        return np.arange(self.n_inputs) if self.source is None else self.source

    @property
    def only_scales(self):
        """Whether rows are shifted and scaled, and nothing else."""
        return self.is_affine and self.matrix is None

    @property
    def is_affine(self):
        """The same, but that columns may be mixed."""
        others = (self.source, self.missing, self.low, self.high, self.readings, self.equals)
        others += (self.curves, self.fold, self.before)
        return all(part is None for part in others)

    @property
    def first(self):
        """The table that takes raw rows."""
        return self if self.before is None else self.before.first

    @property
    def texts(self):
        """Raw columns that hold text."""
        return sorted({one.column for one in self.first.readings or () if one.is_of_text})

    @property
    def dates(self):
        """Raw columns that hold dates."""
        return sorted({one.column for one in self.first.readings or () if one.is_of_dates})

    @property
    def loose(self):
        """Raw columns of numbers in which texts that are none are missing cells."""
        return sorted({one.column for one in self.first.readings or () if one.is_of_numbers})

    def column(self, name, none):
        """An array of the table, filled in where it says nothing."""
        array = getattr(self, name)
        return np.full(self.n_columns, none) if array is None else array

    def and_columns(self, count):
        """The same, with further columns on the right that stay as they are."""
        if count == 0:
            return self

        def longer(array, rest):
            return None if array is None else np.concatenate([array, np.full(count, rest)])

        n_before = self.n_features if self.before is None else self.before.width
        more, source, matrix = np.arange(n_before, n_before + count), self.source, self.matrix
        if source is not None:  # what was read comes after all raw columns
            source = np.concatenate([source + count * (source >= n_before), more])
        if matrix is not None:
            matrix = np.zeros((self.width + count, self.n_columns + count))
            matrix[: self.width, : self.n_columns] = self.matrix
            matrix[self.width :, self.n_columns :] = np.eye(count)
        return replace(
            self,
            n_features=self.n_features + count,
            source=source,
            missing=longer(self.missing, np.nan),
            shift=longer(self.shift, 0.0),
            scale=longer(self.scale, 1.0),
            low=longer(self.low, -np.inf),
            high=longer(self.high, np.inf),
            equals=longer(self.equals, np.nan),
            curves=None if self.curves is None else self.curves + (None,) * count,
            fold=None if self.fold is None else np.vstack([self.fold, [NO_FOLD] * count]),
            matrix=matrix,
            offset=longer(self.offset, 0.0),
            before=None if self.before is None else self.before.and_columns(count),
        )

    def __call__(self, X, names=None, keeps_missing=False):
        """Prepared rows, in the precision of ``X`` if that is single, else in double.

        A missing value that nothing stands for is refused, or stays where the model takes it.
        """
        if self.before is None:
            inputs = _Inputs(np.asarray(X), names, self.readings or ())
        else:
            inputs = _Inputs(self.before(X, names, keeps_missing=True), None)
        inputs.refuse_unknown()
        rows = self._bent(inputs.numbers(self.sources))
        is_missing = np.isnan(rows)
        dtype = rows.dtype
        most = None if self.fold is None else _second_lines(rows, self.fold.astype(dtype))
        with np.errstate(over="ignore"):
            if self.shift is not None:
                rows -= self.shift.astype(dtype)
            if self.scale is not None:
                rows /= self.scale.astype(dtype)
        if most is None:
            _refuse_infinite(rows, is_missing)
        if self.low is not None:
            rows = np.clip(rows, self.low.astype(dtype), self.high.astype(dtype))
        if most is not None:  # one of two lines may be steep
            rows = np.minimum(rows, most)
            _refuse_infinite(rows, is_missing)
        if self.missing is not None:
            rows = np.where(is_missing, self.missing.astype(dtype), rows)
        if np.any(np.isnan(rows)) and (not keeps_missing or self.matrix is not None):
            if self.before is not None:
                self.before(X, names)  # which knows the raw column
            place = np.argwhere(np.isnan(rows))[0]
            raise inputs.refusal(int(place[0]), int(self.sources[place[1]]))
        return rows if self.matrix is None else self._mixed(rows)

    def _mixed(self, rows):
        with np.errstate(over="ignore", invalid="ignore"):
            rows = rows @ self.matrix.T.astype(rows.dtype) + self.offset.astype(rows.dtype)
        if not np.all(np.isfinite(rows)):
            raise ValueError("X holds numbers that are too large when they are mixed.")
        return rows

    def _bent(self, rows):
        """The values v; NaN where they are missing."""
        if self.equals is not None:
            hits = (rows == self.equals.astype(rows.dtype)).astype(rows.dtype)
            rows = np.where(np.isnan(self.equals) | np.isnan(rows), rows, hits)
        for j, curve in enumerate(self.curves or ()):
            if curve is not None:
                rows[:, j] = on_curve(curve, rows[:, j])
        return rows


def _refuse_infinite(rows, is_missing):
    if not np.all(np.isfinite(rows) | is_missing):
        raise ValueError("X holds numbers that are too large when they are scaled.")


def _second_lines(values, fold):
    shift, scale, lift, floor = fold.T
    with np.errstate(over="ignore"):
        return np.maximum((values - shift) / scale + lift, floor)


class _Inputs:
    """Raw columns as numbers, and after them what is read; NaN where a value is missing."""

    def __init__(self, X, names, readings=()):
        self.X, self.names, self.readings = X, names, readings
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self._read = {}

    def numbers(self, sources):
        is_raw = sources < self.X.shape[1]
        if np.all(is_raw):
            return self._raw(sources)
        found = np.empty((len(self.X), len(sources)), dtype=self.dtype)
        found[:, is_raw] = self._raw(sources[is_raw])
        for j in np.flatnonzero(~is_raw):
            found[:, j] = self._reading(int(sources[j]) - self.X.shape[1])
        return found

    def refuse_unknown(self):
        for place, reading in enumerate(self.readings):
            if reading.unknown == "refused" and NOT_KNOWN in (found := self._reading(place)):
                row = int(np.argmax(found == NOT_KNOWN))
                value = self.X[row : row + 1, reading.column].tolist()[0]
                raise ValueError(
                    f"Row {row} has {value!r} in {self._name(reading.column)}, which is none of "
                    "the categories of the fit."
                )

    def _raw(self, sources):
        try:
            picked = plain_numbers(self.X[:, sources], self.dtype)
        except Unreadable as error:
            row, cell, wanted, place = error.args
            raise self._unreadable(row, cell, wanted, int(sources[place])) from error
        self._refuse_infinite(picked, sources)
        return picked

    def _refuse_infinite(self, numbers, sources):
        if np.any(np.isinf(numbers)):
            row, place = np.argwhere(np.isinf(numbers))[0]
            raise ValueError(
                f"Row {row} has a number that is infinite, or too large for {self.dtype}, in "
                f"{self._name(int(sources[place]))}: X holds NaN or infinity."
            )

    def _reading(self, place):
        if place not in self._read:
            reading = self.readings[place]
            try:
                found = reading(self.X[:, reading.column], self.dtype)
            except Unreadable as error:
                raise self._unreadable(*error.args, reading.column) from error
            self._refuse_infinite(found[:, None], [reading.column])
            self._read[place] = found
        return self._read[place]

    def _unreadable(self, row, cell, wanted, source):
        return ValueError(
            f"X holds text where the model takes numbers or dates: row {row} has "
            f"{str(cell)[:40]!r} in {self._name(source)}, where {wanted} belongs."
        )

    def _name(self, source):
        known = self.names is not None
        return f"column {self.names[source]!r}" if known else f"column {source}"

    def refusal(self, row, source):
        if source >= self.X.shape[1]:
            source = self.readings[source - self.X.shape[1]].column
        return ValueError(
            f"Row {row} has no value in {self._name(source)}, where the model takes none that are "
            "missing: X holds NaN or infinity."
        )
