"""Blocks of Parquet and CSV tables: one file, several files or a folder."""

import os
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from .._csv import CsvFormat, csv_frames
from .._hints import FilePath, Source
from .arrays import checked_rows
from .blocks import Block, usual_rows

_CELL_BYTES = 64  # of a cell in a data frame, which may be a string
_FIRST_ROWS = 1000  # from which the types of CSV columns are inferred
_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}


class RawTableBlocks:
    """Rows of tables as pandas frames. A part is a row group of Parquet, or a whole CSV file."""

    def __init__(self, tables, columns, target, weight, block_rows):
        self._tables, self.columns = tables, columns
        self.target, self.weight, self.block_rows = target, weight, block_rows
        self.n_parts = tables.n_parts

    def part(self, number):
        wanted = [*self.columns, self.target, *([self.weight] if self.weight else [])]
        for frame in self._tables.frames(number, wanted, self.block_rows):
            weight = frame[self.weight].to_numpy(dtype=np.float64) if self.weight else None
            yield Block(frame[self.columns], frame[self.target].to_numpy(), weight)

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


class TableBlocks(RawTableBlocks):
    """Rows of tables as arrays of numbers."""

    def __init__(self, tables, columns, target, weight, block_rows, dtype):
        super().__init__(tables, columns, target, weight, block_rows)
        self.dtype, self.row_bytes = dtype, len(columns) * dtype.itemsize

    @property
    def feature_names(self):
        return np.array(self.columns, dtype=object)

    def part(self, number):
        for X, y, weight in super().part(number):
            rows = np.empty(X.shape, dtype=self.dtype)
            for place, name in enumerate(self.columns):
                rows[:, place] = X[name].to_numpy(dtype=self.dtype, na_value=np.nan)
            yield Block(rows, y, weight)


def from_tables(
    path: FilePath | Sequence[FilePath],
    target: str,
    *,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    block_rows: int | None = None,
    dtype: Any = "float32",
    delimiter: str | None = None,
) -> Source:
    """A source of the rows of Parquet or CSV tables.

    Parameters
    ----------
    path : path or list of paths
        A file, a folder of files of one kind, or a list of files.
    target : str
        The column of labels or values.
    columns : list of str or None, default=None
        The features, columns of numbers. None stands for all columns but the target and the weight.
    weight : str or None, default=None
        The column of weights.
    block_rows : int or None, default=None
        Rows of a block. None stands for 64 MB.
    dtype : dtype, default="float32"
        Precision in which rows are given out.
    delimiter : str or None, default=None
        The delimiter of CSV files. None infers it from the first lines.

    Returns
    -------
    TableBlocks
        Can be iterated again and again; ``fit`` of a method that streams takes it.
    """
    tables = open_tables(path, CsvFormat(delimiter))
    return numeric_blocks(tables, path, target, columns, weight, block_rows, dtype)


def numeric_blocks(tables, path, target, columns, weight=None, block_rows=None, dtype="float32"):
    """Blocks of tables whose features are numeric."""
    columns = chosen_columns(tables.names, path, target, columns, weight)
    for name in columns:
        if kind := tables.non_numeric(name):
            raise ValueError(
                f"{path}, column {name!r}: it holds {kind}, and blocks of rows are numbers; name "
                "the columns of numbers by columns=, or take from_raw_tables."
            )
    dtype = np.dtype(dtype)
    rows = checked_rows(block_rows) or usual_rows(len(columns), dtype.itemsize)
    return TableBlocks(tables, columns, target, weight, rows, dtype)


def from_raw_tables(
    path: FilePath | Sequence[FilePath],
    target: str,
    *,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    block_rows: int | None = None,
    delimiter: str | None = None,
) -> Source:
    """A source of the rows of Parquet or CSV tables as they are.

    Its blocks are pandas frames with numbers, texts, dates and missing cells, as
    ``NearLinearClassifier``, ``NearLinearRegressor`` and ``TableEncoder`` take them. The types of
    the columns of CSV files are found in a pass over all rows.

    Parameters
    ----------
    path : path or list of paths
        A file, a folder of files of one kind, or a list of files.
    target : str
        The column of labels or values.
    columns : list of str or None, default=None
        The features. None stands for all columns but the target and the weight.
    weight : str or None, default=None
        The column of weights.
    block_rows : int or None, default=None
        Rows of a block. None stands for 64 MB.
    delimiter : str or None, default=None
        The delimiter of CSV files. None infers it from the first lines.

    Returns
    -------
    RawTableBlocks
        Can be iterated again and again.
    """
    tables = open_tables(path, CsvFormat(delimiter))
    return data_frame_blocks(tables, path, target, columns, weight, block_rows)


def data_frame_blocks(tables, path, target, columns, weight=None, block_rows=None):
    """Blocks of tables with columns of any type."""
    columns = chosen_columns(tables.names, path, target, columns, weight)
    rows = checked_rows(block_rows) or usual_rows(len(columns), _CELL_BYTES)
    if isinstance(tables, CsvTables):
        tables.find_texts(rows)
    return RawTableBlocks(tables, columns, target, weight, rows)


