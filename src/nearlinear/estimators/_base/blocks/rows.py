"""Rows of a source as an estimator trains on them: checked, with targets, some held out."""

import hashlib
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import issparse

from ....streams.blocks import Parted, shuffled
from ....streams.survey import Survey, row_ranks
from ..rows import TrainingRows
from ..task import Regression
from .memory import blocks_memory, row_bytes

# The most rows of which a fit takes what need not be exact, and that it holds out; a block's worth
# and half of it where that is less.
SAMPLE, HELD_OUT = 20_000, 10_000
OF_CLASS = 50  # rows of any class, if it has as many, in a sample of strata


@dataclass(frozen=True)
class RowRules:
    """How rows of a block become training rows; rows that rank up to ``bound`` are held out."""

    checks: object
    task: object
    factors: np.ndarray | None  # of the classes' weights
    names: dict
    seed: int
    bound: np.uint64 | None = None

    def kept(self, block, row):
        """A block, checked, without what is held out; ``row`` is the number of its first row."""
        block = self.checks(block, row)
        if self.bound is None:
            return block
        kept = row_ranks(row, block.X.shape[0], self.seed) > self.bound
        return block if kept.all() else block.take(np.flatnonzero(kept))

    def rows(self, block):
        n_rows = block.X.shape[0]
        weight = np.ones(n_rows) if block.weight is None else block.weight
        labels = np.zeros(n_rows, dtype=np.intp)
        if self.factors is None:
            targets = block.y[:, None].astype(block.X.dtype)
        else:
            labels = np.searchsorted(self.task.classes, block.y)
            known = self.task.classes[np.minimum(labels, len(self.task.classes) - 1)] == block.y
            if not np.all(known):
                raise ValueError(
                    f"The source gave the label {block.y[~known].tolist()[0]!r} now and not "
                    "before: it must yield the same rows each time."
                )
            weight = weight * self.factors[labels]
            targets = self.task.targets(labels, block.X.dtype)
        return TrainingRows(block.X, labels, targets, weight, n_rows, self.task, self.names)


@dataclass(frozen=True)
class BlockRows:
    """All rows of a source but those that are held out."""

    source: Parted
    checks: object
    survey: Survey
    task: object
    factors: np.ndarray | None  # of the classes' weights
    names: dict
    total_weight: float
    block_rows: int
    seed: int
    masses: np.ndarray | None = None  # the sum of the weights of each class, as they were given
    n_held: int = 0

    @property
    def attributes(self):
        return {**self.names, **self.task.attributes}

    @property
    def n_rows(self):
        return self.survey.n_rows - self.n_held

    @property
    def n_features(self):
        return self.survey.sample.X.shape[1]

    @property
    def mean_weight(self):
        return self.total_weight / self.n_rows

    @property
    def rules(self):
        bound = self.survey.ranks[self.n_held - 1] if self.n_held else None
        return RowRules(self.checks, self.task, self.factors, self.names, self.seed, bound)

    @property
    def memory(self):
        """Bytes of the blocks that are there at once, and of what the survey has kept."""
        n_bytes = row_bytes(self.survey.sample.X)
        return blocks_memory(self.block_rows, n_bytes) + n_bytes * len(self.survey.ranks)

    @property
    def is_whole(self):
        """Whether the sample has all rows."""
        return len(self.survey.ranks) == self.survey.n_rows

    def in_order(self):
        """All rows, where the sample has them: X, y and weights, as they come."""
        return self.survey.sample.take(np.argsort(self.survey.numbers))

    def split(self, fraction):
        """These rows without a part, and that part; None where it would be tiny."""
        most = len(self.survey.ranks) // 3
        n_held = min(round(fraction * self.survey.n_rows), most, HELD_OUT)
        if n_held < 10:
            return self, None
        held = self.rules.rows(self.survey.sample.take(np.arange(n_held)))
        left = self.total_weight - held.weight.sum()
        return replace(self, n_held=n_held, total_weight=left), held

    def sample(self):
        """Some training rows, merged, that stand for all."""
        kept = np.arange(self.n_held, min(len(self.survey.ranks), self.n_held + SAMPLE))
        return self._merged(self.rules.rows(self.survey.sample.take(kept)))

    def stratified_sample(self):
        """All training rows that the survey has kept, with some of every class.

        Rows of a class that is rare are as many as it takes; together they weigh as they would if
        the class had its proportion.
        """
        kept = self.survey.sample.take(np.arange(self.n_held, len(self.survey.ranks)))
        known, parts = self.survey.numbers[self.n_held :], [self.rules.rows(kept)]
        share = len(known) / self.n_rows
        bound = self.survey.ranks[self.n_held - 1] if self.n_held else None
        for label, (block, numbers, ranks) in self.survey.strata.items():
            number = np.searchsorted(self.task.classes, label)
            own = np.flatnonzero(parts[0].labels == number)
            if len(own) >= OF_CLASS or len(own) >= len(numbers):
                continue
            is_new = ~np.isin(numbers, known)
            if bound is not None and (is_new & (ranks > bound)).any():
                is_new &= ranks > bound  # but a class that was held out whole is learned from, too
            more = self.rules.rows(block.take(np.flatnonzero(is_new)))
            mass = parts[0].weight[own].sum() + more.weight.sum()
            factor = share * self.masses[number] * self.factors[number] / mass if mass else 1.0
            parts[0].weight[own] *= factor
            parts.append(replace(more, weight=more.weight * factor))
        return self._merged(_joined(parts))

    def _merged(self, rows):
        numbers = None
        if isinstance(self.task, Regression):
            numbers = np.unique(rows.targets[:, 0], return_inverse=True)[1]
        return replace(rows.merged(numbers), n_all=self.n_rows)

    def rows_a_step(self, batch_size):
        """Rows of a mini-batch; fewer where others learn beside, and are averaged."""
        return batch_size

    def count_batches(self, batch_size):
        """Mini-batches of an epoch: no batch has rows of two blocks."""
        whole, rest = divmod(self.n_rows, self.block_rows)
        return whole * -(-self.block_rows // batch_size) + -(-rest // batch_size)

    def lessons(self, training, take):
        """What gives the items of an epoch, by its number, and what a training does with one."""
        return self.epoch, partial(take, training)

    def epoch(self, number):
        """Yields (X, targets, weights of mean 1) of all training rows, in blocks."""
        rules, mean, n_rows = self.rules, self.mean_weight, 0

        def change(block, part, row):
            return rules.kept(block, int(self.survey.part_starts[part]) + row)

        for block in shuffled(self.source, self.block_rows, [self.seed, number], change):
            n_rows += block.X.shape[0]
            rows = rules.rows(block)
            del block
            yield rows.X, rows.targets, rows.weight / mean
        if n_rows != self.n_rows:
            raise ValueError(
                f"The source gave {n_rows + self.n_held} rows now and {self.survey.n_rows} before: "
                "it must yield the same rows each time."
            )

    @property
    def fingerprint(self):
        """What tells these rows from others, for a checkpoint."""
        X = self.survey.sample.X
        told = hashlib.sha256((X.data if issparse(X) else np.ascontiguousarray(X)).tobytes())
        told.update(str(self.survey.sample.y.tolist()).encode())
        return {"rows": self.survey.n_rows, "block_rows": self.block_rows, "of": told.hexdigest()}


def _joined(parts):
    """Rows one after another."""
    if len(parts) == 1:
        return parts[0]
    names = ("X", "labels", "targets", "weight")
    found = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    return replace(parts[0], **found, n_distinct=len(found["labels"]))
