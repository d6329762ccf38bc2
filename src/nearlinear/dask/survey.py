"""A survey of rows in partitions: how many there are, their labels, and a sample at random.

The rules are those of rows in blocks: rows are ranked by a hash of their number and the seed, and
those of the lowest ranks are the sample. So the sample is the same for any partitions, and that of
one process which reads blocks of the usual size.
"""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimators._base.blocks.survey import (
    RowChecks,
    masses_of,
    rows_of,
    sample_of_class,
    sample_rows,
)
from ..streams.blocks import usual_rows
from ..streams.survey import Chosen, Strata, Survey, row_ranks

_SPARE = 8.0  # standard deviations: fewer rows than wanted rank below the bound never


@dataclass(frozen=True)
class _Wanted:
    """What a survey looks for."""

    checks: RowChecks
    seed: int
    n_rows: int  # of the sample
    of_class: int
    share: float  # of all rows that the sample is

    @property
    def bound(self):
        """A rank that the sample's rows are below, and few others."""
        share = self.share + _SPARE * self.share / np.sqrt(self.n_rows)
        return np.uint64(share * 2.0**64) if share < 1.0 else np.iinfo(np.uint64).max


class _Seen(NamedTuple):
    """What was found in some partitions; rows are (block, numbers, ranks)."""

    masses: dict
    sample: list  # of one, or of none
    strata: list


def surveyed_partitions(model, parts, tasks, seed):
    """``BlockRows`` of partitions; they have no source."""
    starts, n_rows = starts_of(parts, tasks)
    first = parts[int(np.flatnonzero(np.diff(starts, append=n_rows))[0])]
    checks, like = tasks.results(tasks.submit(_first_checks, model, first))
    block_rows = usual_rows(like.shape[1], like.dtype.itemsize)
    n_sample = sample_rows(model, block_rows, like)
    wanted = _Wanted(checks, seed, n_sample, sample_of_class(model, checks), n_sample / n_rows)
    seen = _seen_in(parts, starts, tasks, wanted)
    strata = {some[0].y.tolist()[0]: some for some in seen.strata}
    survey = Survey(n_rows, starts, *seen.sample[0], strata)
    return rows_of(model, None, checks, survey, seen.masses, block_rows, seed)


def starts_of(parts, tasks):
    """The number of the first row of each partition, and how many rows there are."""
    sizes = tasks.results([tasks.submit(_count, part) for part in parts])
    ends = np.cumsum(sizes, dtype=np.int64)
    if ends[-1] == 0:
        raise ValueError("X has no rows.")
    return ends - sizes, int(ends[-1])


def sampled_partitions(parts, starts, tasks, n_sample, n_rows, seed):
    """A block of ``n_sample`` rows as they are, unchecked, and their ranks, which rise."""
    wanted = _Wanted(_AsTheyAre(), seed, n_sample, 0, n_sample / n_rows)
    block, _, ranks = _seen_in(parts, starts, tasks, wanted).sample[0]
    return block, ranks


class _AsTheyAre:
    """Rows of a raw table, which nobody has to check yet."""

    is_classifier = False

    def __call__(self, block, row):
        return block


def _seen_in(parts, starts, tasks, wanted):
    held = tasks.held(wanted)
    found = [
        tasks.submit(_seen, held, part, int(start))
        for part, start in zip(parts, starts, strict=True)
    ]
    return tasks.total(_added, found, held)


def _count(block):
    return int(block.X.shape[0])


def _first_checks(model, block):
    """What the first rows say of all, and one of them."""
    checks = RowChecks(model)
    return checks, checks(block, 0).X[:1]


def _seen(wanted, block, row):
    if block.X.shape[0] == 0:
        return _Seen({}, [], [])
    block = wanted.checks(block, row)
    ranks = row_ranks(row, block.X.shape[0], wanted.seed)
    numbers, low = np.arange(row, row + len(ranks)), np.flatnonzero(ranks <= wanted.bound)
    sample = [(block.take(low), numbers[low], ranks[low])] if len(low) else []
    strata = [(block, numbers, ranks)] if wanted.of_class else []
    masses = masses_of(block, wanted.checks.is_classifier)
    return _added([_Seen(masses, sample, strata)], wanted)


def _added(seen, wanted):
    masses, chosen, strata = Counter(), Chosen(wanted.n_rows), Strata(wanted.of_class)
    for one in seen:
        masses.update(one.masses)
        for some in one.sample:
            chosen.add(*some)
        for some in one.strata:
            strata.add(*some)
    sample = [chosen.settled()] if any(one.sample for one in seen) else []
    return _Seen(dict(masses), sample, list(strata.settled().values()))
