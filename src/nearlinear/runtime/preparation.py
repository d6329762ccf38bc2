"""From raw columns to the columns of a model: the plain formula.

Every column of a prepared row comes from one raw column:

    prepared[j] = missing[j]                                        where a value is missing (NaN),
                  clip((v − shift[j]) / scale[j], low[j], high[j])  elsewhere,

where v is the raw value, or, for a column of a category, 1 where the raw value is that category and
0 elsewhere. Scalers, imputers, one-hot encoders, and chains and choices of columns of these are all
such tables. A piece between knots rises and falls again: it is the lesser of the clipped number and
of another one,

    max((v − fold[j, 0]) / fold[j, 1] + fold[j, 2], fold[j, 3]).

Where columns are mixed, as by principal components, the row z of the table becomes
matrix z + offset. Tables may follow each other: what comes ``before`` makes the row that the next
one takes for raw.
"""

from dataclasses import dataclass, replace

import numpy as np

NO_FOLD = (0.0, 1.0, 0.0, np.inf)  # shift, scale, lift and floor of a line that is above all


@dataclass(frozen=True, eq=False)
class Preparation:
    """What is done to a row of ``n_features`` raw columns; None where nothing is.

    ``source`` has a raw column for each prepared one (None: the same, in order). ``missing`` is
    NaN where a missing value is refused. ``categories`` has None for columns of numbers, else a
    number or a text. ``known`` lists pairs of a raw column and all the categories it may hold.
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
    categories: tuple | None = None
    known: tuple | None = None
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
        return self.n_features if self.before is None else self.before.width

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
        others = (self.source, self.missing, self.low, self.high, self.categories, self.known)
        others += (self.fold, self.before)
        return all(part is None for part in others)

    @property
    def texts(self):
        """Raw columns that hold text."""
        if self.before is not None:
            return self.before.texts
        pairs = [(s, [c]) for s, c in zip(self.sources, self.categories or ())]
        pairs += list(self.known or ())
        return sorted({int(s) for s, found in pairs if any(isinstance(c, str) for c in found)})

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

        more = np.arange(self.n_inputs, self.n_inputs + count)
        categories, matrix = self.categories, self.matrix
        if matrix is not None:
            matrix = np.zeros((self.width + count, self.n_columns + count))
            matrix[: self.width, : self.n_columns] = self.matrix
            matrix[self.width :, self.n_columns :] = np.eye(count)
        return replace(
            self,
            n_features=self.n_features + count,
            source=None if self.source is None else np.concatenate([self.source, more]),
            missing=longer(self.missing, np.nan),
            shift=longer(self.shift, 0.0),
            scale=longer(self.scale, 1.0),
            low=longer(self.low, -np.inf),
            high=longer(self.high, np.inf),
            categories=None if categories is None else categories + (None,) * count,
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
            numbers = _Columns(np.asarray(X), names)
        else:
            numbers = _Columns(self.before(X, names, keeps_missing=True), None)
        self._check_known(numbers)
        rows, is_missing = self._compared(numbers)
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
            raise numbers.refusal(int(place[0]), int(self.sources[place[1]]))
        return rows if self.matrix is None else self._mixed(rows)

    def _mixed(self, rows):
        with np.errstate(over="ignore", invalid="ignore"):
            rows = rows @ self.matrix.T.astype(rows.dtype) + self.offset.astype(rows.dtype)
        if not np.all(np.isfinite(rows)):
            raise ValueError("X holds numbers that are too large when they are mixed.")
        return rows

    def _compared(self, columns):
        """The values v, finite or missing, and where they are missing."""
        if self.categories is None:
            rows = columns.numbers(self.sources)
        else:
            found = [
                columns.numbers([s])[:, 0] if c is None else columns.equal(int(s), c)
                for s, c in zip(self.sources, self.categories)
            ]
            rows = np.stack(found, axis=1)
        return rows, np.isnan(rows)

    def _check_known(self, columns):
        for source, values in self.known or ():
            found = sum(np.nan_to_num(columns.equal(source, value), nan=1.0) for value in values)
            if not np.all(found):
                row = int(np.argmin(found > 0))
                value = columns.X[row : row + 1, source].tolist()[0]
                raise ValueError(
                    f"Row {row} has {value!r} in {columns.name(source)}, which is none of the "
                    "categories of the fit."
                )


def _refuse_infinite(rows, is_missing):
    if not np.all(np.isfinite(rows) | is_missing):
        raise ValueError("X holds numbers that are too large when they are scaled.")


def _second_lines(values, fold):
    shift, scale, lift, floor = fold.T
    with np.errstate(over="ignore"):
        return np.maximum((values - shift) / scale + lift, floor)


class _Columns:
    """Raw columns as numbers, or compared with a category; NaN where a value is missing."""

    def __init__(self, X, names):
        self.X, self.names = X, names
        self.dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)

    def numbers(self, sources):
        try:
            picked = self.X[:, sources].astype(self.dtype)
        except (TypeError, ValueError) as error:
            raise ValueError("X holds text where the model takes numbers.") from error
        if np.any(np.isinf(picked)):
            raise ValueError("X holds NaN or infinity; the model takes finite numbers.")
        return picked

    def equal(self, source, category):
        """1 where the column is the category, 0 where it is another, NaN where it is missing."""
        if not isinstance(category, str):
            column = self.numbers([source])[:, 0]
            is_it = column == column.dtype.type(category)
            return np.where(np.isnan(column), column, is_it.astype(self.dtype))
        values = self.X[:, source].tolist()
        return np.array(
            [np.nan if value != value else value == category for value in values], dtype=self.dtype
        )

    def name(self, source):
        known = self.names is not None
        return f"column {self.names[source]!r}" if known else f"column {source}"

    def refusal(self, row, source):
        return ValueError(
            f"Row {row} has no value in {self.name(source)}, where the model takes none that are "
            "missing: X holds NaN or infinity."
        )


def is_category(value):
    """Whether a category has a place here: a text, or a finite number."""
    is_number = isinstance(value, int | float) and -1e300 <= value <= 1e300
    return isinstance(value, str) or is_number
