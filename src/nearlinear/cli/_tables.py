"""Rows of numbers from CSV, Parquet, svmlight and npz files, whole or in pieces.

Every error says file, row and column. Rows are counted from 1, without the header.
"""

import os
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from ..runtime.demands import allowance
from ._failure import CommandError

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
STDIN = "-"


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
    suffix = Path(source).suffix.lower()
    if suffix not in _KINDS:
        raise CommandError(f"{source}: a table's name ends in {', '.join(_KINDS)}")
    return _KINDS[suffix]


def pieces(source, *, target=None, n_rows=None, n_features=None) -> Iterator[Piece]:
    """Pieces of at most ``n_rows`` rows (None: all at once), with the ``target`` column apart.

    ``n_features`` is how many an svmlight file has, if that is known.
    """
    kind = kind_of(source)
    if source != STDIN:
        check_readable(source)
    reader = {
        "csv": _csv, "parquet": _parquet, "svmlight": _svmlight, "npz": _npz
    }[kind]  # fmt: skip
    found = False
    for piece in reader(source, target, n_rows, n_features):
        found = True
        yield piece
    if not found:
        raise CommandError(f"{source}: the table has no rows")


def check_readable(source):
    """Refuse what is no file that can be read."""
    path = Path(source)
    if path.is_dir():
        raise CommandError(f"{source} is a folder; name a file in it")
    if not path.is_file():
        raise CommandError(f"{source}: there is no such file")
    if not os.access(path, os.R_OK):
        raise CommandError(f"{source}: no permission to read it")


def whole(source, target):
    """All rows at once, with their target."""
    (piece,) = pieces(source, target=target)
    if piece.target is None:
        raise CommandError(f"{source}: name the column to predict with --target")
    return piece


def _pandas():
    try:
        import pandas
    except ImportError as error:
        raise CommandError(
            "CSV and Parquet tables are read with pandas: pip install 'nearlinear[cli]'"
        ) from error
    return pandas


def _csv(source, target, n_rows, n_features):
    pandas = _pandas()
    separator = "\t" if str(source).lower().endswith(".tsv") else ","
    if source == STDIN and sys.stdin is None:
        raise CommandError("standard input is closed: name a file, or pipe a table in")
    stream = sys.stdin.buffer if source == STDIN else source
    first = 1
    try:
        options = {"sep": separator, "low_memory": False, "skipinitialspace": True}
        options["skip_blank_lines"] = False  # or later answers would belong to other rows
        options["chunksize"] = n_rows or 1 << 62  # in pieces always: they close the file
        with pandas.read_csv(stream, **options) as frames:
            for frame in _without_last_blanks(frames, source):
                if first == 1:
                    _check_header(frame, source)
                if len(frame):
                    yield _piece(frame, source, target, first)
                first += len(frame)
    except pandas.errors.EmptyDataError as error:
        raise CommandError(f"{_name(source)}: the table is empty") from error
    except pandas.errors.ParserError as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found is None:
            raise CommandError(f"{_name(source)}: no readable CSV ({error})") from error
        wanted, line, has = map(int, found.groups())
        raise CommandError(
            f"{_name(source)}, row {line - 1}: it has {has} values, the header {wanted} names"
        ) from error
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{_name(source)}: it is not UTF-8 from row {first} on; convert it"
        ) from error


def _without_last_blanks(frames, source):
    """Blank lines at the very end are no rows: pieces are held back until it is seen."""
    n_blank, waiting = _blank_lines_at_end(source), None
    for frame in frames:
        if waiting is not None and len(frame) < n_blank:
            frame = _pandas().concat([waiting, frame])
        elif waiting is not None:
            yield waiting
        waiting = frame
    if waiting is not None:
        n_rows = len(waiting) - n_blank
        yield waiting.iloc[: max(0, n_rows)] if n_blank else waiting


def _blank_lines_at_end(source):
    if source == STDIN:
        return 0
    with open(source, "rb") as file:
        file.seek(max(0, os.path.getsize(source) - 4096))
        tail = file.read().replace(b"\r", b"")
    return len(tail) - len(tail.rstrip(b"\n")) - 1 if tail.endswith(b"\n\n") else 0


