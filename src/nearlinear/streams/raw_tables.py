"""Blocks of Parquet and CSV tables as they are: data frames with names, texts, dates and gaps."""

import re
from collections.abc import Sequence

import numpy as np

from .._hints import FilePath, Source
from .arrays import checked_rows
from .blocks import Block, usual_rows
from .tables import batches_of, chosen_columns, dataset_of, fragments_of

_CELL_BYTES = 64  # of a cell on its way to a number: a text is an object then
_COLUMN = re.compile(r"column #(\d+)")


class RawTableBlocks:
    """Rows of tables as pandas frames. A part is a row group of Parquet, or a whole CSV file."""

    def __init__(self, fragments, schema, columns, target, weight, block_rows):
        self._fragments, self._schema, self.columns = fragments, schema, columns
        self.target, self.weight, self.block_rows = target, weight, block_rows
        self.n_parts = len(fragments)

    def part(self, number):
        wanted = [*self.columns, self.target, *([self.weight] if self.weight else [])]
        for batch in batches_of(self._fragments[number], self._schema, wanted, self.block_rows):
            frame = batch.to_pandas(date_as_object=False)
            weight = None
            if self.weight:
                weight = frame[self.weight].to_numpy(dtype=np.float64)
            yield Block(frame[self.columns], frame[self.target].to_numpy(), weight)

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


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
        What parts the cells of a CSV file. None stands for a comma, and for a tab in .tsv files.

    Returns
    -------
    RawTableBlocks
        Can be iterated again and again.
    """
    dataset = dataset_of(path, delimiter, has_gaps=True)
    columns = chosen_columns(dataset, path, target, columns, weight)
    rows = checked_rows(block_rows) or usual_rows(len(columns), _CELL_BYTES)
    fragments, schema = fragments_of(dataset), dataset.schema
    if fragments and not hasattr(fragments[0], "row_groups"):
        wanted = [*columns, target, *([weight] if weight else [])]
        schema = _types_of_all(fragments, schema, wanted, rows)
    return RawTableBlocks(fragments, schema, columns, target, weight, rows)


def _types_of_all(fragments, schema, wanted, block_rows):
    """Types that all cells of CSV files have: pyarrow's, from the first ones, may fail later on."""
    import pyarrow
    from pyarrow import types

    for place, field in enumerate(schema):
        if types.is_integer(field.type):
            schema = schema.set(place, field.with_type(pyarrow.float64()))
        elif types.is_null(field.type) or types.is_time(field.type):
            schema = schema.set(place, field.with_type(pyarrow.string()))
    for fragment in fragments:
        while True:
            try:
                for _ in batches_of(fragment, schema, wanted, block_rows):
                    pass
                break
            except ValueError as error:
                found = _COLUMN.search(str(error))
                place = None if found is None else int(found[1])
                names = fragment.physical_schema.names
                if place is None or place >= len(names):
                    raise
                place = schema.get_field_index(names[place])
                if types.is_string(schema.field(place).type):
                    raise
                schema = schema.set(place, schema.field(place).with_type(pyarrow.string()))
    return schema
