"""Rows that were worked on once, in files: read again and again without that work."""

import shutil
import tempfile
from threading import Lock

import numpy as np

from .arrays import PARTS_OF_BLOCK
from .blocks import Block

_SPARE = 1 << 28  # bytes of the disk that are left alone


class Spool:
    """Dense rows with y and weights, appended block by block, then read in parts.

    The files have no names, so that nothing is left of them when the process ends, however it
    does. Reading takes no more memory than a part.
    """

    def __init__(self, dtype, y_dtype, block_rows):
        self.dtype, self.block_rows, self._lock = np.dtype(dtype), block_rows, Lock()
        self._types = {"X": self.dtype, "y": np.dtype(y_dtype), "weight": np.dtype(np.float64)}
        self._files = {name: tempfile.TemporaryFile() for name in self._types}  # noqa: SIM115
        self._step = max(1, block_rows // PARTS_OF_BLOCK)
        self.n_rows, self.n_features, self._has_weights = 0, None, False
        self._shift = self._scale = None

    @property
    def n_parts(self):
        return -(-self.n_rows // self._step)

    @property
    def part_starts(self):
        return self._step * np.arange(self.n_parts)

    def append(self, X, y, weight):
        """Further rows; refused where the disk has no room for them."""
        self.n_features, self._has_weights = X.shape[1], weight is not None
        folder = tempfile.gettempdir()
        if shutil.disk_usage(folder).free - X.size * self.dtype.itemsize < _SPARE:
            raise OSError(
                f"{folder}: the disk has no room left for encoded rows, of which {self.n_rows:,} "
                "are written: name another folder by the variable TMPDIR."
            )
        for name, array in (("X", X), ("y", y), ("weight", weight)):
            if array is not None:
                np.ascontiguousarray(array, dtype=self._types[name]).tofile(self._files[name])
        self.n_rows += X.shape[0]

    def rescale(self, shift, scale):
        """From now on rows are (X - shift) / scale."""
        self._shift, self._scale = shift, scale

    def part(self, number):
        first = number * self._step
        yield self.stretch(first, min(self._step, self.n_rows - first))

    def stretch(self, first, n_rows):
        """Rows that follow each other."""
        X = self._read("X", first, n_rows, self.n_features).reshape(n_rows, self.n_features)
        if self._shift is not None:
            X = ((X - self._shift) / self._scale).astype(self.dtype)
        weight = self._read("weight", first, n_rows) if self._has_weights else None
        return Block(X, self._read("y", first, n_rows), weight)

    def rows(self, numbers):
        """X of some rows, in the order of their numbers, which rise."""
        found, first = [], 0
        for start in self.part_starts:
            last = np.searchsorted(numbers, start + self._step)
            if last > first:
                block = self.stretch(start, min(self._step, self.n_rows - start))
                found.append(block.X[numbers[first:last] - start])
            first = last
        return np.concatenate(found)

    def _read(self, name, first, n_rows, width=1):
        dtype, file = self._types[name], self._files[name]
        with self._lock:
            file.seek(first * width * dtype.itemsize)
            return np.fromfile(file, dtype, n_rows * width)

    def close(self):
        """Give the room on the disk back."""
        for file in self._files.values():
            file.close()

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)
