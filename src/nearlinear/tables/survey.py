"""One pass over blocks of a table: what plans and parts have to know of all rows.

Counted over all rows: levels, missing cells, y by level. A sample tells quantiles, and beside it
stand the rows of the least and the greatest number or date of each column.
"""

import numpy as np
from scipy.sparse import issparse

from ..runtime.columns.readings import is_missing, require_values
from ..streams.blocks import Block
from ..streams.survey import survey_rows
from .cells import DATE, present
from .levels import Answers, Levels, folds_of
from .plan import DATE_KIND, NUMBER, TEXT, Seen, kind_of
from .reading import aligned, read_as
from .strays import strays_of, warn_of_strays
from .table import Table, table_of

_FEW = 4  # values of a number that are told apart


class _Column:
    """Counts and extremes of a column."""

    def __init__(self, is_declared):
        self.is_declared, self.n_missing = is_declared, 0
        self.kind = None  # "f", "O" or "M" of the cells that are there
        self.levels, self.few = Levels(), np.empty(0)
        self.low = self.high = None

    def see(self, cells, name, folds, told, width):
        """Add cells; places of rows that hold a new extreme."""
        here = present(cells)
        self.n_missing += int(np.count_nonzero(~here))
        if self.kind in ("O", None) and (cells.dtype == object or self.is_declared):
            if self.kind or here.any():
                self.kind = "O"
            listed = [cell if is_here else None for cell, is_here in zip(cells.tolist(), here)]
            self.levels.add(listed, folds, told, width)
            return {}
        if not here.any():
            return {}
        self.kind = self.kind or cells.dtype.kind
        if self.kind != cells.dtype.kind:
            raise ValueError(
                f"{name} is of one type in some blocks and of another in others: give all blocks "
                "the same."
            )
        return self._extremes(cells, np.flatnonzero(here))

    def _extremes(self, cells, places):
        values = cells[places]
        if len(self.few) < _FEW:
            self.few = np.unique(np.concatenate([self.few.astype(values.dtype), values]))[:_FEW]
        low, high = places[values.argmin()], places[values.argmax()]
        found = {}
        if self.low is None or cells[low] < self.low:
            self.low, found["low"] = cells[low], low
        if self.high is None or cells[high] > self.high:
            self.high, found["high"] = cells[high], high
        return found


def survey_of(block, is_of_classes, seed):
    """The survey that suits the first block of a source; it is not seen by this."""
    kind = SparseSurvey if issparse(block.X) else TableSurvey
    return kind(is_of_classes, seed)


class AnswerSurvey:
    """Counts of y alone. ``run`` reads all rows, of which ``see`` takes a block at a time."""

    is_sparse = False

    def __init__(self, is_of_classes, seed):
        self.answers, self.seed, self.n_rows = Answers(is_of_classes), seed, 0

    def run(self, source, n_sample):
        """A ``Survey`` of a source of parts; ``n_sample(block)`` is the size of its sample."""
        return survey_rows(source, n_sample, self.seed, self.add)

    def see(self, block, folds, told):
        """Look at the columns of a block."""

    def add(self, block, row):
        """A block with its y checked, which has been seen; its first row has this number."""
        try:
            y = self._checked(block.y)
            if y.shape != block.X.shape[:1]:
                raise ValueError(f"y has shape {y.shape}, X has {block.X.shape[0]} rows.")
            folds, told = folds_of(row, len(y), self.seed), self.answers.of(y)
            self.answers.add(folds, told)
            self.see(block, folds, told)
        except (ValueError, TypeError) as error:
            raise type(error)(f"In the block from row {row:,} on: {error}") from error
        self.n_rows += len(y)
        return Block(block.X, y, block.weight)

    def _checked(self, y):
        y = np.asarray(y)
        if not self.answers.is_of_classes:
            require_values(y)
            y = y.astype(np.float64)
            if not np.all(np.isfinite(y)):
                raise ValueError("y holds numbers that are missing or not finite: leave them out.")
        elif any(is_missing(one) for one in y.tolist()):
            raise ValueError("Input y contains NaN: leave out the rows whose target is missing.")
        return y


