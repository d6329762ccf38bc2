"""Rows in blocks: what a source is, blocks of one size, and reading while others compute.

A source is anything that can be iterated again and again and then yields the same blocks: (X, y) or
(X, y, weight), each with some rows. A list of such blocks is one. What reads files here has more:
its rows lie in ``n_parts`` parts, and ``part(number)`` yields the blocks of one. All parts in their
order are all rows, and parts can be had in any order. Where a row's bytes are known before one is
read, ``row_bytes`` has them.
"""

import queue
import threading
from typing import NamedTuple

import narwhals as nw
import numpy as np
from scipy.sparse import issparse, vstack

from .._config import with_caller_context

BLOCK_BYTES = 1 << 26  # of a block, where nobody says how many rows it has
_LEAST_ROWS = 256


class Block(NamedTuple):
    """Some rows, what is to be learned of them, and their weights, or None if all are 1."""

    X: object
    y: np.ndarray
    weight: np.ndarray | None = None

    def take(self, rows):
        weight = None if self.weight is None else self.weight[rows]
        return Block(_taken(self.X, rows), self.y[rows], weight)


def _taken(X, rows):
    if isinstance(X, np.ndarray) or issparse(X):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return nw.from_native(X, eager_only=True)[rows].to_native()  # of a table of any library


def stacked(parts):
    """Rows below each other, of arrays, CSR rows or tables; tables keep their names."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if issparse(parts[0]):
        return vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):  # whose types may differ between blocks
        from pandas import concat

        return concat(parts)
    return nw.concat([nw.from_native(one, eager_only=True) for one in parts]).to_native()


def joined(blocks):
    """Blocks below each other; all of them have weights, or none has."""
    weights = [block.weight for block in blocks]
    return Block(
        stacked([block.X for block in blocks]), np.concatenate([block.y for block in blocks]),
        None if weights[0] is None else np.concatenate(weights),
    )  # fmt: skip


def is_source(thing):
    """Whether rows come in blocks: an iterable that is no array, table or list of rows."""
    if hasattr(thing, "part") and hasattr(thing, "n_parts"):
        return True
    if isinstance(thing, str | bytes | dict) or not hasattr(thing, "__iter__"):
        return False
    if isinstance(thing, list | tuple):
        return bool(thing) and _is_block(thing[0])
    return not any(hasattr(thing, name) for name in ("shape", "__array__", "__dataframe__"))


def _is_block(thing):
    is_pair = isinstance(thing, tuple) and len(thing) in (2, 3)
    return is_pair and len(getattr(thing[0], "shape", ())) == 2


class Parted:
    """Any source as one of parts; what has none is one part."""

    def __init__(self, source):
        if hasattr(source, "__next__"):
            raise ValueError(
                "A generator yields its blocks once, and a fit reads them several times: give a "
                "list of blocks, or an object whose __iter__ begins anew."
            )
        self._source = source
        self.n_parts = getattr(source, "n_parts", 1)
        self.block_rows = getattr(source, "block_rows", None)

    def part(self, number):
        blocks = self._source.part(number) if hasattr(self._source, "part") else self._source
        for block in blocks:
            if not (isinstance(block, tuple) and len(block) in (2, 3)):
                raise ValueError(
                    f"A source of rows yields blocks (X, y) or (X, y, weight), not "
                    f"{type(block).__name__}."
                )
            X, *rest = block
            yield Block(X, *(None if one is None else np.asarray(one) for one in rest))


def usual_rows(n_features, itemsize):
    """How many rows a block has where nobody says it."""
    return max(_LEAST_ROWS, BLOCK_BYTES // max(1, n_features * itemsize))


def regrouped(blocks, n_rows):
    """The same rows in blocks of ``n_rows``, the last of them with what is left.

    Dense rows are put where they will stay: beside the block that is filled there is one given.
    """
    filled, pieces = 0, _Pieces(n_rows)
    for block in blocks:
        start, size = 0, block.X.shape[0]
        while start < size:
            stop = min(size, start + n_rows - filled)
            pieces.add(block.take(slice(start, stop)))
            filled, start = filled + stop - start, stop
            if filled == n_rows:
                yield pieces.joined()
                filled, pieces = 0, _Pieces(n_rows)
    if filled:
        yield pieces.joined()


class _Pieces:
    """A block that is being filled."""

    def __init__(self, n_rows):
        self._n_rows, self._X, self._sparse, self._rest, self._filled = n_rows, None, [], [], 0

    def add(self, piece):
        self._rest.append(piece[1:])
        if issparse(piece.X):
            self._sparse.append(piece.X)
            return
        size = len(piece.X)
        if self._X is None:
            if size == self._n_rows:
                self._X, self._filled = piece.X, size
                return
            self._X = np.empty((self._n_rows, piece.X.shape[1]), dtype=piece.X.dtype)
        self._X[self._filled : self._filled + size] = piece.X
        self._filled += size

    def joined(self):
        X = vstack(self._sparse, format="csr") if self._sparse else self._X[: self._filled]
        y = np.concatenate([y for y, _ in self._rest])
        weights = [
            np.ones(len(y)) if weight is None else np.asarray(weight) for y, weight in self._rest
        ]
        has_weights = any(weight is not None for _, weight in self._rest)
        return Block(X, y, np.concatenate(weights) if has_weights else None)


def read_ahead(blocks):
    """The same blocks, of which the next is read while the caller works on the last one.

    One thread reads. It begins with a block when the one before has been taken, so there are two at
    most: that of the caller and that of the thread.
    """
    wanted, ready = queue.Queue(), queue.Queue()

    def read():
        blocks_left = iter(blocks)
        try:
            while wanted.get():
                try:
                    ready.put((next(blocks_left), None))
                except StopIteration:
                    ready.put((None, None))
                    return
                except BaseException as error:  # the caller's thread raises it
                    ready.put((None, error))
                    return
        finally:
            getattr(blocks_left, "close", lambda: None)()

    read = with_caller_context(read)
    reader = threading.Thread(target=read, name="nearlinear-reader", daemon=True)
    reader.start()
    try:
        wanted.put(True)
        while True:
            block, error = ready.get()
            if error is not None:
                raise error
            if block is None:
                return
            wanted.put(True)
            yield block
            del block
    finally:
        wanted.put(False)
        reader.join()


def shuffled(source, n_rows, seed, change=None):
    """Blocks of ``n_rows`` in an order that the seed tells, read ahead.

    The parts of a source come in random order, one behind the other; a block takes as many of them
    as fill it. Its rows are put in random order by who learns from them. So rows of a block come
    from several places where parts are smaller than blocks, and a source of one part keeps its
    order, but for that of rows within a block. ``change(block, part, row)`` is what becomes of a
    block whose first row is number ``row`` of its part; None drops it.
    """
    order = np.random.default_rng(seed).permutation(source.n_parts)

    def pieces():
        for part in order:
            row = 0
            for block in source.part(part):
                first, row = row, row + block.X.shape[0]
                changed = block if change is None else change(block, part, first)
                if changed is not None and changed.X.shape[0]:
                    yield changed

    return read_ahead(regrouped(pieces(), n_rows))
