"""Blocks of Parquet and CSV tables, one file, several or a folder, read with pyarrow."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._hints import FilePath, Source
from .arrays import checked_rows
from .blocks import Block, usual_rows

_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}


class TableBlocks:
    """Rows of tables. A part is a row group of a Parquet file, or a whole CSV file."""

    def __init__(self, fragments, schema, columns, target, weight, block_rows, dtype):
        self._fragments, self._schema, self.columns = fragments, schema, columns
        self.target, self.weight, self.block_rows, self.dtype = target, weight, block_rows, dtype
        self.n_parts, self.row_bytes = len(fragments), len(columns) * dtype.itemsize

    @property
    def feature_names(self):
        return np.array(self.columns, dtype=object)

    def part(self, number):
        wanted = [*self.columns, self.target, *([self.weight] if self.weight else [])]
        fragment = self._fragments[number]
        for batch in batches_of(fragment, self._schema, wanted, self.block_rows):
            yield self._block(batch)

    def _block(self, batch):
        X = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for place, name in enumerate(self.columns):
            cells = batch.column(name)
            if cells.null_count and cells.type == "bool":
                cells = cells.cast("int8")  # whose gaps are NaN
            X[:, place] = cells.to_numpy(zero_copy_only=False)
        y = batch.column(self.target).to_numpy(zero_copy_only=False)
        weight = None
        if self.weight:
            weight = batch.column(self.weight).to_numpy(zero_copy_only=False).astype(np.float64)
        return Block(X, y, weight)

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


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
        What parts the cells of a CSV file. None stands for a comma, and for a tab in .tsv files.

    Returns
    -------
    TableBlocks
        Can be iterated again and again; ``fit`` of a method that streams takes it.
    """
    dataset = dataset_of(path, delimiter)
    columns = chosen_columns(dataset, path, target, columns, weight)
    for name in columns:
        _require_numbers(dataset.schema, name, path)
    dtype = np.dtype(dtype)
    rows = checked_rows(block_rows) or usual_rows(len(columns), dtype.itemsize)
    schema = _of_real_numbers(dataset.schema, columns)
    return TableBlocks(fragments_of(dataset), schema, columns, target, weight, rows, dtype)


def chosen_columns(dataset, path, target, columns, weight):
    """The features, by name; what is not there is refused."""
    known = dataset.schema.names
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


def fragments_of(dataset):
    """Row groups of Parquet files, or whole CSV files."""
    return [
        part
        for fragment in dataset.get_fragments()
        for part in (
            fragment.split_by_row_group() if hasattr(fragment, "row_groups") else [fragment]
        )
    ]


def batches_of(fragment, schema, wanted, block_rows):
    """Some columns of a part, in batches of at most so many rows."""
    from pyarrow import ArrowException

    batches = fragment.to_batches(
        schema=schema, columns=wanted, batch_size=block_rows, batch_readahead=0,
        fragment_readahead=0, use_threads=False,
    )  # fmt: skip
    try:
        for batch in batches:
            if batch.num_rows:
                yield batch
    except (ArrowException, OSError) as error:
        raise ValueError(f"{fragment.path}: the table cannot be read on ({error}).") from error


def column_names(path, delimiter=None):
    """All columns of a table."""
    return dataset_of(path, delimiter).schema.names


def dataset_of(path, delimiter, has_gaps=False):
    """Files as one dataset; texts of CSV files may have gaps: empty cells, NA and the like."""
    try:
        import pyarrow
        from pyarrow import dataset
    except ImportError as error:
        raise ImportError(
            "Tables are read in blocks with pyarrow: pip install 'nearlinear[cli]'"
        ) from error
    files = _files(path)
    kinds = {_FORMATS.get(Path(one).suffix.lower()) for one in files}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(f"{path}: tables in blocks are files of one kind, .parquet or .csv.")
    (kind,) = kinds
    form, is_tabbed = kind, Path(files[0]).suffix.lower() == ".tsv"
    if kind == "csv":
        from pyarrow import csv

        form = dataset.CsvFileFormat(
            csv.ParseOptions(delimiter=delimiter or ("\t" if is_tabbed else ",")),
            convert_options=csv.ConvertOptions(strings_can_be_null=has_gaps),
        )
    try:
        return dataset.dataset(files, format=form)
    except (pyarrow.ArrowException, OSError) as error:
        raise ValueError(f"{path}: no readable {kind} table ({error}).") from error


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


def _of_real_numbers(schema, columns):
    """Columns that begin with whole numbers may go on with others."""
    import pyarrow

    for place, field in enumerate(schema):
        if field.name in columns and pyarrow.types.is_integer(field.type):
            schema = schema.set(place, field.with_type(pyarrow.float64()))
    return schema


def _require_numbers(schema, name, path):
    from pyarrow import types

    kind = schema.field(name).type
    if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
        raise ValueError(
            f"{path}, column {name!r}: it holds {kind}, and blocks of rows are numbers; name the "
            "columns of numbers by columns=, or take from_raw_tables."
        )