def _check_header(frame, source):
    """pandas takes what has no name for an index, and numbers for names."""
    if type(frame.index).__name__ != "RangeIndex":
        n_names, n_values = frame.shape[1], frame.shape[1] + frame.index.nlevels
        raise CommandError(
            f"{_name(source)}, row 1: it has {n_values} values, the header {n_names} names"
        )
    if frame.shape[1] and all(_is_number(name) for name in frame.columns):
        raise CommandError(
            f"{_name(source)}: the first line holds numbers where the names of the columns belong"
        )


def _is_number(text):
    try:
        float(re.sub(r"\.\d+$", "", str(text)) if str(text).count(".") > 1 else text)
    except ValueError:
        return False
    return True


def _parquet(source, target, n_rows, n_features):
    _pandas()
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise CommandError(
            "Parquet tables are read with pyarrow: pip install 'nearlinear[cli]'"
        ) from error
    try:
        table = parquet.ParquetFile(source)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise CommandError(f"{source}: no readable Parquet file ({error})") from error
    first = 1
    with table:
        batches = table.iter_batches(batch_size=n_rows or max(1, table.metadata.num_rows))
        while True:
            try:
                batch = next(batches, None)
            except (pyarrow.ArrowException, OSError) as error:
                raise CommandError(
                    f"{source}: damaged Parquet from row {first} on ({error})"
                ) from error
            if batch is None:
                return
            frame = batch.to_pandas()
            if len(frame):
                yield _piece(frame, source, target, first)
            first += len(frame)


def _npz(source, target, n_rows, n_features):
    try:
        with np.load(source, allow_pickle=False) as archive:
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
        _check_finite(part, None, source, start + 1)
        yield Piece(part, None, start + 1, None if y is None else y[start : start + step])


def _svmlight(source, target, n_rows, n_features):
    from sklearn.datasets import load_svmlight_file

    if target not in (None, "y"):
        raise CommandError(f"{source}: the target of an svmlight file is its first number")
    try:
        X, y = load_svmlight_file(str(source), n_features=n_features)
    except (ValueError, OSError) as error:
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
        if target not in names:
            raise CommandError(
                f"{_name(source)}: there is no column {target!r}; there are {', '.join(names[:20])}"
            )
        column = frame.iloc[:, names.index(target)]
        missing = np.flatnonzero(column.isna().to_numpy())
        if len(missing):
            raise CommandError(
                f"{_name(source)}, row {first + missing[0]}, column {target!r}: the target is "
                "missing; give it or remove the row"
            )
        values = column.to_numpy()
        frame = frame.drop(columns=frame.columns[names.index(target)])
        names.remove(target)
    return Piece(frame, names, first, values)


def numbers(frame, names, source, first):
    """A frame's columns as one array of numbers, or an error that names the first bad cell."""
    if not hasattr(frame, "columns"):
        return frame
    values = np.empty(frame.shape)
    for k, name in enumerate(names):
        try:
            if frame.iloc[:, k].dtype.kind in "mM":  # numpy would make numbers of dates
                raise TypeError
            values[:, k] = frame.iloc[:, k].to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as error:
            cell, row = _first_bad(frame.iloc[:, k])
            raise CommandError(
                f"{_name(source)}, row {first + row}, column {name!r}: {cell!r} is no number; "
                "code it as one or leave the column out"
            ) from error
    _check_finite(values, names, source, first)
    return values


def _first_bad(column):
    for row, cell in enumerate(column):
        try:
            float(cell)
        except (TypeError, ValueError):
            return cell if isinstance(cell, str) else str(cell), row
    return str(column.iloc[0]), 0


def _check_finite(values, names, source, first):
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        name = repr(names[column]) if names else column
        raise CommandError(
            f"{_name(source)}, row {first + row}, column {name}: the value is missing or infinite; "
            "fill it in or remove the row"
        )


def _name(source):
    return "standard input" if source == STDIN else source
