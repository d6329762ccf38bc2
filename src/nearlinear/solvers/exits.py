"""Where rows may stop: thresholds on margins, and what stopping gives up, with confidence.

Stages answer one after another, each at its own cost; the last one answers whatever comes to it.
A row stops at the first stage whose margin reaches the threshold of that stage. The loss of
thresholds is the accuracy of the last stage alone less the accuracy of stopping:

    loss = P(last right, stopped wrong) − P(last wrong, stopped right).

Held-out rows, which no stage was trained on, choose the thresholds. A random half shapes a family
of threshold vectors, from safe to cheap: each minimizes cost + price · losses on that half, and
the price falls from one vector to the next. The other half tests the family in this order: each
vector's hypothesis "the loss is above ``max_loss``" is tested at level 1 − ``confidence``, up to
the first that is not rejected, and the last rejected one is chosen. Fixed-sequence testing needs
no correction for the number of tests (Learn then Test, Angelopoulos and others, 2021): a vector
that loses too much is chosen only if the first such vector of the sequence is rejected, which
happens with a probability of at most 1 − ``confidence`` for independent rows.

There are two tests, and the half that shapes says which should be the sharper one for a vector.
One bounds P(last right, stopped wrong), which is no smaller than the loss, by the binomial
distribution of such rows (Clopper and Pearson). The other one bounds the loss itself. With a rate s
of rows where stopping changes right or wrong, their number is binomial, and so is the number of
losses among them. The unknown s is replaced by the worst one, on a grid, below its own upper bound,
which takes a twentieth of the level (Berger and Boos, 1994).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, betaincinv, gammaln

_PRICES, _SWEEPS = 40, 2  # the first price forbids all loss, the last one hardly counts it
_PARTS, _PART = 5, 0.7  # random parts of the shaping rows, and their share
_SAFER = (2.0, 1.7, 1.5, 1.3, 1.15)
_RATES = 12  # at which the worst case is looked for
_OF_RATE = 0.05  # the bound of the rate takes this share of the level


@dataclass(frozen=True)
class Exits:
    """Thresholds, one for each stage but the last, and what is known of them.

    ``shares`` of the tested rows stop at each stage, and ``loss`` is what they lose; with the
    ``confidence``, a new row loses ``max_loss`` or less on average. ``n_tested`` rows tested it;
    0 means that there were too few to promise anything, and all thresholds are infinite.
    """

    thresholds: tuple
    shares: tuple
    loss: float
    max_loss: float
    confidence: float
    n_tested: int


def choose_exits(
    margins, right, costs, *, max_loss, confidence, rng, weight=None, choices=None
):  # fmt: skip
    """Thresholds of the lowest cost whose loss is at most ``max_loss`` with this ``confidence``.

    Parameters
    ----------
    margins : array of shape (n_rows, n_stages − 1)
        Of held-out rows at each stage but the last; −inf where no row may stop.
    right : array of bool of shape (n_rows, n_stages)
        Whether each stage answers rightly.
    costs : array of shape (n_stages,)
        Of each stage alone.
    max_loss, confidence : float
        What is promised.
    rng : RandomState
        Divides the rows.
    weight : array of shape (n_rows,) or None
        Weight k counts as k rows.
    choices : list of tuples of int, or None
        Sets of stages before the last, of which the cheapest is taken; the stages outside of it
        are passed over and cost nothing. None: every row meets every stage up to where it stops.

    Returns
    -------
    Exits
    """
    n_rows, n_stages = right.shape
    weight = np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
    order = rng.permutation(n_rows)
    shaping, testing = halves = order[: n_rows // 2], order[n_rows // 2 :]
    n_tested = int(weight[testing].sum())
    if n_stages == 1:  # it answers for all rows, and nothing is given up
        return Exits((), (1.0,), 0.0, float(max_loss), float(confidence), n_tested)
    if choices is not None:
        found = [_only(margins, costs, choice) for choice in choices]
        own = right[shaping], weight[shaping]
        lowest = [_cost_of(some[shaping], *own, paid, max_loss) for some, paid in found]
        margins, costs = found[int(np.argmin(lowest))]
    chosen, n_good = np.full(n_stages - 1, np.inf), 0
    level = 1 - confidence
    if _p_of_losses(0, 0, n_tested, max_loss, level) <= level:
        own, others = ([part[rows] for part in (margins, right, weight)] for rows in halves)
        scale = n_tested / max(own[2].sum(), 1e-300)
        for thresholds in shaped(*own, costs, rng):
            likely = [int(scale * count) for count in _changes(*own, thresholds)]
            test = min(
                (_p_of_losses, _p_of_net), key=lambda p: p(*likely, n_tested, max_loss, level)
            )
            if test(*_changes(*others, thresholds), n_tested, max_loss, level) > level:
                break
            chosen, n_good = thresholds, n_good + 1
    stop = stages_of(margins[testing], chosen)
    lost, gained = _changes(margins[testing], right[testing], weight[testing], chosen)
    total = max(weight[testing].sum(), 1e-300)
    shares = np.bincount(stop, weights=weight[testing], minlength=n_stages) / total
    return Exits(
        tuple(chosen.tolist()), tuple(shares.tolist()), float((lost - gained) / total),
        float(max_loss), float(confidence), n_tested if n_good else 0,
    )  # fmt: skip


def stages_of(margins, thresholds):
    """The stage at which each row stops."""
    stops = margins >= thresholds
    return np.where(stops.any(axis=1), stops.argmax(axis=1), margins.shape[1])


def shaped(margins, right, weight, costs, rng):
    """A family of thresholds from safe to cheap.

    Each is the mean of those of several random parts of the rows: the few rows that are lost would
    else draw the line. Before the first there are multiples of it, since what loses nothing on
    these rows may lose something on others.
    """
    n_rows = len(margins)
    parts = [rng.permutation(n_rows)[: max(1, int(_PART * n_rows))] for _ in range(_PARTS)]
    prices = _prices(n_rows)
    each = [_cheapest(margins[i], right[i], weight[i], costs, prices) for i in parts]
    top = np.max(margins, axis=0, initial=0.0)  # what no row of a part should pass
    for number, found in enumerate(zip(*each, strict=True)):
        mean = np.mean(np.minimum(found, 2.0 * top), axis=0)
        mean[np.isinf(found).all(axis=0)] = np.inf
        for factor in _SAFER if number == 0 else ():
            yield factor * mean
        yield mean


def _cheapest(margins, right, weight, costs, prices):
    """Thresholds of the lowest cost + price · losses on these rows, for every price.

    One threshold after another, from the last stage to the first, is set to its best for the rows
    that come to its stage, the others being as they are. What stopping makes right is not counted:
    it would pay for losses that other rows may not pay for.
    """
    paid = np.cumsum(costs, dtype=np.float64)
    lost = right[:, -1:] & ~right
    orders = np.argsort(-margins, axis=0, kind="stable")
    thresholds = np.full(margins.shape[1], np.inf)
    for price in prices:
        for _ in range(_SWEEPS):
            stop = stages_of(margins, thresholds)
            later = np.full(len(margins), paid[-1])
            for stage in reversed(range(margins.shape[1])):
                here = paid[stage] + price * paid[-1] * lost[:, stage]
                rows = orders[:, stage]
                rows = rows[stop[rows] >= stage]
                gain = ((here - later) * weight)[rows]
                thresholds[stage] = _best(margins[rows, stage], gain)
                later = np.where(margins[:, stage] >= thresholds[stage], here, later)
        yield thresholds.copy()


def _only(margins, costs, choice):
    """Margins and costs where stages outside of the choice are passed over."""
    is_out = np.ones(len(costs), dtype=bool)
    is_out[[*choice, len(costs) - 1]] = False
    return np.where(is_out[:-1], -np.inf, margins), np.where(is_out, 0.0, costs)


def _cost_of(margins, right, weight, costs, max_loss):
    """The lowest mean cost on these rows, where they lose ``max_loss`` at most."""
    paid, total = np.cumsum(costs), max(weight.sum(), 1e-300)
    lowest = paid[-1]
    for thresholds in _cheapest(margins, right, weight, costs, _prices(len(margins))):
        lost, gained = _changes(margins, right, weight, thresholds)
        if lost - gained > max_loss * total:
            break
        stop = stages_of(margins, thresholds)
        lowest = min(lowest, weight @ paid[stop] / total)
    return lowest


def _prices(n_rows):
    return np.geomspace(max(n_rows, 1), 1.0, _PRICES)


def _best(margins, changes):
    """The threshold with the lowest sum of changes above it; margins fall.

    It lies between two margins: leaves give many rows the same sums, and on one of these rounding
    would decide.
    """
    sums = np.cumsum(changes)
    is_last = np.isfinite(margins) & np.append(margins[1:] < margins[:-1], True)
    sums = np.where(is_last, sums, np.inf)
    if len(sums) == 0 or not sums.min() < 0:
        return np.inf
    place = sums.argmin()
    lower = margins[place + 1] if place + 1 < len(margins) else 0.0
    return 0.5 * (margins[place] + max(lower, 0.0))


def _changes(margins, right, weight, thresholds):
    """Weights of rows that stopping makes wrong, and right."""
    stopped = right[np.arange(len(right)), stages_of(margins, thresholds)]
    last = right[:, -1]
    return weight[last & ~stopped].sum(), weight[~last & stopped].sum()


def _p_of_losses(lost, gained, n_rows, max_loss, level):
    """Of the hypothesis that the loss is above ``max_loss``, by the losses alone."""
    return float(bdtr(np.ceil(lost), n_rows, max_loss)) if lost < n_rows else 1.0


def _p_of_net(lost, gained, n_rows, max_loss, level):
    """Of the same hypothesis, by losses less gains."""
    lost, gained = int(np.ceil(lost)), int(gained)
    differ = lost + gained
    if differ >= n_rows:
        return 1.0
    rest = _OF_RATE * level
    highest = betaincinv(differ + 1, n_rows - differ, 1 - rest)
    if highest < max_loss:
        return rest
    # L losses among m rows that differ: a net loss of at most d is L ≤ (m + d) / 2
    worst, net = 0.0, lost - gained
    for rate in np.linspace(max_loss, highest, _RATES):
        mean, far = n_rows * rate, 9.0 * np.sqrt(n_rows * rate) + 20.0
        m = np.arange(max(0, int(mean - far)), min(n_rows, int(mean + far)) + 1)
        log_number = m * np.log(rate) + (n_rows - m) * np.log1p(-rate) + gammaln(n_rows + 1)
        number = np.exp(log_number - gammaln(m + 1) - gammaln(n_rows - m + 1))
        most = (m + net) // 2
        losses = np.where(most >= m, 1.0, bdtr(np.maximum(most, 0), m, 0.5 + 0.5 * max_loss / rate))
        worst = max(worst, float(number @ np.where(most < 0, 0.0, losses)))
    return worst + rest
