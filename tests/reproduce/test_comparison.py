"""Paired tests and verdicts against cases worked out by hand."""

from math import isnan, sqrt

import pytest
from grids import in_one_test
from scipy import stats

from reproduce.comparison import (
    Comparison,
    claim_verdict,
    compare,
    compare_rows,
    formatted,
    mean_and_spread,
    verdict,
)


def test_t_test_of_three_pairs_matches_the_formula():
    # Differences 1, 2, 3: mean 2, standard error 1/√3, so t = 2√3 on two degrees of freedom, and
    # with two degrees the two-sided p is 1 − t/√(2 + t²).
    result = compare([91.0, 93.0, 95.0], [90.0, 91.0, 92.0])
    t = 2 * sqrt(3)
    assert result.n == 3
    assert result.difference == pytest.approx(2.0)
    assert result.t_p == pytest.approx(1 - t / sqrt(2 + t * t))
    assert isnan(result.wilcoxon_p)


def test_one_printed_number_is_compared_with_every_seed():
    assert compare([1.0, 2.0, 4.0], 2.0) == compare([1.0, 2.0, 4.0], [2.0, 2.0, 2.0])


def test_signed_ranks_of_six_gains_have_their_smallest_p():
    # All six signs agree: 2 of the 2⁶ sign patterns are as extreme.
    result = compare([1.0, 2.0, 3.0, 4.0, 5.0, 6.5], 0.0)
    assert result.wilcoxon_p == pytest.approx(2 / 64)


def test_ten_pairs_agree_with_scipy():
    first = [97.2, 97.5, 97.1, 97.6, 97.4, 97.3, 97.7, 97.0, 97.45, 97.55]
    second = [97.1, 97.2, 97.15, 97.1, 97.35, 97.0, 97.4, 97.1, 97.2, 97.15]
    result = compare(first, second)
    assert result.t_p == pytest.approx(stats.ttest_rel(first, second).pvalue)


def test_splits_that_share_rows_count_for_less():
    # Ten differences of mean 1 and variance 1: t = 1/√(1/10 + 3/7) on nine degrees of freedom.
    spread = [0.5 * sqrt(3.6)] * 5 + [-0.5 * sqrt(3.6)] * 5
    result = compare([1.0 + deviation for deviation in spread], 0.0, test_share=3 / 7)
    assert result.t_p == pytest.approx(2 * stats.t.sf(1 / sqrt(1 / 10 + 3 / 7), df=9))
    assert result.t_p > compare([1.0 + deviation for deviation in spread], 0.0).t_p


def test_one_pair_has_no_test():
    result = compare([97.0], 96.0)
    assert (result.n, result.difference) == (1, 1.0)
    assert isnan(result.t_p)


@pytest.mark.parametrize(("others", "p"), [(90.0, 1.0), (89.5, 0.0)])
def test_differences_without_scatter_are_certain(others, p):
    assert compare([90.0] * 7, others).t_p == p


def test_only_seeds_that_both_have_are_paired():
    first = [{"seed": 0, "accuracy": 90.0}, {"seed": 1, "accuracy": 92.0}]
    second = [{"seed": 1, "accuracy": 91.0}, {"seed": 2, "accuracy": 50.0}]
    assert compare_rows(first, second).difference == 1.0
    assert compare_rows(first[:1], second) is None


@in_one_test(
    ("n", "difference", "p", "spread", "word"),
    [
        (3, 0.5, 0.01, 0.2, "beaten"),
        (3, 0.5, 0.30, 0.2, "met"),  # above, but it may be luck
        (3, 0.1, 0.01, 0.2, "met"),  # above, but within what the paper's own runs scatter
        (3, -0.1, 0.30, 0.2, "met"),
        (3, -0.1, 0.01, 0.2, "missed"),  # a small miss that is certain
        (3, -0.5, 0.30, 0.2, "missed"),  # a large one that too few seeds cannot make certain
        (1, 0.3, float("nan"), float("nan"), "beaten"),
        (1, 0.2, float("nan"), float("nan"), "met"),
        (1, -0.3, float("nan"), float("nan"), "missed"),
    ],
)
def test_verdict(n, difference, p, spread, word):
    assert verdict(Comparison(n, difference, p), spread) == word


@pytest.mark.parametrize(
    ("difference", "p", "word"),
    [(0.3, 0.01, "holds"), (0.3, 0.2, "holds, not significant"), (0.0, 1.0, "fails")],
)
def test_claim_verdict(difference, p, word):
    assert claim_verdict(Comparison(5, difference, p)) == word


def test_mean_and_spread_use_the_sample_deviation():
    assert mean_and_spread([1.0, 2.0, 3.0]) == (2.0, 1.0)
    assert formatted(*mean_and_spread([1.0, 2.0, 3.0])) == "2.00 ± 1.00"
    assert formatted(*mean_and_spread([97.271])) == "97.27"
