"""Raw rows of any table: single columns, and one row again and again with another cell in it."""

from dataclasses import dataclass, field

import narwhals as nw
import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from ..runtime.columns.names import warn_of_extra_columns

_MOST_DENSE = 2000  # columns of sparse rows that are filled in


@dataclass(frozen=True, eq=False)
class Rows:
    """``cells`` is a pandas table, an array or CSR rows; ``names`` are those of its columns."""

    cells: object
    names: tuple
    _columns: dict = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, X, names=None):
        """Rows of anything that models take."""
        if not issparse(X):
            frame = nw.from_native(X, eager_only=True, pass_through=True)
            if isinstance(frame, nw.DataFrame):
                if names is not None:
                    warn_of_extra_columns(names, frame.columns)
                    frame = frame.select([name for name in names if name in frame.columns])
                cells = frame.to_pandas()
                return cls(cells, tuple(str(name) for name in cells.columns))
            X = np.asarray(X)
        X = csr_matrix(X) if issparse(X) else X
        names = names if names is not None else [f"x{d}" for d in range(X.shape[1])]
        return cls(X, tuple(str(name) for name in names))

    @property
    def shape(self):
        return self.cells.shape

    @property
    def is_sparse(self):
        return issparse(self.cells)

    @property
    def can_change(self):
        """Whether a row may be filled in to change a cell of it."""
        return not self.is_sparse or self.shape[1] <= _MOST_DENSE

    def take(self, places):
        """These rows, as the model takes them."""
        if hasattr(self.cells, "iloc"):
            return self.cells.iloc[places]
        return self.cells[places]

    def column(self, place):
        """One column: float64 with NaN where a cell is missing, or objects with None there."""
        if place not in self._columns:
            self._columns[place] = self._column(place)
        return self._columns[place]

    def _column(self, place):
        if self.is_sparse:
            return self.cells[:, [place]].toarray()[:, 0]
        if hasattr(self.cells, "iloc"):
            one = self.cells.iloc[:, place]
            if one.dtype.kind in "fiub":
                return one.to_numpy(dtype=np.float64)
            column = one.astype(object).where(one.notna(), None).to_numpy(dtype=object)
        else:
            column = self.cells[:, place]
            if column.dtype.kind in "fiub":
                return column.astype(np.float64)
        return _as_numbers(column)

    def row(self, place):
        """One row as plain values; None where a cell is missing."""
        if self.is_sparse:
            return self.cells[place].toarray()[0].tolist()
        if hasattr(self.cells, "iloc"):
            return [plain(self.cells.iat[place, d]) for d in range(self.shape[1])]
        return [plain(cell) for cell in self.cells[place].tolist()]

    def with_column(self, place, column, values):
        """Row ``place`` as often as there are values, which stand in that column."""
        return self.with_columns(np.full(len(values), place), column, values)

    def with_columns(self, places, column, values):
        """Rows ``places`` with other values in one column."""
        if self.is_sparse:
            dense = vstack([self.cells[place] for place in places]).toarray()
            dense[:, column] = values
            return csr_matrix(dense)
        if hasattr(self.cells, "iloc"):
            frame = self.cells.iloc[places].reset_index(drop=True)
            frame.isetitem(column, values)
            return frame
        rows = self.cells[places].copy()
        if rows.dtype.kind in "iub":
            rows = rows.astype(np.float64)
        rows[:, column] = values
        return rows


def plain(cell):
    """A cell as JSON has it: number, text, boolean or None; dates as text."""
    if cell is None or _is_missing(cell):
        return None
    if hasattr(cell, "item"):
        cell = cell.item()
    if isinstance(cell, bool | str):
        return cell
    if isinstance(cell, int | float):
        return cell if np.isfinite(cell) else None
    if hasattr(cell, "isoformat"):
        return cell.isoformat().removesuffix("T00:00:00")
    return str(cell)


def _is_missing(cell):
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return type(cell).__name__ in ("NAType", "NaTType")


def _as_numbers(column):
    """Objects that are all numbers or missing, as float64; else with None where one is missing."""
    cells = [plain(cell) for cell in column.tolist()]
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    found = np.empty(len(cells), dtype=object)
    found[:] = cells
    return found
