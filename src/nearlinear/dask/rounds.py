"""Rounds of training: partitions learn from the same parameters, side by side, and are averaged.

An epoch goes over all partitions in an order that the seed tells. ``per_round`` of them make a
round: each is one task, which starts from the parameters that the round was given, takes steps over
its rows as a fit to blocks would, and returns its parameters. Their mean, weighted by the rows, is
what the next round starts from. What travels is the state of the training, never a row. With one
partition a round this is the fit to blocks, one block a partition.
"""

import pickle
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._compile import one_blas_thread
from ..estimators._base.blocks.rows import BlockRows
from .required import cloudpickle
from .tasks import Tasks

# The mean of passes that ran far from each other is worth little: so many steps of a pass, and so
# many rows of a round, but an epoch has no more rounds, and no fewer, than that.
_STEPS, _ROWS_OF_ROUND, _FEWEST_ROUNDS, _MOST_ROUNDS = 8, 2048, 8, 256


@dataclass(frozen=True)
class PartitionRows:
    """What ``BlockRows`` is, of rows that lie in the cluster; a round stands for a block."""

    surveyed: BlockRows
    parts: list  # futures of blocks
    tasks: Tasks
    per_round: int
    log: list  # of what each round has sent, in bytes

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.surveyed, name)

    @property
    def sizes(self):
        starts = self.survey.part_starts
        return np.diff(starts, append=self.survey.n_rows)

    def split(self, fraction):
        rows, held = self.surveyed.split(fraction)
        return replace(self, surveyed=rows), held

    @property
    def n_rounds(self):
        """Rounds of an epoch, nearly."""
        return float(np.clip(self.n_rows / _ROWS_OF_ROUND, _FEWEST_ROUNDS, _MOST_ROUNDS))

    def rows_a_step(self, batch_size):
        """Batches of 1/S where S passes are averaged after few steps; of long passes larger ones.

        Steps of Adam grow by the root of what batches shrink: then the mean of S passes drifts as
        fast, and is as noisy, as one process is.
        """
        of_pass = self.n_rows / (self.n_rounds * self.per_round)
        least = -(-batch_size // self.per_round)
        return int(np.clip(of_pass / _STEPS, least, batch_size))

    def count_batches(self, batch_size):
        """Mini-batches of an epoch that come one after the other."""
        rounds = self._rounds(0)
        return sum(max(-(-(end - first) // batch_size) for _, first, end in one) for one in rounds)

    @property
    def fingerprint(self):
        return self.surveyed.fingerprint | {"per_round": self.per_round}

    def epoch(self, number):
        """Yields the rounds of an epoch: its number and that of the round, and what learns then."""
        for place, pieces in enumerate(self._rounds(number)):
            yield number, place, pieces

    def _rounds(self, number):
        """Pieces of partitions, as (partition, first row, end), for each round of an epoch.

        Pieces of a round are of several partitions, so that no worker waits for another one.
        """
        parts = np.flatnonzero(self.sizes)
        n_pieces = max(1, round(self.n_rounds * self.per_round / len(parts)))
        rng = np.random.default_rng([self.seed, number])
        bounds = {
            part: np.linspace(0, self.sizes[part], n_pieces + 1).astype(int).tolist()
            for part in parts.tolist()
        }
        orders = {part: rng.permutation(n_pieces).tolist() for part in bounds}
        pieces = [
            (part, *bounds[part][orders[part][turn] :][:2])
            for turn in range(n_pieces)
            for part in rng.permutation(parts).tolist()
        ]
        n_rounds = -(-len(pieces) // self.per_round)
        ends = np.linspace(0, len(pieces), n_rounds + 1).astype(int)
        return [pieces[first:end] for first, end in pairwise(ends)]

    def lessons(self, training, take):
        """What an epoch goes through: one pass of all partitions for sums, or rounds of steps."""
        tasks = self.tasks
        rules = tasks.held((self.rules, self.mean_weight))
        if hasattr(training, "statistics"):
            return lambda epoch: [()], Sums(self, training, tasks.held(training.statistics), rules)
        skeleton = cloudpickle.dumps((training.apart(), take))
        return self.epoch, Means(self, training, tasks.held(skeleton), rules)


@dataclass(frozen=True)
class Means:
    """Takes rounds of steps: every piece from the same state, and then their mean."""

    rows: PartitionRows
    training: object
    skeleton: object  # futures
    rules: object

    def __call__(self, epoch, number, pieces):
        rows, training, tasks = self.rows, self.training, self.rows.tasks
        arrays, plain = training.share()
        plain = plain | {name: 0.0 * plain[name] for name in _TOTALS & plain.keys()}
        state = tasks.held((arrays, plain))
        futures = [
            tasks.submit(
                local_pass, self.skeleton, self.rules, state, rows.parts[part], first, end,
                int(rows.survey.part_starts[part]), [rows.seed, epoch, number, part, first],
            )
            for part, first, end in pieces
        ]  # fmt: skip
        found = tasks.total(add_passes, futures)
        if found is None:  # all of its rows are held out
            return
        before = training.share()[1]
        plain = found.plain | {name: before[name] + value for name, value in found.totals.items()}
        arrays = {name: array / found.weight for name, array in found.arrays.items()}
        training.rejoin(arrays, plain | {"rng": before["rng"]})
        rows.log.append(sum(array.nbytes for array in arrays.values()))


@dataclass(frozen=True)
class Sums:
    """Takes a pass: the statistics of all partitions, added up."""

    rows: PartitionRows
    training: object
    statistics: object  # futures
    rules: object

    def __call__(self):
        rows, training, tasks = self.rows, self.training, self.rows.tasks
        asked = tasks.held(training.asked)
        futures = [
            tasks.submit(
                statistics_of, self.statistics, self.rules, asked, rows.parts[part],
                int(rows.survey.part_starts[part]),
            )
            for part in np.flatnonzero(rows.sizes).tolist()
        ]  # fmt: skip
        found = tasks.total(add_statistics, futures, self.statistics)
        training.add(found)
        rows.log.append(sum(getattr(one, "nbytes", 0) for one in vars(found).values()))


_TOTALS = {"total", "_total"}  # of the loss: those of partitions add up


class Pass(NamedTuple):
    """What steps over some pieces have come to."""

    weight: float
    arrays: dict  # of the state, times the weight
    n_rows: int
    plain: dict  # the rest of the state, of the piece with most rows
    totals: dict


def local_pass(skeleton, rules, state, block, first, end, row, seed):
    """Steps over rows ``first`` to ``end`` of a partition whose first row is number ``row``."""
    rules, mean = rules
    rows = rules.rows(rules.kept(block.take(slice(first, end)), row + first))
    weight = float(rows.weight.sum())
    if not weight > 0:
        return None
    (arrays, plain), (training, take) = state, pickle.loads(skeleton)
    training.restore(arrays, plain | {"rng": np.random.default_rng(seed).bit_generator.state})
    with one_blas_thread():
        take(training, rows.X, rows.targets, rows.weight / mean)
    arrays, plain = training.share()
    arrays = {name: weight * array for name, array in arrays.items()}
    totals = {name: plain[name] for name in _TOTALS & plain.keys()}
    return Pass(weight, arrays, len(rows.weight), plain, totals)


def add_passes(found):
    """Passes as one; the place in the schedule is that of the longest."""
    found = [one for one in found if one is not None]
    if not found:
        return None
    longest = max(found, key=lambda one: one.n_rows)
    return Pass(
        sum(one.weight for one in found),
        {name: sum(one.arrays[name] for one in found) for name in longest.arrays},
        longest.n_rows,
        longest.plain,
        {name: sum(one.totals[name] for one in found) for name in longest.totals},
    )


def statistics_of(statistics, rules, asked, block, row):
    """The statistics of a partition; None if all of its rows are held out."""
    rules, mean = rules
    rows = rules.rows(rules.kept(block, row))
    if not len(rows.weight):
        return None
    with one_blas_thread():
        return statistics(asked, rows.X, rows.targets, rows.weight / mean)


def add_statistics(found, statistics):
    return reduce(statistics.plus, [one for one in found if one is not None])
