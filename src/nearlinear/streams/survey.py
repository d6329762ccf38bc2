"""One pass over all rows of a source: how many there are, and some of them at random.

Rows are ranked by a hash of their number and the seed. The rows of the lowest ranks are the sample:
which they are depends neither on the blocks nor on the order in which parts are read.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse, vstack

from .blocks import Block, read_ahead

_SPARE = 1.25  # rows held before those that rank too high are dropped, as a share of the sample


@dataclass(frozen=True)
class Survey:
    """What one pass has found; ``ranks`` of the sample rise."""

    n_rows: int
    part_starts: np.ndarray  # the number of the first row of each part
    sample: Block
    numbers: np.ndarray  # of the sample's rows
    ranks: np.ndarray


def row_ranks(first, n_rows, seed):
    """Ranks of rows ``first``, ``first + 1``, ...: uint64, as good as random."""
    numbers = np.arange(first, first + n_rows, dtype=np.uint64)
    with np.errstate(over="ignore"):
        bits = numbers + np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
        # the finalizer of SplitMix64, twice, so that the seed reaches all bits
        for _ in range(2):
            bits = bits + np.uint64(0x9E3779B97F4A7C15)
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bits = bits ^ (bits >> np.uint64(31))
    return bits


def survey_rows(source, n_sample, seed, see):
    """A ``Survey`` of a source of parts; ``see(block, row)`` gives each block as it is kept.

    ``row`` is the number of its first row. ``n_sample(block)`` says, of the first block, how many
    rows the sample has at most.
    """
    starts, chosen, row = np.zeros(source.n_parts, dtype=np.int64), None, 0

    def blocks():
        for part in range(source.n_parts):
            for block in source.part(part):
                yield part, block

    last = -1
    for part, block in read_ahead(blocks()):
        starts[last + 1 : part + 1] = row
        last = part
        if block.X.shape[0] == 0:
            continue
        block = see(block, row)
        if chosen is None:
            chosen = _Chosen(n_sample(block))
        chosen.add(block, row, row_ranks(row, block.X.shape[0], seed))
        row += block.X.shape[0]
    starts[last + 1 :] = row
    if chosen is None:
        raise ValueError("The source has no rows.")
    return Survey(row, starts, *chosen.settled())


class _Chosen:
    """The rows of the lowest ranks so far, and some more."""

    def __init__(self, size):
        self._size, self._bound = size, np.iinfo(np.uint64).max
        self._blocks, self._numbers, self._ranks, self._held = [], [], [], 0

    def add(self, block, row, ranks):
        rows = np.flatnonzero(ranks <= self._bound)
        # at most a sample's worth at once: the first block may be much larger
        if len(rows) > self._size:
            rows = np.sort(rows[np.argpartition(ranks[rows], self._size - 1)[: self._size]])
        if not len(rows):
            return
        self._blocks.append(block.take(rows))
        self._numbers.append(rows + row)
        self._ranks.append(ranks[rows])
        self._held += len(rows)
        if self._held > _SPARE * self._size:
            self._shrink()

    def _shrink(self):
        block, numbers, ranks = self._joined()
        kept = np.argsort(ranks, kind="stable")[: self._size]
        self._bound, self._held = ranks[kept[-1]], len(kept)
        self._blocks, self._numbers, self._ranks = (
            [block.take(kept)],
            [numbers[kept]],
            [ranks[kept]],
        )

    def _joined(self):
        block = joined_blocks(self._blocks)
        return block, np.concatenate(self._numbers), np.concatenate(self._ranks)

    def settled(self):
        """Sample, numbers of its rows and their ranks, lowest first."""
        self._shrink()
        (block,), (numbers,), (ranks,) = self._blocks, self._numbers, self._ranks
        return block, numbers, ranks


def joined_blocks(blocks):
    """One block of the rows of several; all have weights, or none has."""
    X = _stacked([block.X for block in blocks])
    y = np.concatenate([block.y for block in blocks])
    weight = None
    if blocks[0].weight is not None:
        weight = np.concatenate([block.weight for block in blocks])
    return Block(X, y, weight)


def _stacked(parts):
    if issparse(parts[0]):
        return vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):  # tables, which keep their names
        from pandas import concat

        return concat(parts)
    return np.concatenate(parts)
