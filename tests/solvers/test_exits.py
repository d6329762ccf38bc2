"""Thresholds of exits: what is promised of new rows holds as often as it is said."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest, multinomial

from nearlinear.solvers import exits
from nearlinear.solvers.exits import _p_of_losses, _p_of_net, choose_exits, stages_of

COSTS = np.array([1.0, 3.0, 20.0])


def draw(rng, n_rows):
    """Stages of rising accuracy, each wrong near its boundary: margins and who is right."""
    hardness = rng.random((n_rows, 1)) ** 2
    noise = rng.standard_normal((n_rows, 3)) * np.array([1.2, 0.7, 0.5])
    scores = 2.0 * (1.0 - hardness) + noise
    return np.abs(scores[:, :2]), scores > 0


def true_loss(thresholds, sample):
    margins, right = sample
    stopped = right[np.arange(len(right)), stages_of(margins, thresholds)]
    return right[:, -1].mean() - stopped.mean()


def test_the_loss_of_new_rows_is_above_the_promise_no_more_often_than_said(monkeypatch):
    monkeypatch.setattr(exits, "_PARTS", 1)
    monkeypatch.setattr(exits, "_PRICES", 15)
    monkeypatch.setattr(exits, "_SWEEPS", 1)
    monkeypatch.setattr(exits, "_RATES", 4)
    rng = np.random.RandomState(0)
    world = draw(rng, 200_000)
    too_high, n_draws, cheaper = 0, 200, []
    for _ in range(n_draws):
        margins, right = draw(rng, 1000)
        found = choose_exits(margins, right, COSTS, max_loss=0.02, confidence=0.9, rng=rng)
        too_high += true_loss(found.thresholds, world) > 0.02
        cheaper.append(np.dot(found.shares, np.cumsum(COSTS)) / COSTS.sum())
    # at most 20 of 200 are expected; this many more come by chance once in a thousand
    assert too_high <= binom.isf(1e-3, n_draws, 0.1)
    assert np.mean(cheaper) < 0.8


@pytest.mark.parametrize(("lost", "gained"), [(0, 0), (2, 0), (3, 2), (6, 1)])
def test_a_p_value_is_that_of_the_worst_multinomial(lost, gained):
    n_rows, loss, level = 60, 0.15, 0.05
    rest = 0.05 * level
    worst = 0.0
    for gain in np.linspace(0.0, 0.12, 481):
        p = [loss + gain, gain, 1.0 - loss - 2.0 * gain]
        if p[2] < 0 or binom.cdf(lost + gained, n_rows, p[0] + p[1]) < rest:
            continue  # so high a rate of differences is ruled out
        pairs = [(a, b) for a, b in product(range(n_rows + 1), repeat=2) if a + b <= n_rows]
        pairs = np.array([(a, b) for a, b in pairs if a - b <= lost - gained])
        counts = np.column_stack([pairs, n_rows - pairs.sum(axis=1)])
        worst = max(worst, multinomial.pmf(counts, n_rows, p).sum())
    found = _p_of_net(lost, gained, n_rows, loss, level) - rest
    assert found == pytest.approx(worst, rel=0.05, abs=1e-4)


def test_losses_alone_have_the_bound_of_clopper_and_pearson():
    for n_rows, lost in ((100, 0), (2996, 0), (10_000, 7)):
        upper = binomtest(lost, n_rows, alternative="less").proportion_ci(0.95, "exact").high
        assert _p_of_losses(lost, 0, n_rows, upper, 0.05) == pytest.approx(0.05)


def test_too_few_rows_promise_nothing():
    margins, right = draw(np.random.RandomState(0), 500)
    rng = np.random.RandomState(0)
    found = choose_exits(margins, right, COSTS, max_loss=0.001, confidence=0.95, rng=rng)
    assert found.thresholds == (np.inf, np.inf)
    assert found.shares == (0.0, 0.0, 1.0)
    assert found.n_tested == 0


def test_a_weight_of_two_is_two_rows():
    margins, right = draw(np.random.RandomState(0), 1500)

    def found(weight):
        rng = np.random.RandomState(0)
        return choose_exits(
            margins, right, COSTS, max_loss=0.02, confidence=0.9, rng=rng, weight=weight
        )

    assert found(np.ones(1500)) == found(None)
    assert found(np.full(1500, 2.0)).n_tested == 2 * found(None).n_tested


def test_a_stage_that_does_not_pay_is_passed_over():
    margins, right = draw(np.random.RandomState(0), 4000)
    choices = [(), (0,), (1,), (0, 1)]
    found = choose_exits(
        margins, right, np.array([1.0, 30.0, 20.0]), max_loss=0.02, confidence=0.9,
        rng=np.random.RandomState(0), choices=choices,
    )  # fmt: skip
    assert found.thresholds[0] < np.inf
    assert found.thresholds[1] == np.inf
    assert found.shares[1] == 0.0
