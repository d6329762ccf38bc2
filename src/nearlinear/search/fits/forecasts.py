"""How long a fit will take, before it has begun: for searches that have a time limit.

Each family has a rule of its own, in seconds of one core. Its constants are rough; what fits have
taken so far corrects them.
"""

from dataclasses import replace

import numpy as np

from .hinges import schedule

_WRONG = 5.0  # the most by which a rule is corrected: a fit that compiles is no measure
_SLOWER = 2.0  # the same by what other families took: rules are wrong in ways of their own
_STORED = 8_000  # rows up to which kernel values are kept between steps
_SCREENED = 5_000, 20  # rows and columns from which on screening of pairs takes no longer
_SECONDS_PER_SPLINE = 1e-4  # of a column, for its knots


class Pace:
    """Forecasts for rows of one shape; ``note`` tells how long a fit to some of them took.

    ``filled`` is how many columns of a sparse row are not zero; what is zero takes no time.
    """

    def __init__(self, shape, filled=None):
        columns = shape.n_features if filled is None else max(1.0, filled)
        self.shape, self._ratios, self._own_ratios = replace(shape, n_features=columns), {}, {}

    def note(self, candidate, n_rows, seconds):
        ratio = seconds / self._rule(candidate, n_rows)
        self._own_ratios[candidate] = ratio
        self._ratios[candidate.family] = float(np.clip(ratio, 1.0 / _WRONG, _WRONG))

    def is_measured(self, candidate):
        """Whether a fit of the family has been noted."""
        return candidate.family in self._ratios

    def seconds(self, candidate, n_rows=None):
        """Of a fit to so many rows, None for all; corrected by its last fit or its family's."""
        n_rows = self.shape.n_rows if n_rows is None else n_rows
        ratio = self._own_ratios.get(candidate, self._ratios.get(candidate.family))
        if ratio is None:
            ratio = np.median([*self._ratios.values()]) if self._ratios else 1.0
            ratio = float(np.clip(ratio, 1.0 / _SLOWER, _SLOWER))
        return ratio * self._rule(candidate, n_rows)

    def _rule(self, candidate, n_rows):
        return _RULES[candidate.family](candidate, self.shape, n_rows)


def _cells(shape, n_rows):
    return n_rows * shape.n_features * shape.n_outputs


def _additive(one, shape, n_rows):
    splines = _SECONDS_PER_SPLINE * shape.n_features if one.n_knots else 0.0
    return 3e-3 + 4e-8 * (1 + one.n_knots) * _cells(shape, n_rows) + splines


def _anchors(one, shape, n_rows):
    distances = 1e-8 * n_rows * one.n_anchors * shape.n_features
    return 5e-3 + 1e-5 * n_rows + 2.5e-7 * _cells(shape, n_rows) + distances


def _boosted(one, shape, n_rows):
    cells = n_rows * shape.n_features * one.max_features
    n_trees, depth = one.n_trees * shape.n_outputs, np.log2(one.max_leaves)
    rows, columns = _SCREENED
    share = min(1.0, n_rows / rows) * min(1.0, shape.n_features / columns)
    screening = 2.0 * shape.n_outputs * share if one.n_pairs else 0.0
    return n_trees * depth * (1.5e-4 + 4.5e-9 * cells) + screening


def _bagged(one, shape, n_rows):
    d = shape.n_features
    columns = d**0.5 if shape.is_classification else shape.n_outputs * d / 3
    return 1e-3 * one.n_trees + 4e-8 * one.n_trees * n_rows * np.log2(n_rows + 1) * columns


def _tree(one, shape, n_rows):
    return 2e-3 + 4e-7 * n_rows * shape.n_features * (1 + shape.n_outputs)


def _kernels(one, shape, n_rows):
    rows = n_rows * max(1.0, n_rows / _STORED)
    return 1e-2 + 2.5e-8 * rows**2 * (1 + shape.n_outputs / 4)


def _hinges(one, shape, n_rows):
    batch, epochs = schedule(n_rows)
    inner = (one.n_layers - 1) * one.n_units
    weights = one.n_units * (shape.n_features + inner + shape.n_outputs)
    step = 1.5e-4 * one.n_layers**0.5 + 1.5e-10 * (batch + 30) * weights
    return epochs * n_rows / batch * step


def _oblique(one, shape, n_rows):
    n_fits = one.n_trees * (8 if np.isinf(one.depth) else 1)  # no depth: several are tried
    return n_fits * (2e-2 + 5e-5 * n_rows + 1e-7 * _cells(shape, n_rows))


def _local_kernels(one, shape, n_rows):
    return 5e-6 * n_rows**2 * shape.n_outputs


def _slow_kernels(one, shape, n_rows):
    return 1.0 + 3e-7 * n_rows**2 * shape.n_outputs


_RULES = {
    "linear": _additive, "piecewise linear": _additive, "anchors": _anchors,
    "boosted trees": _boosted, "decision tree": _tree, "random forest": _bagged,
    "kernel machine": _kernels, "oblique trees": _oblique, "hinge units": _hinges,
    "local kernels": _local_kernels, "cells": _slow_kernels, "few support rows": _slow_kernels,
}  # fmt: skip
