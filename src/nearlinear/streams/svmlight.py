"""Blocks of svmlight files: CSR rows, read a stretch of lines at a time."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._hints import FilePath, Source
from .arrays import checked_rows
from .blocks import Block

_USUAL_ROWS = 50_000
_PART_BYTES = 1 << 23  # of text


class SvmlightBlocks:
    """CSR rows of svmlight files. A part is a stretch of some megabytes of one file."""

    def __init__(self, files, n_features, block_rows, dtype, zero_based):
        self._parts = [(path, start) for path in files for start in _starts(path)]
        self.n_parts, self.n_features = len(self._parts), n_features
        self.block_rows, self.dtype, self._zero_based = block_rows, dtype, zero_based

    def part(self, number):
        from sklearn.datasets import load_svmlight_file

        path, start = self._parts[number]
        text = _lines(path, start, start + _PART_BYTES)
        if not text.strip():
            return
        X, y = load_svmlight_file(
            io.BytesIO(text), n_features=self.n_features, dtype=self.dtype,
            zero_based=self._zero_based,
        )  # fmt: skip
        yield Block(X, y)

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


def from_svmlight(
    path: FilePath | Sequence[FilePath],
    *,
    n_features: int | None = None,
    block_rows: int | None = None,
    dtype: Any = "float32",
    zero_based: bool = False,
) -> Source:
    """A source of the rows of svmlight (libsvm) files, as CSR rows.

    Parameters
    ----------
    path : path or list of paths
        Files that are not compressed.
    n_features : int or None, default=None
        Columns of a row. None reads all files once to find the largest number.
    block_rows : int or None, default=None
        Rows of a block. None stands for 50,000.
    dtype : dtype, default="float32"
        Precision in which rows are given out.
    zero_based : bool, default=False
        Whether the first column has the number 0.

    Returns
    -------
    SvmlightBlocks
        Can be iterated again and again; ``fit`` of a method that streams takes it.
    """
    files = [path] if isinstance(path, str | os.PathLike) else list(path)
    files = [Path(one) for one in files]
    for one in files:
        if not one.is_file():
            raise FileNotFoundError(f"{one}: there is no such file.")
        if one.suffix in (".gz", ".bz2"):
            raise ValueError(f"{one}: a compressed file has no places to begin at; unpack it.")
    rows = checked_rows(block_rows) or _USUAL_ROWS
    if n_features is None:
        sizes = SvmlightBlocks(files, None, rows, np.dtype(dtype), zero_based)
        n_features = max((block.X.shape[1] for block in sizes), default=0)
    if n_features < 1:
        raise ValueError(f"{path}: the file has no rows with a feature.")
    return SvmlightBlocks(files, n_features, rows, np.dtype(dtype), zero_based)


def _starts(path):
    return range(0, max(1, os.path.getsize(path)), _PART_BYTES)


def _lines(path, start, stop):
    """The lines that begin in a stretch of a file."""
    with open(path, "rb") as file:
        if start:
            file.seek(start - 1)
            file.readline()  # its beginning lies in the stretch before
        start = file.tell()
        if start >= stop:
            return b""
        text = file.read(stop - start)
        return text if text.endswith(b"\n") else text + file.readline()
