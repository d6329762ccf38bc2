"""A survey: which rows are the sample depends on their numbers alone."""

import numpy as np
import pytest

from nearlinear.streams import from_arrays
from nearlinear.streams.blocks import Parted
from nearlinear.streams.survey import row_ranks, survey_rows


def survey(n_rows, block_rows, size, seed=0):
    X = np.arange(n_rows, dtype=np.float64)[:, None]
    source = from_arrays(X, X[:, 0], X[:, 0] + 1, block_rows=block_rows, dtype=np.float64)
    return survey_rows(Parted(source), lambda block: size, seed, lambda block, row: block)


@pytest.mark.parametrize("block_rows", [8, 100, 5000])
def test_the_sample_is_the_rows_of_the_lowest_ranks_whatever_the_blocks_are(block_rows):
    found, ranks = survey(2000, block_rows, 150), row_ranks(0, 2000, 0)
    lowest = np.argsort(ranks)[:150]
    assert np.array_equal(found.numbers, lowest) and np.array_equal(found.ranks, ranks[lowest])
    assert np.array_equal(found.sample.X[:, 0], lowest)
    assert np.array_equal(found.sample.weight, lowest + 1)
    assert found.n_rows == 2000


def test_parts_know_the_numbers_of_their_rows():
    found = survey(1000, 80, 10)
    assert np.array_equal(found.part_starts, np.arange(0, 1000, 10))


def test_ranks_are_even_over_rows_and_other_for_other_seeds():
    ranks = np.array([row_ranks(0, 40_000, seed) for seed in range(3)]) / 2.0**64
    for one in ranks:
        counts, _ = np.histogram(one, bins=20, range=(0, 1))
        assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)
        assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.02
    assert np.abs(np.corrcoef(ranks) - np.eye(3)).max() < 0.02


def test_a_sample_larger_than_the_source_has_all_rows():
    assert len(survey(50, 8, 500).numbers) == 50


def test_a_source_without_rows_is_refused():
    with pytest.raises(ValueError, match="has no rows"):
        survey_rows(Parted([]), lambda block: 5, 0, lambda block, row: block)
