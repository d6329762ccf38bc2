"""Rows from CSV, Parquet, svmlight and npz files, whole or in pieces.

Every error says file, row and column. Rows are counted from 1, without the header.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..._csv import DEFAULT_FORMAT, STDIN, csv_frames, name_of, pandas_or_error
from ...runtime.demands import allowance
from .._errors import CommandError
from .cells import refused

_KINDS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".npz": "npz",
}
_ZIPPED = ("csv", "svmlight")
_PARQUET_ROWS = 1 << 17  # of a data frame where all rows are read


@dataclass(frozen=True)
class Piece:
    """Some rows of a table: values (or CSR rows), their names, and the number of the first."""

    values: object
    names: list[str] | None
    first: int
    target: np.ndarray | None = None


def kind_of(source):
    if source == STDIN:
        return "csv"
    name = str(source).lower()
    kind = _KINDS.get(Path(name.removesuffix(".gz")).suffix)
    if kind is None or (name.endswith(".gz") and kind not in _ZIPPED):
        raise CommandError(
            f"{source}: a table's name ends in {', '.join(_KINDS)}, or in .csv.gz or .svmlight.gz"
        )
    return kind


def pieces(
    source, *, target=None, n_rows=None, n_features=None, form=DEFAULT_FORMAT, as_text=(), texts=()
) -> Iterator[Piece]:
    """Pieces of at most ``n_rows`` rows (None: all at once), with the ``target`` column apart.

    ``n_features`` is how many an svmlight file has, if that is known; columns ``as_text`` are kept
    as they are written, ``texts`` too, but for gaps.
    """
    kind = kind_of(source)
    if source != STDIN:
        check_readable(source)
    if kind == "csv":
        found = _framed(csv_frames(source, n_rows, form, as_text, texts), source, target)
    elif kind == "parquet":
        found = _framed(_parquet(source, n_rows, as_text), source, target)
    elif kind == "svmlight":
        found = _svmlight(source, target, n_rows, n_features)
    else:
        found = _npz(source, target, n_rows)
    is_empty = True
    for piece in found:
        is_empty = False
        yield piece
    if is_empty:
        raise CommandError(f"{name_of(source)}: the table has no rows")


def import_pandas():
    try:
        return pandas_or_error()
    except ImportError as error:
        raise CommandError(str(error)) from error


def _framed(frames, source, target):
    first = 1
    try:
        for frame in frames:
            if len(frame):
                yield _piece(frame, source, target, first)
            first += len(frame)
    except (ValueError, ImportError) as error:
        raise refused(error, source) from error


def check_readable(source):
    """Refuse what is no file that can be read."""
    path = Path(source)
    if path.is_dir():
        raise CommandError(f"{source} is a folder; name a file in it")
    if not path.is_file():
        raise CommandError(f"{source}: there is no such file")
    if not os.access(path, os.R_OK):
        raise CommandError(f"{source}: no permission to read it")


def whole(source, target, form=DEFAULT_FORMAT):
    """All rows at once, with their target."""
    (piece,) = pieces(source, target=target, form=form)
    return _with_target(piece, source)


def first_row(source, target, form=DEFAULT_FORMAT):
    """The first row alone, with its target."""
    with closing(pieces(source, target=target, n_rows=1, form=form)) as found:
        return _with_target(next(found), source)


def _with_target(piece, source):
    if piece.target is None:
        raise CommandError(f"{source}: name the column to predict with --target")
    return piece


def _parquet(source, n_rows, as_text):
    from ...streams.tables import ParquetTables

    pandas, frames, n_read = import_pandas(), [], 0
    tables = ParquetTables([str(source)], source)
    options = {"n_rows": n_rows or _PARQUET_ROWS, "as_text": as_text, "date_as_object": True}
    try:
        for part in range(tables.n_parts):
            for frame in tables.frames(part, tables.names, **options):
                n_read += len(frame)
                if n_rows is None:
                    frames.append(frame)
                else:
                    yield frame
    except ValueError as error:
        raise CommandError(f"{error} from row {n_read + 1} on") from error
    if frames:
        yield pandas.concat(frames, ignore_index=True)


def _npz(source, target, n_rows):
    try:
        # of a file that is none NumPy leaves its own open
        with open(source, "rb") as file, np.load(file, allow_pickle=False) as archive:
            if "X" not in archive:
                raise CommandError(f"{source}: an npz table has an array X (and y)")
            X = archive["X"]
            y = archive.get("y", None)
    except (ValueError, OSError, EOFError, TypeError, BadZipFile, zlib.error) as error:
        raise CommandError(f"{source}: no readable npz file of plain arrays") from error
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise CommandError(f"{source}: X must be a matrix of numbers, not {X.dtype} {X.shape}")
    if y is not None and y.shape != (len(X),):
        raise CommandError(f"{source}: y has shape {y.shape}, X has {len(X)} rows")
    if target not in (None, "y"):
        raise CommandError(f"{source}: the target of an npz table is its array y, not {target!r}")
    step = n_rows or max(1, len(X))
    for start in range(0, len(X), step):
        part = X[start : start + step].astype(np.float64)
        yield Piece(part, None, start + 1, None if y is None else y[start : start + step])


def _svmlight(source, target, n_rows, n_features):
    from sklearn.datasets import load_svmlight_file

    if target not in (None, "y"):
        raise CommandError(f"{source}: the target of an svmlight file is its first number")
    try:
        X, y = load_svmlight_file(str(source), n_features=n_features)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise CommandError(f"{source}: no readable svmlight file ({error})") from error
    if 8 * X.shape[1] > allowance(os.path.getsize(source)):
        raise CommandError(
            f"{source}: it names feature {X.shape[1]:,}, more than a file of its size can be "
            "about; number the features from 1 without large gaps"
        )
    if np.array_equal(y, y.astype(np.int64)):
        y = y.astype(np.int64)  # as they are written in most files
    step = n_rows or max(1, X.shape[0])
    for start in range(0, X.shape[0], step):
        part = X[start : start + step]
        bad = np.flatnonzero(~np.isfinite(part.data))
        if len(bad):
            row = int(np.searchsorted(part.indptr, bad[0], side="right")) - 1
            raise CommandError(
                f"{source}, row {start + row + 1}, feature {part.indices[bad[0]] + 1}: the value "
                "is missing or infinite; fill it in or remove the row"
            )
        yield Piece(part, None, start + 1, y[start : start + step])


def _piece(frame, source, target, first):
    names = [str(name) for name in frame.columns]
    values = None
    if target is not None:
        place = places([target], names, source)[0]
        column = frame.iloc[:, place]
        missing = np.flatnonzero(column.isna().to_numpy())
        if len(missing):
            raise CommandError(
                f"{name_of(source)}, row {first + missing[0]}, column {target!r}: the target is "
                "missing; give it or remove the row"
            )
        values = column.to_numpy()
        frame = frame.drop(columns=frame.columns[place])
        names.remove(target)
    return Piece(frame, names, first, values)


def places(wanted, names, source):
    """Where columns are, or an error that names one that is not there."""
    for name in wanted:
        if name not in names:
            there = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
            raise CommandError(f"{name_of(source)}: there is no column {name!r}; there are {there}")
    return [names.index(name) for name in wanted]
