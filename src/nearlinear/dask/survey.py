"""A survey of rows in partitions: how many there are, their labels, and a sample at random.

The rules are those of rows in blocks: rows are ranked by a hash of their number and the seed, and
those of the lowest ranks are the sample. So the sample is the same for any partitions.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from ..estimators._base.blocks.rows import MOST_SAMPLED, RowChecks, masses_of, rows_of
from ..streams.survey import Survey, joined_blocks, row_ranks

_SPARE = 8.0  # standard deviations: fewer rows than wanted rank below the bound never


class _Seen(NamedTuple):
    """What was found in some partitions."""

    masses: dict
    sample: object  # a block, or None
    numbers: np.ndarray
    ranks: np.ndarray


def surveyed_partitions(model, parts, tasks, seed):
    """``BlockRows`` of partitions; their source is the number of the first row of each."""
    sizes = tasks.results([tasks.submit(_count, part) for part in parts])
    starts = np.r_[0, np.cumsum(sizes)].astype(np.int64)
    n_rows = int(starts[-1])
    if n_rows == 0:
        raise ValueError("X has no rows.")
    checks = tasks.results(
        tasks.submit(_first_checks, model, parts[int(np.flatnonzero(sizes)[0])])
    )
    bound = _rank_bound(min(1.0, MOST_SAMPLED / n_rows), n_rows)
    held = tasks.held(checks)
    seen = tasks.total(
        _added,
        [
            tasks.submit(_seen, held, part, int(start), seed, bound)
            for part, start in zip(parts, starts, strict=False)
        ],
    )
    survey = Survey(n_rows, starts[:-1], seen.sample, seen.numbers, seen.ranks)
    return rows_of(model, None, checks, survey, seen.masses, max(sizes), seed)


def _rank_bound(share, n_rows):
    """A rank that the lowest ``share`` of all rows is below, and few more."""
    share += _SPARE * np.sqrt(share / n_rows)
    return np.uint64(np.iinfo(np.uint64).max) if share >= 1.0 else np.uint64(share * 2.0**64)


def _count(block):
    return int(block.X.shape[0])


def _first_checks(model, block):
    checks = RowChecks(model)
    checks(block, 0)
    return checks


def _seen(checks, block, row, seed, bound):
    if block.X.shape[0] == 0:
        return _Seen({}, None, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64))
    block = checks(block, row)
    ranks = row_ranks(row, block.X.shape[0], seed)
    rows = np.flatnonzero(ranks <= bound)
    rows = rows[np.argsort(ranks[rows], kind="stable")][:MOST_SAMPLED]
    masses = masses_of(block, checks.is_classifier)
    return _Seen(masses, block.take(rows), rows + row, ranks[rows])


def _added(seen):
    masses = Counter()
    for one in seen:
        masses.update(one.masses)
    filled = [one for one in seen if one.sample is not None]
    if not filled:
        return seen[0]
    numbers, ranks = (
        np.concatenate([getattr(one, name) for one in filled]) for name in ("numbers", "ranks")
    )
    kept = np.argsort(ranks, kind="stable")[:MOST_SAMPLED]
    sample = joined_blocks([one.sample for one in filled]).take(kept)
    return _Seen(dict(masses), sample, numbers[kept], ranks[kept])
