"""Steps that bend numbers: quantiles and bins."""

import numpy as np

from .columns import joined

_HAIR = 1e-7  # scikit-learn's BOUNDS_THRESHOLD
_LEAST = 1e-37  # of an upper tail, which is below zero, in single precision, too


def quantiles(step, columns, known):
    """Lines between the quantiles of the fit; where these coincide, the mean of both sides."""
    is_normal = step.output_distribution == "normal"
    made = _tails if is_normal else _ranks
    pairs = [made(np.unique(knots), knots, step.references_) for knots in step.quantiles_.T]
    found = columns.curved(*zip(*pairs))
    return found.normal() if is_normal else found


def _ranks(distinct, knots, references):
    """Of each knot the rank from below, at it, and from above; both ends are exact."""
    low, high = _sides(distinct, knots, references)
    middle = (low + high) / 2.0
    middle[-1] = 1.0
    middle[0] = 0.0
    return _jumps(distinct, low, middle, high)


def _tails(distinct, knots, references):
    """The same in tails: the rank up to the median, and beyond it the rank less 1.

    Less than a hair from the ends, scikit-learn takes the ends.
    """
    # in single precision, too, an end is not a hair away from itself
    hair = [max(_HAIR, 2.0 * np.spacing(np.float32(abs(end)))) for end in distinct[[0, -1]]]
    ends = distinct[0] + hair[0], distinct[-1] - hair[1]
    if ends[0] > ends[1]:
        return _jumps(ends[:1], *np.array([[0.0], [-_LEAST], [-_LEAST]]))
    inner = distinct[(distinct > ends[0]) & (distinct < ends[1])]
    medians = [x for x in _medians(distinct, knots, references) if ends[0] < x < ends[1]]
    at = np.unique([ends[0], *inner, ends[1], *medians])
    low, high = _sides(at, knots, references)
    low, high = (np.where(np.isin(at, medians), 0.5, ranks) for ranks in (low, high))
    middle = (low + high) / 2.0
    low[0], high[-1] = 0.0, 1.0
    # a line that ends at 1/2 comes from below, and one that begins there goes up
    beyond = (low > 0.5, middle > 0.5, high >= 0.5)
    upper = (low - 1.0, *(np.minimum(ranks - 1.0, -_LEAST) for ranks in (middle, high)))
    return _jumps(at, *map(np.where, beyond, upper, (low, middle, high)))


def _medians(distinct, knots, references):
    """Where a line between two knots has the rank 1/2."""
    low, high = _sides(distinct, knots, references)
    for k in np.flatnonzero((high[:-1] < 0.5) & (low[1:] > 0.5)):
        share = (0.5 - high[k]) / (low[k + 1] - high[k])
        yield distinct[k] + share * (distinct[k + 1] - distinct[k])


def _sides(x, knots, references):
    """What lines come to at x from below, and from above."""
    above = np.interp(x, knots, references)
    return -np.interp(-x, -knots[::-1], -references[::-1]), above


def _jumps(knots, low, middle, high):
    """Knots and values; those where nothing jumps stand once."""
    values = np.column_stack([low, middle, high])
    counts = np.where(np.all(values == values[:, :1], axis=1), 1, 3)
    kept = np.column_stack([counts == 3, np.ones(len(counts), dtype=bool), counts == 3])
    return np.repeat(knots, counts), values[kept]


def bins(step, columns, known):
    """A column of numbers of bins, or a column for each bin."""
    edges = [np.asarray(one, dtype=np.float64)[1:-1] for one in step.bin_edges_]
    if step.encode == "ordinal":
        return columns.curved(*zip(*(_steps(one, np.arange(len(one) + 1)) for one in edges)))
    made = []
    for place, inner in enumerate(edges):
        each = [_steps(inner, line) for line in np.eye(len(inner) + 1)]
        made.append(columns.pick([place] * len(each)).curved(*zip(*each)))
    return joined(made)


def _steps(edges, levels):
    """A level for each bin; an edge belongs to the bin above."""
    if not len(edges):
        return np.zeros(1), np.array([levels[0]], dtype=np.float64)
    found = [(e, value) for k, e in enumerate(edges) for value in (levels[k], *[levels[k + 1]] * 2)]
    return np.array(found, dtype=np.float64).T