class SparseSurvey(AnswerSurvey):
    """The largest magnitude of each column of CSR rows."""

    is_sparse, largest = True, None

    def see(self, block, folds, told):
        if not np.all(np.isfinite(block.X.data)):
            raise ValueError("X holds numbers that are missing or not finite.")
        largest = abs(block.X).max(axis=0).toarray()[0].astype(np.float64)
        self.largest = largest if self.largest is None else np.maximum(self.largest, largest)


class TableSurvey(AnswerSurvey):
    """Counts of each column, and the rows that hold its extremes."""

    def __init__(self, is_of_classes, seed):
        super().__init__(is_of_classes, seed)
        self.names, self.columns, self._witnesses = None, None, {}

    def see(self, block, folds, told):
        table = table_of(block.X)
        if self.columns is None:
            self.names = table.names
            self.columns = [_Column(k in table.declared) for k in range(table.shape[1])]
        table = aligned(table, self.names, len(self.columns), ())
        width = self.answers.width
        for place, (column, cells) in enumerate(zip(self.columns, table.cells, strict=True)):
            ends = column.see(cells, table.name(place), folds, told, width)
            for end, row in ends.items():
                self._witnesses[place, end] = Block(*block[:2]).take(np.array([row]))

    def seen(self, sample):
        """The sample with the rows of extremes as a table, its y, and each column as ``Seen``."""
        blocks = [sample, *self._witnesses.values()]
        tables = [aligned(table_of(b.X), self.names, len(self.columns), ()) for b in blocks]
        cells = [np.concatenate(parts) for parts in zip(*(self._typed(one) for one in tables))]
        declared = frozenset(k for k, one in enumerate(self.columns) if one.is_declared)
        table = Table(tuple(cells), self.names, declared)
        kinds = [self._kind(place, cells[place]) for place in range(len(self.columns))]
        n_strays = dict.fromkeys(range(len(kinds)), 0)
        for place, strays in self._strays(kinds):
            kinds[place], n_strays[place] = NUMBER, strays.n_strays
            warn_of_strays(table.name(place), strays)
        table = read_as(table, kinds, loose={place for place, n in n_strays.items() if n})
        known = zip(self.columns, table.cells, kinds, n_strays.values(), strict=True)
        columns = [self._seen(*one) for one in known]
        return table, np.concatenate([block.y for block in blocks]), columns

    def _typed(self, table):
        """Columns without a value have the type of those that have some."""
        empty = {"O": np.nan, "M": np.datetime64("NaT", "us")}
        for column, cells in zip(self.columns, table.cells):
            if column.kind in empty and cells.dtype.kind != column.kind and not column.is_declared:
                dtype = object if column.kind == "O" else DATE
                cells = np.full(len(cells), empty[column.kind], dtype=dtype)
            yield cells

    def _kind(self, place, cells):
        """By all levels where there are some, and else by the cells."""
        column = self.columns[place]
        if column.kind != "O" or cells.dtype != object:
            return kind_of(cells)
        texts = np.array([text for text in column.levels.ids if text is not None], dtype=object)
        return kind_of(texts)

    def _strays(self, kinds):
        """Columns of texts nearly all of which are numbers, by all levels that were counted."""
        for place, (column, kind) in enumerate(zip(self.columns, tuple(kinds), strict=True)):
            if kind == TEXT and column.kind == "O" and not column.is_declared:
                found = strays_of(self._counts(column))
                if found is not None:
                    yield place, found

    def _counts(self, column):
        counts = column.levels.counts(self.answers.is_of_classes)
        counts.pop(None, None)
        return counts

    def _seen(self, column, cells, kind, n_strays):
        values = cells[present(cells)]
        if kind == TEXT or column.is_declared:
            counts, is_open = self._counts(column), column.levels.is_open
            return Seen(cells, kind, values, column.n_missing, counts, is_open)
        if kind == NUMBER and column.kind == "f":
            values = np.concatenate([values, column.few])
        assert kind in (NUMBER, DATE_KIND)
        return Seen(cells, kind, values, column.n_missing + n_strays, n_strays=n_strays)
