"""What the rows say: mean and spread over seeds, paired tests, and a verdict against print."""

from dataclasses import dataclass
from math import isnan, nan

import numpy as np
from scipy import stats

SIGNIFICANT = 0.05
# Where a paper prints no spread: the middle of the spreads that the papers do print.
USUAL_SPREAD = 0.25
# With fewer pairs even the most extreme signed ranks have a two-sided p above 0.05.
FEWEST_FOR_WILCOXON = 6


@dataclass(frozen=True)
class Comparison:
    """Mean of paired differences and its two-sided p-values; NaN where there are too few pairs."""

    n: int
    difference: float
    t_p: float = nan
    wilcoxon_p: float = nan


def compare(values, others, test_share=0.0):
    """Paired comparison over seeds; ``others`` may be one printed number.

    ``test_share``: test rows for each training row of splits that are drawn anew by the seed. Their
    training parts overlap, and the t-test is corrected for it (Nadeau and Bengio, "Inference for
    the generalization error", 2003).
    """
    differences = np.asarray(values, float) - np.asarray(others, float)
    n, difference = len(differences), float(differences.mean())
    if n < 2:
        return Comparison(n, difference)
    if np.ptp(differences) <= 1e-12 * np.abs(differences).max(initial=1.0):
        # No scatter: the t statistic is infinite, or 0/0 where all differences are zero.
        t_p = 0.0 if abs(difference) > 1e-12 else 1.0
    else:
        error = differences.std(ddof=1) * np.sqrt(1 / n + test_share)
        t_p = float(2 * stats.t.sf(abs(difference) / error, n - 1))
    if n < FEWEST_FOR_WILCOXON or not differences.any():
        return Comparison(n, difference, t_p)
    return Comparison(n, difference, t_p, float(stats.wilcoxon(differences).pvalue))


def compare_rows(rows, others, column="accuracy", test_share=0.0):
    """Paired comparison of two lists of rows over the seeds that both have; None without any."""
    by_seed = {row["seed"]: row[column] for row in rows}
    other_by_seed = {row["seed"]: row[column] for row in others}
    seeds = sorted(by_seed.keys() & other_by_seed.keys())
    if not seeds:
        return None
    values, others = ([found[seed] for seed in seeds] for found in (by_seed, other_by_seed))
    return compare(values, others, test_share)


def verdict(comparison, spread=nan):
    """``missed``, ``met`` or ``beaten``, doubtful cases to our disadvantage.

    Missed: below print by more than the printed spread, or by any amount that is significant.
    Beaten: above print by more than the printed spread, and significantly so; one run has no test.
    """
    margin = USUAL_SPREAD if isnan(spread) else spread
    significant = comparison.t_p < SIGNIFICANT
    if comparison.difference < -margin or (comparison.difference < 0 and significant):
        return "missed"
    if comparison.difference > margin and (significant or comparison.n == 1):
        return "beaten"
    return "met"


def verdict_of_one_draw(comparison, spread, least_margin=USUAL_SPREAD):
    """The same beside a number without a spread, of a split that the paper drew once.

    Print is an ordinary draw or it is not: what counts is the ``spread`` of our own draws.
    """
    if abs(comparison.difference) <= max(spread, least_margin):
        return "met"
    return "beaten" if comparison.difference > 0 else "missed"


def claim_verdict(comparison):
    """Whether "the first is more accurate than the second" holds in these rows."""
    if comparison.difference <= 0:
        return "fails"
    return "holds" if comparison.t_p < SIGNIFICANT else "holds, not significant"


def mean_and_spread(values):
    """Mean and standard deviation over seeds; the deviation of one value is NaN."""
    values = np.asarray(values, float)
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else nan


def formatted(mean, spread=nan, digits=2):
    """``97.27 ± 0.18``, the mean alone where there is no spread, a dash where there is nothing."""
    if isnan(mean):
        return "–"
    return f"{mean:.{digits}f}" + ("" if isnan(spread) else f" ± {spread:.{digits}f}")


def markdown_table(header, rows):
    """A markdown table of strings."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