def chosen_columns(known, path, target, columns, weight):
    """The features, by name; what is not there is refused."""
    for role, name in (("target", target), ("weight", weight)):
        if name is not None and name not in known:
            raise ValueError(f"{path}: there is no column {name!r} for {role}.")
    columns = [n for n in known if n not in (target, weight)] if columns is None else list(columns)
    if not columns:
        raise ValueError(f"{path}: there is no column beside {target!r}.")
    for name in columns:
        if name not in known:
            raise ValueError(f"{path}: there is no column {name!r}.")
    return columns


def open_tables(path, csv_format):
    """Files of one kind as parts with the same columns."""
    files = _files(path)
    kinds = {_FORMATS.get(Path(one).suffix.lower()) for one in files}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(f"{path}: tables in blocks are files of one kind, .parquet or .csv.")
    return CsvTables(files, csv_format) if kinds == {"csv"} else ParquetTables(files, path)


class CsvTables:
    """CSV files with the same columns. Each file is a part.

    ``texts`` are the columns of strings: those of the first rows, or, after ``find_texts``, of all.
    """

    def __init__(self, paths, csv_format):
        self._paths, self._format = paths, csv_format
        self.n_parts = len(paths)
        with closing(csv_frames(paths[0], _FIRST_ROWS, csv_format)) as frames:
            first = next(frames, None)
        if first is None:
            raise ValueError(f"{paths[0]}: the table has no rows")
        self.names = [str(name) for name in first.columns]
        self.texts = _columns_of_texts([first])

    def non_numeric(self, name):
        """The type of a column that is not numeric, or None."""
        return "text" if name in self.texts else None

    def find_texts(self, n_rows):
        """Read all rows: a column of numbers may have strings later."""
        frames = (frame for k in range(self.n_parts) for frame in self._frames(k, n_rows))
        self.texts = _columns_of_texts(frames)

    def frames(self, part, columns, n_rows):
        """Some columns of a part, in data frames of at most ``n_rows`` rows."""
        for frame in self._frames(part, n_rows, self.texts):
            for name in _columns_of_texts([frame]).intersection(columns) - self.texts:
                self._raise_at_text(frame, name, self._paths[part])
            yield frame[columns]

    def _frames(self, part, n_rows, texts=()):
        for frame in csv_frames(self._paths[part], n_rows, self._format, texts=texts):
            if not set(self.names).issubset(frame.columns):
                raise ValueError(
                    f"{self._paths[part]}: the columns differ from those of {self._paths[0]}"
                )
            yield frame

    def _raise_at_text(self, frame, name, path):
        from pandas import to_numeric

        is_text = to_numeric(frame[name], errors="coerce").isna() & frame[name].notna()
        row = is_text.idxmax()
        cell = frame[name][row]
        raise ValueError(f"{path}, row {row + 1}, column {name!r}: {cell!r} is not a number")


def _columns_of_texts(frames):
    """Columns with strings, or with truth values in some frames and other values in others."""
    kinds = {}
    for frame in frames:
        for name, dtype in frame.dtypes.items():
            kinds.setdefault(name, set()).add(dtype.kind)
    return {name for name, seen in kinds.items() if not (seen <= set("iuf") or seen == {"b"})}


class ParquetTables:
    """Parquet files with the same columns. Each row group is a part."""

    def __init__(self, files, path):
        try:
            import pyarrow
            from pyarrow import dataset
        except ImportError as error:
            raise ImportError(
                "Parquet tables are read with pyarrow: pip install 'nearlinear[cli]'"
            ) from error
        try:
            opened = dataset.dataset(files, format="parquet")
            groups = [fragment.split_by_row_group() for fragment in opened.get_fragments()]
        except (pyarrow.ArrowException, OSError) as error:
            raise ValueError(f"{path}: no readable Parquet table ({error}).") from error
        self._schema, self.names = opened.schema, opened.schema.names
        self._groups = list(chain.from_iterable(groups))
        self.n_parts = len(self._groups)

    def non_numeric(self, name):
        """The type of a column that is not numeric, or None."""
        from pyarrow import types

        kind = self._schema.field(name).type
        is_numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        return None if is_numeric else kind

    def frames(self, part, columns, n_rows, as_text=(), date_as_object=False):
        """Some columns of a part, in data frames of at most ``n_rows`` rows.

        Columns in ``as_text`` have objects: integers stay integers if values are missing.
        """
        from pandas import Series
        from pyarrow import ArrowException

        group = self._groups[part]
        batches = group.to_batches(
            schema=self._schema, columns=columns, batch_size=n_rows, batch_readahead=0,
            fragment_readahead=0, use_threads=False,
        )  # fmt: skip
        try:
            for batch in batches:
                if batch.num_rows:
                    frame = batch.to_pandas(date_as_object=date_as_object, split_blocks=True)
                    for name in set(as_text).intersection(columns):
                        frame[name] = Series(batch[name].to_pylist(), dtype=object)
                    yield frame
        except (ArrowException, OSError) as error:
            raise ValueError(f"{group.path}: damaged Parquet table ({error})") from error


def _files(path):
    if not isinstance(path, str | os.PathLike):
        return [str(one) for one in path]
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file or folder.")
    if not path.is_dir():
        return [str(path)]
    found = sorted(str(one) for one in path.rglob("*") if one.suffix.lower() in _FORMATS)
    if not found:
        raise ValueError(f"{path}: the folder has no .parquet or .csv file.")
    return found
