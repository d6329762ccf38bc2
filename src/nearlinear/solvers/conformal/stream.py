"""Rows and kernels that stream together: what is stored, what is dropped, who may enter."""

import numpy as np

from ..._interrupt import uninterrupted
from .online import OnlineMachine
from .sample import StreamSample

_BLOCK = 64
# After this many rows the kernels are reconsidered.
_PERIOD = 128
# Recent rows around which kernels are tried then.
_MOST_TRIED = 64
# Rows that are stepped on together after some were dropped.
_LARGEST_STEP = 512


class ConformalStream:
    """Stored rows with their coefficients, and one machine per output.

    Parameters
    ----------
    scales : ConformalScales
        Bandwidths and lengths of kernels around new anchors.
    bias : BiasSteps
        How the bias is treated.
    n_outputs, n_features : int
        Shapes.
    max_support, max_kernels : int or None
        Budgets. Without the first every row is stored; with it, a random sample of the rows.
    rng : RandomState
        Draws the sample, and the stored rows that are stepped on again.

    Notes
    -----
    The rows of the largest coefficients are the outliers, and a machine that has outliers alone
    is worse than chance. A random sample has the machine of a fit to so many rows.
    """

    def __init__(self, scales, bias, n_outputs, n_features, max_support, max_kernels, rng):
        self.scales, self.max_kernels, self.rng = scales, max_kernels, rng
        self.sample = None
        if max_support is not None:
            self.sample = StreamSample(max_support, max(2, n_outputs), rng)
        empty = scales.bank(np.zeros((1, n_features)))
        self.machines = [OnlineMachine(empty, bias) for _ in range(n_outputs)]
        self.X = np.zeros((0, n_features))
        self.dual_coef = np.zeros((0, n_outputs))
        # what stored rows weigh in the machines, and what has been sent of them
        self.y = self.weight = self.sent = np.zeros(0)
        self.ids = np.zeros(0, dtype=np.int64)
        self.has_id = np.zeros(0, dtype=bool)
        self.problems = self._sent_problems = None
        self._tried = self.X
        self._since = 0

    def resume(self, X, y, weight, problems, dual_coef, machines, ids=None):
        """Go on from a solution: its rows, and (bank, evaluation) of every output."""
        ids, has_id = self._numbered(len(X), ids)
        stored = np.arange(len(X))
        if self.sample is not None:
            self.sample.count(_sides(problems), weight)
            stored = self.sample.choose(ids, _sides(problems))
        self._add(
            X[stored], y[stored], weight[stored], _take(problems, stored), ids[stored],
            has_id[stored],
        )  # fmt: skip
        self._take_over(dual_coef[stored], machines)
        if len(stored) < len(X):
            self._weigh()
            self._balance()
            self._settle()

    def restart(self, scales, problems, dual_coef, machines):
        """Go on from a solution for the stored rows, in other units perhaps."""
        self.scales, self.problems = scales, problems
        self._sent_problems = _scaled(problems, self.sent / self.weight)
        self._take_over(dual_coef, machines)

    def _take_over(self, dual_coef, machines):
        self.dual_coef = dual_coef
        for o, (bank, evaluation) in enumerate(machines):
            self.machines[o].resume(self.X, bank, evaluation, dual_coef[:, o])

    def process(self, X, y, weight, problems, ids=None, adds=False):
        """Take in rows, their targets and weights, one dual problem per output, and their ids.

        A row whose id is stored already replaces the stored one; with ``adds`` both are copies
        of one row, and their weights are added.
        """
        try:
            for start in range(0, len(X), _BLOCK):
                rows = np.arange(start, min(start + _BLOCK, len(X)))
                own, of = None if ids is None else ids[rows], _take(problems, rows)
                with uninterrupted():
                    self._process_block(X[rows], y[rows], weight[rows], of, own, adds)
        finally:
            with uninterrupted():
                self._set_biases()

    def _set_biases(self):
        if len(self.X):
            for o, machine in enumerate(self.machines):
                machine.set_bias(self.X, self.problems[o], self.dual_coef[:, o])

    def _process_block(self, X, y, weight, problems, ids, adds):
        fresh, is_cut = self._store(X, y, weight, problems, ids, adds)
        if len(self.X) == 0:
            return
        if len(self.machines[0].bank) == 0:
            self._begin()
        else:
            self._ascend(fresh)
        self._since += len(X)
        # at first whenever the rows have doubled
        if 2 * self._since >= min(2 * _PERIOD, len(self.X)):
            self.reconsider()
        if is_cut:
            self._settle()
        count = min(_BLOCK, len(self.X))
        self._ascend(np.sort(self.rng.choice(len(self.X), count, replace=False)))

    def _store(self, X, y, weight, problems, ids, adds):
        """Store rows, all or those of the sample.

        Returns the places of rows that are new or have changed, and whether any were dropped.
        """
        sides = _sides(problems)
        if self.sample is not None:
            self.sample.count(sides, weight)
        if ids is not None:
            rows, total = _one_of_each(ids, weight, adds)
            problems = _scaled(_take(problems, rows), total / weight[rows])
            X, y, weight, ids, sides = X[rows], y[rows], total, ids[rows], sides[rows]
        places = self._places(X, ids)
        known = places >= 0
        own = places[known]
        if adds:
            total = weight.copy()
            total[known] += self.sent[own]
            problems, weight = _scaled(problems, total / weight), total
        ids, has_id = self._numbered(len(X), ids)
        new = ~known
        if self.sample is not None:
            new &= self.sample.admits(ids, sides)
        self._replace(X[known], y[known], weight[known], _take(problems, known), own)
        self._add(X[new], y[new], weight[new], _take(problems, new), ids[new], has_id[new])
        # kernels are tried around stored rows alone: as many as there are rows in a long stream
        # would fit a small sample too well
        self._tried = np.concatenate([self._tried, X[new]])[-_MOST_TRIED:]
        fresh = np.arange(len(self.X)) >= len(self.X) - np.count_nonzero(new)
        fresh[own] = True
        kept = self._keep_to_budget()
        is_cut = len(kept) < len(fresh)
        if self._weigh() or is_cut or len(own):
            self._balance()
        return np.flatnonzero(fresh[kept]), is_cut

    def _numbered(self, n_rows, ids):
        """Ids and who has one; in a sample every row has, drawn at random where none is given."""
        if ids is None and self.sample is None:
            return np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows, dtype=bool)
        if ids is None:
            ids = self.rng.randint(np.iinfo(np.int64).max, size=n_rows, dtype=np.int64)
        return ids, np.ones(n_rows, dtype=bool)

    def _places(self, X, ids):
        """Where rows of these ids are stored, −1 for those that are not."""
        places = np.full(len(X), -1)
        stored = np.flatnonzero(self.has_id)
        if ids is None or len(stored) == 0:
            return places
        stored = stored[np.argsort(self.ids[stored], kind="stable")]
        at = np.minimum(np.searchsorted(self.ids[stored], ids), len(stored) - 1)
        return np.where(self.ids[stored[at]] == ids, stored[at], -1)

    def _add(self, X, y, weight, problems, ids, has_id):
        self.X = np.concatenate([self.X, X])
        self.y, self.sent = np.concatenate([self.y, y]), np.concatenate([self.sent, weight])
        self.ids = np.concatenate([self.ids, ids])
        self.has_id = np.concatenate([self.has_id, has_id])
        fresh = np.zeros((len(X), len(self.machines)))
        self.dual_coef = np.concatenate([self.dual_coef, fresh])
        if self._sent_problems is None:
            self._sent_problems = problems
        else:
            both = zip(self._sent_problems, problems, strict=True)
            self._sent_problems = [one.joined(other) for one, other in both]
        self.weight, self.problems = self.sent, self._sent_problems

    def _replace(self, X, y, weight, problems, places):
        """New versions of stored rows."""
        if len(places) == 0:
            return
        for o, (machine, problem) in enumerate(zip(self.machines, problems, strict=True)):
            machine.add_change(self.X[places], -self.dual_coef[places, o])
            machine.add_change(X, self.dual_coef[places, o])
            self._sent_problems[o] = self._sent_problems[o].replaced(places, problem)
        self.X[places], self.y[places], self.sent[places] = X, y, weight

    def _weigh(self):
        """Boxes of all rows; coefficients stay where these have room. True if some have moved."""
        if len(self.X) == 0:
            return False
        self.weight, self.problems = self.sent, self._sent_problems
        if self.sample is not None:
            self.weight = self.sample.weights(self.sent, _sides(self._sent_problems))
            self.problems = _scaled(self._sent_problems, self.weight / self.sent)
        before = self.dual_coef.copy()
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            self.dual_coef[:, o] = np.clip(before[:, o], problem.lower, problem.upper)
            machine.add_change(self.X, self.dual_coef[:, o] - before[:, o])
        return bool(np.any(self.dual_coef != before))

    def _begin(self):
        bank = self.scales.bank(np.unique(self.X, axis=0))
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            self.dual_coef[:, o] = machine.begin(self.X, problem, bank, self.max_kernels)

    def _ascend(self, places):
        if len(places) == 0:
            return
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            self.dual_coef[places, o] = machine.ascend(
                self.X[places], problem.take(places), self.dual_coef[places, o]
            )

    def reconsider(self):
        """Try kernels around recent rows, and weigh all kernels anew."""
        self._since = 0
        if len(self._tried) == 0 or len(self.X) == 0:
            return
        bank = self.scales.bank(np.unique(self._tried, axis=0))
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            self.dual_coef[:, o] = machine.reconsider(
                self.X, problem, self.dual_coef[:, o], bank, self.max_kernels
            )
        self._tried = self._tried[:0]

    def _keep_to_budget(self):
        """Drop rows that the sample has no room for; returns which of them stay."""
        all_rows = np.arange(len(self.X))
        if self.sample is None:
            return all_rows
        kept = self.sample.choose(self.ids, _sides(self._sent_problems))
        if len(kept) == len(all_rows):
            return kept
        dropped = np.setdiff1d(all_rows, kept)
        for o, machine in enumerate(self.machines):
            machine.add_change(self.X[dropped], -self.dual_coef[dropped, o])
        self.X, self.y, self.sent = self.X[kept], self.y[kept], self.sent[kept]
        self.ids, self.has_id = self.ids[kept], self.has_id[kept]
        self.dual_coef = self.dual_coef[kept]
        self._sent_problems = _take(self._sent_problems, kept)
        return kept

    def _balance(self):
        """After changes from outside: coefficients that the bias allows."""
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            if machine.bias_steps.is_free:
                self.dual_coef[:, o] = machine.balance(self.X, problem, self.dual_coef[:, o])
            machine.set_bias(self.X, problem, self.dual_coef[:, o])

    def _settle(self):
        """Steps on all stored rows, which make up for those dropped."""
        order = self.rng.permutation(len(self.X))
        for start in range(0, len(order), _LARGEST_STEP):
            self._ascend(np.sort(order[start : start + _LARGEST_STEP]))


def _take(problems, rows):
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    return [problem.take(rows) for problem in problems]


def _scaled(problems, factors):
    return [problem.scaled(factors) for problem in problems]


def _one_of_each(ids, weight, adds):
    """Of one id the latest row, and its weight: that of all its rows with ``adds``."""
    _, last, group = np.unique(ids[::-1], return_index=True, return_inverse=True)
    if adds:
        weight = np.bincount(group, weight[::-1])[group][::-1]
    rows = np.sort(len(ids) - 1 - last)
    return rows, weight[rows]


def _sides(problems):
    """The class of every row by the way its coefficients may go; rows of a regression are alike."""
    if len(problems) == 1:
        return (problems[0].upper > -problems[0].lower).astype(np.intp)
    return np.argmax([problem.upper for problem in problems], axis=0)
