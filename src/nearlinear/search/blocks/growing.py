"""Rows that trees grow on: as many as memory holds, where the search has seen fewer.

All rows refit the leaves, but where a tree splits is told by the rows that it grows on.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import ClassifierMixin, clone

from ..._config import allowed_memory
from ...estimators._base.input import fit_rows
from ..candidates import Boosted, Tree

FORESTS = Tree, Boosted
_MOST_HELD = 20_000  # rows of the sample that judge refitted leaves
_MOST_GROWN = 2_000_000
_NUMBERS = 6  # that an encoded one stands for while a tree grows: itself, as float64, copies
_WORTH = 1.5  # times the sample
_TRIED = 2 / 3  # of the sample, or more: what the model learned from whose price is known
_DEEPER = 8  # levels of a tree at least: what another one adds to its work


@dataclass(frozen=True)
class Apart:
    """The sample in two parts: rows that grow trees, and rows that judge their leaves.

    ``others`` are all rows but those that judge.
    """

    kept: object
    held: object
    others: object


def apart(model, rows, sample, Z):
    """The sample without its lowest ranks, and these; None where a class would be gone."""
    n_held = _n_held(sample)
    is_held = np.isin(sample.numbers, sample.ranked[:n_held])
    parts = []
    for mine in (~is_held, is_held):
        weight = None if sample.rows.weight is None else sample.rows.weight[mine]
        parts.append(fit_rows(model, Z[mine], sample.rows.y[mine], weight))
    kept, held = parts
    if rows.is_of_classes and not all(_has_all(part, rows) for part in parts):
        return None
    return Apart(kept, held, rows.without(sample.ranks[:n_held], held.weight.sum()))


@dataclass(frozen=True)
class Growth:
    """``n_rows`` rows are grown on, or none but the sample's; ``drawn()`` are they or None."""

    n_rows: int
    n_sample: int
    drawn: object
    budget: object

    def grown(self, candidate, seed, n_jobs, trials, prices):
        """A forest of these rows; None where they, or what it would cost, are too much.

        ``prices`` are those of the trials of an average that it is part of.
        """
        later = [
            self._grown_price(price) if isinstance(trial.candidate, FORESTS) else price
            for trial, price in zip(trials, prices, strict=True)
        ]
        if not self.n_rows or not self.budget.holds(later):
            return None
        with suppress(MemoryError):
            rows = self.drawn()
            return None if rows is None else candidate.fit(rows, seed, n_jobs)
        return None

    def _grown_price(self, price):
        """More rows have as many more leaves, which are some levels deeper."""
        times = max(1.0, self.n_rows / (_TRIED * self.n_sample))
        work = 1.0 + np.log2(times) / _DEEPER
        return replace(
            price, times_linear=work * price.times_linear, us=work * price.us,
            single_us=work * price.single_us, n_bytes=times * price.n_bytes,
        )  # fmt: skip


def n_grown(rows, n_sample, itemsize):
    """How many rows trees grow on; 0 where that is the sample."""
    most = 0.5 * allowed_memory()
    found = min(rows.n_rows, _MOST_GROWN, int(most / (_NUMBERS * itemsize * rows.n_features)))
    return found if found > _WORTH * n_sample else 0


def drawn_rows(model, rows, sample, n_rows):
    """About so many rows of the lowest ranks above those that judge; None without a class."""
    low = sample.ranks[_n_held(sample) - 1]
    X, y, weight = rows.drawn(low, n_rows / rows.n_rows)
    plain = clone(model)
    if isinstance(model, ClassifierMixin):  # the weights have those of the classes already
        plain.set_params(class_weight=None)
    found = fit_rows(plain, X, y, weight)
    return found if not rows.is_of_classes or _has_all(found, rows) else None


def _n_held(sample):
    return max(1, min(_MOST_HELD, len(sample.ranks) // 5))


def _has_all(part, rows):
    return len(part.task.classes) == rows.n_classes
