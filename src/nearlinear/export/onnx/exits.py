"""Models that rows may leave early, in ONNX: all is computed, and what answers is selected."""

import numpy as np

from ...predictors.exiting import some_trees
from .builder import values_of


def exiting(graph, part, X):
    """Sums of the trees between two thresholds are one operator each."""
    places = [t for t, limit in enumerate(part.thresholds) if limit < np.inf]
    ends = [t + 1 for t in places] + [part.forest.gate.n_trees]
    sums, first, total = [], 0, None
    for last in ends:
        found = values_of(graph, some_trees(part.forest, first, last), X)
        total = found if total is None else graph.op("Add", total, found)
        sums.append(total)
        first = last
    return _first_sure(graph, sums, [part.thresholds[t] for t in places], part.n_outputs)


def cascaded(graph, part, X):
    scores = [values_of(graph, stage, X) for stage, _ in part.steps]
    return _first_sure(graph, scores, [limit for _, limit in part.steps[:-1]], part.n_outputs)


def _first_sure(graph, scores, limits, n_outputs):
    *earlier, answer = scores
    for found, limit in zip(reversed(earlier), reversed(limits), strict=True):
        is_sure = graph.op("GreaterOrEqual", _leads(graph, found, n_outputs), float(limit))
        answer = graph.op("Where", is_sure, found, answer)
    return answer


def _leads(graph, scores, n_outputs):
    """A column: |score| of one output, else the best less the second."""
    if n_outputs == 1:
        return graph.op("Abs", scores)
    best, _ = graph.op("TopK", scores, np.array([2]), n_outputs=2, axis=1)
    return graph.op("Sub", graph.columns(best, [0]), graph.columns(best, [1]))
