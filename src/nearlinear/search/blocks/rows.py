"""All rows of a source, encoded: what chosen models are fitted to, a block at a time."""

from dataclasses import dataclass, field, replace

import numpy as np

from ...estimators._base.blocks.rows import BlockRows
from ...estimators._base.task import Classification, Regression
from ...estimators._base.values.units import TargetUnits
from ...streams.blocks import Block, Parted, joined
from ...streams.spool import Spool
from ...streams.survey import Survey, row_ranks


class Encoded:
    """A source as models take it: encoded rows, places of classes or values, weights of classes."""

    def __init__(self, source, encode, labels, factors, starts, dtype):
        self._source, self._encode, self._labels = source, encode, labels
        self._factors, self._starts, self._dtype = factors, starts, dtype
        self.n_parts, self.block_rows = source.n_parts, source.block_rows

    def part(self, number):
        row = int(self._starts[number])
        for block in self._source.part(number):
            X = self._encode(block.X, row).astype(self._dtype)
            row += X.shape[0]
            yield Block(X, *answers_of(block, self._labels, self._factors))

    def __iter__(self):
        for number in range(self.n_parts):
            yield from self.part(number)


def answers_of(block, labels, factors):
    """Places of classes, or values, and weights with those of the classes; None if all are 1."""
    weight = None if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    if labels is None:
        return np.asarray(block.y, dtype=np.float64), weight
    codes = np.array([labels[one] for one in np.asarray(block.y).tolist()], dtype=np.int32)
    if factors is not None:
        weight = factors[codes] if weight is None else weight * factors[codes]
    return codes, weight


@dataclass(frozen=True)
class AllRows:
    """Encoded rows with what their weights and values add up to.

    ``center`` and ``spread`` are of values. Rows whose ranks are ``left_out`` do not count.
    """

    source: object
    n_rows: int
    part_starts: np.ndarray
    n_features: int
    n_classes: int | None
    total_weight: float
    has_even_weights: bool
    center: float
    spread: float
    block_rows: int
    seed: int
    left_out: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def without(self, ranks, weight):
        """All rows but those of the lowest ranks, which weigh so much."""
        return replace(self, left_out=ranks, total_weight=self.total_weight - weight)

    @property
    def is_of_classes(self):
        return self.n_classes is not None

    def blocks(self, number=0):
        """(X, targets, weights) in blocks, in an order that the number tells."""
        rows = self._rows
        for X, targets, weight in rows.epoch(number):
            yield X, targets, weight * rows.mean_weight

    def drawn(self, low, share):
        """Rows whose ranks are above ``low`` and among a share of all: X, answers, weights."""
        high, found = min(int(share * 2.0**64), 2**64 - 1), []
        for part, row in enumerate(self.part_starts.tolist()):
            for block in self.source.part(part):
                ranks = row_ranks(row, len(block.y), self.seed)
                row += len(ranks)
                found.append(block.take((ranks > low) & (ranks <= np.uint64(high))))
        return joined(found)

    def labels_of(self, targets):
        """Places of classes, of their ±1 targets."""
        if self.n_classes == 2:
            return (targets[:, 0] > 0).astype(np.intp)
        return targets.argmax(axis=1)

    @property
    def _rows(self):
        nothing = Block(np.empty((0, self.n_features)), np.empty(0))
        survey = Survey(self.n_rows, self.part_starts, nothing, np.empty(0, np.intp), self.left_out)
        if self.is_of_classes:
            task, factors = Classification(np.arange(self.n_classes)), np.ones(self.n_classes)
        else:
            task, factors = Regression(TargetUnits()), None
        return BlockRows(
            Parted(self.source), lambda block, row: block, survey, task, factors, {},
            self.total_weight, self.block_rows, self.seed, n_held=len(self.left_out),
        )  # fmt: skip


class Sums:
    """What weights and values of all rows add up to, as they go by."""

    def __init__(self):
        self.n_rows, self.weight, self.low, self.high = 0, 0.0, np.inf, -np.inf
        self.mean = self.squares = 0.0

    def add(self, y, weight):
        weight = np.ones(len(y)) if weight is None else weight
        if not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError("weights are numbers of 0 or more, one for each row")
        self.n_rows += len(y)
        self.low, self.high = min(self.low, weight.min()), max(self.high, weight.max())
        added = weight.sum()
        if added == 0:
            return
        mean = float(np.average(y, weights=weight))
        squares = float(weight @ (y - mean) ** 2)
        whole, apart = self.weight + added, mean - self.mean  # as Chan, Golub and LeVeque join them
        self.squares += squares + apart**2 * self.weight * added / whole
        self.mean += apart * added / whole
        self.weight = whole

    @property
    def spread(self):
        return float(np.sqrt(self.squares / self.weight)) or 1.0


def spooled(encoded, encoding, dtype, is_of_classes, block_rows):
    """Rows written once to files without names, scaled by what all of them have; and their sums."""
    spool, sums = Spool(dtype, np.int32 if is_of_classes else np.float64, block_rows), Sums()
    for block in encoded:
        spool.append(*block)
        sums.add(block.y, block.weight)
    scaling = encoding.settle()
    if scaling is not None:
        spool.rescale(*scaling)
    return spool, sums
