"""One pass over all rows of a source: how many there are, and some of them at random.

Rows are ranked by a hash of their number and the seed. The rows of the lowest ranks are the sample:
which they are depends neither on the blocks nor on the order in which parts are read.
"""

from dataclasses import dataclass, field

import numpy as np

from .blocks import Block, joined, read_ahead

_SPARE = 1.25  # rows held before those that rank too high are dropped, as a share of the sample


@dataclass(frozen=True)
class Survey:
    """What one pass has found; ``ranks`` of the sample rise."""

    n_rows: int
    part_starts: np.ndarray  # the number of the first row of each part
    sample: Block
    numbers: np.ndarray  # of the sample's rows
    ranks: np.ndarray
    strata: dict = field(
        default_factory=dict
    )  # the lowest ranks of each label: block, numbers, ranks


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


def survey_rows(source, n_sample, seed, see, n_of_label=0):
    """A ``Survey`` of a source of parts; ``see(block, row)`` gives each block as it is kept.

    ``row`` is the number of its first row. ``n_sample(block)`` says, of the first block, how many
    rows the sample has at most; so many rows of each label are kept in any case.
    """
    starts, chosen, row = np.zeros(source.n_parts, dtype=np.int64), None, 0
    strata = Strata(n_of_label) if n_of_label else None

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
            chosen = Chosen(n_sample(block))
        ranks = row_ranks(row, block.X.shape[0], seed)
        numbers = np.arange(row, row + len(ranks))
        chosen.add(block, numbers, ranks)
        if strata is not None:
            strata.add(block, numbers, ranks)
        row += len(ranks)
    starts[last + 1 :] = row
    if chosen is None:
        raise ValueError("The source has no rows.")
    return Survey(row, starts, *chosen.settled(), {} if strata is None else strata.settled())


class Chosen:
    """The rows of the lowest ranks so far, and some more."""

    def __init__(self, size):
        self._size, self.bound = size, np.iinfo(np.uint64).max
        self._blocks, self._numbers, self._ranks, self._held = [], [], [], 0

    def add(self, block, numbers, ranks):
        rows = np.flatnonzero(ranks <= self.bound)
        # at most a sample's worth at once: the first block may be much larger
        if len(rows) > self._size:
            rows = np.sort(rows[np.argpartition(ranks[rows], self._size - 1)[: self._size]])
        if not len(rows):
            return
        self._blocks.append(block.take(rows))
        self._numbers.append(numbers[rows])
        self._ranks.append(ranks[rows])
        self._held += len(rows)
        if self._held > _SPARE * self._size:
            self._shrink()

    def _shrink(self):
        block, numbers, ranks = self._joined()
        kept = np.argsort(ranks, kind="stable")[: self._size]
        self.bound, self._held = ranks[kept[-1]], len(kept)
        self._blocks, self._numbers, self._ranks = (
            [block.take(kept)],
            [numbers[kept]],
            [ranks[kept]],
        )

    def _joined(self):
        return joined(self._blocks), np.concatenate(self._numbers), np.concatenate(self._ranks)

    def settled(self):
        """Sample, numbers of its rows and their ranks, lowest first."""
        self._shrink()
        (block,), (numbers,), (ranks,) = self._blocks, self._numbers, self._ranks
        return block, numbers, ranks


class Strata:
    """The rows of the lowest ranks of each label."""

    def __init__(self, size):
        self._size, self._of = size, {}

    def add(self, block, numbers, ranks):
        names, labels = np.unique(block.y, return_inverse=True)
        own = [self._of.setdefault(name, Chosen(self._size)) for name in names.tolist()]
        bounds = np.array([one.bound for one in own], dtype=np.uint64)
        rows = np.flatnonzero(ranks <= bounds[labels])
        for label in np.unique(labels[rows]):
            there = rows[labels[rows] == label]
            own[label].add(block.take(there), numbers[there], ranks[there])

    def settled(self):
        return {name: chosen.settled() for name, chosen in self._of.items()}
