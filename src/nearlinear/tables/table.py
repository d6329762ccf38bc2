"""One form for all tables: pandas, polars and Arrow tables, arrays, lists.

A column is an array of numbers (float64, NaN where a cell is missing), of texts (objects, NaN where
one is missing) or of dates (datetime64, NaT). Everything behind this file sees nothing else.
"""

from dataclasses import dataclass

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from .cells import DATE, column_of, texts_of

_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class Table:
    """Columns side by side; ``names`` is None where they have none.

    A ``ColumnTransformer`` takes it for an array: it asks for its shape and for some of the
    columns, which are numbers in double precision where all of these are.
    ``declared`` are the columns that their owner has called categories.
    """

    cells: tuple
    names: tuple | None
    declared: frozenset = frozenset()

    @property
    def shape(self):
        return len(self.cells[0]) if self.cells else 0, len(self.cells)

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[:, range(len(self.cells))], dtype=dtype)

    def __getitem__(self, key):
        rows, places = key
        picked = [self.cells[place][rows] for place in places]
        kinds = {column.dtype.kind for column in picked}
        if kinds <= {"f"} or kinds <= {"M"}:
            return np.column_stack(picked) if picked else np.empty((len(self), 0))
        block = np.empty((len(picked[0]), len(picked)), dtype=object)
        for place, column in enumerate(picked):
            block[:, place] = column
        return block

    def name(self, place):
        return column_name(self.names, place)


def column_name(names, place):
    return f"column {place}" if names is None else f"column {names[place]!r}"


def table_of(X):
    """Any table as a ``Table``; raises ValueError or TypeError for what is none."""
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"X is a {type(X).__name__}, whose rows are not there yet: collect() them.")
    _refuse_equal_names(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _of_frame(frame)
    return _of_array(X)


def _refuse_equal_names(X):
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if isinstance(names, list | tuple) or hasattr(names, "tolist"):
        seen = set()
        for name in list(names):
            if name in seen:
                raise ValueError(f"Two columns of X are called {name!r}: rename one of them.")
            seen.add(name)


def _of_frame(frame):
    n_rows, n_columns = frame.shape
    if n_rows == 0 or n_columns == 0:
        raise ValueError(
            f"Found array with {n_rows} sample(s) and {n_columns} feature(s) "
            f"(shape={frame.shape}) while a minimum of 1 is required."
        )
    names = tuple(frame.columns)
    series = list(frame.iter_columns())  # a name may be a number, which is a row elsewhere
    cells = tuple(_of_series(one, f"column {one.name!r}") for one in series)
    declared = frozenset(k for k, one in enumerate(series) if _is_category(one.dtype))
    n_texts = sum(isinstance(name, str) for name in names)
    if 0 < n_texts < n_columns:
        raise TypeError(
            "Feature names are only supported if all input features have string names: "
            "X.columns = X.columns.astype(str) makes them so."
        )
    return Table(cells, names if n_texts else None, declared)


def _is_category(dtype):
    return isinstance(dtype, nw.Categorical | nw.Enum)


def _of_series(series, name):
    dtype = series.dtype
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return _numbers(series.cast(nw.Float64()).to_numpy())
    if isinstance(dtype, nw.Datetime | nw.Date):
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.to_numpy().astype(DATE)
    if isinstance(dtype, nw.Duration):
        return series.to_numpy().astype("timedelta64[us]") / _DAY
    if isinstance(dtype, nw.String):
        return texts_of(series.to_list(), name)
    return column_of(series.to_list(), name)


def _numbers(values):
    if values.dtype == object:  # gaps of nullable columns
        values = [np.nan if value is None or value is _na() else value for value in values]
    return np.asarray(values, dtype=np.float64)


def _na():
    import pandas

    return pandas.NA


def _of_array(X):
    if isinstance(X, list | tuple):  # so that numbers beside texts stay numbers
        X = np.array(X, dtype=object)
    X = check_array(X, dtype=None, ensure_all_finite=False, estimator="TableEncoder")
    kind = X.dtype.kind
    if kind in "fiub":
        return Table(tuple(X.T.astype(np.float64)), None)
    if kind == "M":
        return Table(tuple(X.T.astype(DATE)), None)
    return Table(tuple(column_of(c.tolist(), f"column {k}") for k, c in enumerate(X.T)), None)
