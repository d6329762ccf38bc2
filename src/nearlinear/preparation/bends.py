"""Steps that bend numbers: quantiles and bins."""

import numpy as np

from .columns import NoPreparation, joined


def quantiles(step, columns, known):
    """Lines between the quantiles of the fit; where these coincide, the mean of both sides."""
    if step.output_distribution != "uniform":
        raise NoPreparation(
            f"QuantileTransformer(output_distribution={step.output_distribution!r}) has no place "
            "before an exported model: take 'uniform'."
        )
    pairs = [_uniform(knots, step.references_) for knots in step.quantiles_.T]
    return columns.curved(*zip(*pairs))


def _uniform(knots, references):
    knots, firsts, counts = np.unique(knots, return_index=True, return_counts=True)
    found = []
    for place, (knot, first, count) in enumerate(zip(knots, firsts, counts)):
        low, high = references[first], references[first + count - 1]
        # both ends are exact
        middle = 0.0 if place == 0 else 1.0 if place == len(knots) - 1 else 0.5 * (low + high)
        found += [(knot, low), (knot, middle), (knot, high)] if count > 1 else [(knot, middle)]
    return np.array(found).T


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
