"""Rows and kernels that stream together: what is stored, what is dropped, who may enter."""

import numpy as np

from .conformal_online import OnlineMachine

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
    steps : FreeBias or FixedBias
        How the bias is treated.
    n_outputs, n_features : int
        Shapes.
    max_support, max_kernels : int or None
        Budgets. Without the first every row is stored; with it, those that may support a machine.
    rng : RandomState
        Draws the stored rows that are stepped on again.
    """

    def __init__(self, scales, steps, n_outputs, n_features, max_support, max_kernels, rng):
        self.scales, self.rng = scales, rng
        self.max_support, self.max_kernels = max_support, max_kernels
        empty = scales.bank(np.zeros((1, n_features)))
        self.machines = [OnlineMachine(empty, steps) for _ in range(n_outputs)]
        self.X = np.zeros((0, n_features))
        self.dual_coef = np.zeros((0, n_outputs))
        self.y = self.weight = np.zeros(0)
        self.ids = np.zeros(0, dtype=np.int64)
        self.has_id = np.zeros(0, dtype=bool)
        self.problems = None
        self._tried = self.X
        self._since = 0

    def resume(self, X, y, weight, problems, dual_coef, machines, ids=None, has_id=None):
        """Go on from a solution: stored rows, and (bank, evaluation) of every output."""
        if ids is None:
            ids, has_id = np.zeros(len(X), dtype=np.int64), np.zeros(len(X), dtype=bool)
        self._add(X, y, weight, problems, ids, has_id)
        self.dual_coef = dual_coef
        for o, (bank, evaluation) in enumerate(machines):
            self.machines[o].resume(X, bank, evaluation, dual_coef[:, o])

    def process(self, X, y, weight, problems, ids=None):
        """Take in rows, their targets and weights, one dual problem per output, and their ids.

        A row whose id is stored already replaces the stored one.
        """
        for start in range(0, len(X), _BLOCK):
            rows = np.arange(start, min(start + _BLOCK, len(X)))
            if ids is not None:  # of one id the latest row
                _, last = np.unique(ids[rows][::-1], return_index=True)
                rows = np.sort(rows[::-1][last])
            self._process_block(
                X[rows], y[rows], weight[rows], [one.take(rows) for one in problems],
                None if ids is None else ids[rows],
            )  # fmt: skip
        if len(self.X):
            for o, machine in enumerate(self.machines):
                machine.set_bias(self.X, self.problems[o], self.dual_coef[:, o])

    def _process_block(self, X, y, weight, problems, ids):
        places = self._places(X, ids)
        known, n_before = places >= 0, len(self.X)
        wanted = ~known & self._is_wanted(X, problems)
        self._replace(X[known], y[known], weight[known], _take(problems, known), places[known])
        numbers = np.zeros(len(X), dtype=np.int64) if ids is None else ids
        named = np.full(len(X), ids is not None)
        self._add(
            X[wanted], y[wanted], weight[wanted], _take(problems, wanted), numbers[wanted],
            named[wanted],
        )  # fmt: skip
        if len(self.X) == 0:
            return
        if len(self.machines[0].bank) == 0:
            self._begin()
        else:
            self._ascend(np.concatenate([places[known], np.arange(n_before, len(self.X))]))
        self._tried = np.concatenate([self._tried, X[~known]])[-_MOST_TRIED:]
        self._since += len(X)
        # at first whenever the rows have doubled
        if 2 * self._since >= min(2 * _PERIOD, len(self.X)):
            self.reconsider()
        self._keep_to_budget()
        count = min(_BLOCK, len(self.X))
        self._ascend(np.sort(self.rng.choice(len(self.X), count, replace=False)))

    def _places(self, X, ids):
        """Where rows of these ids are stored, −1 for those that are not."""
        places = np.full(len(X), -1)
        stored = np.flatnonzero(self.has_id)
        if ids is None or len(stored) == 0:
            return places
        stored = stored[np.argsort(self.ids[stored], kind="stable")]
        at = np.minimum(np.searchsorted(self.ids[stored], ids), len(stored) - 1)
        return np.where(self.ids[stored[at]] == ids, stored[at], -1)

    def _is_wanted(self, X, problems):
        if self.max_support is None or len(self.machines[0].bank) == 0:
            return np.ones(len(X), dtype=bool)
        pairs = zip(self.machines, problems, strict=True)
        return np.any([machine.violators(X, problem) for machine, problem in pairs], axis=0)

    def _add(self, X, y, weight, problems, ids, has_id):
        self.X = np.concatenate([self.X, X])
        self.y, self.weight = np.concatenate([self.y, y]), np.concatenate([self.weight, weight])
        self.ids = np.concatenate([self.ids, ids])
        self.has_id = np.concatenate([self.has_id, has_id])
        fresh = np.zeros((len(X), len(self.machines)))
        self.dual_coef = np.concatenate([self.dual_coef, fresh])
        if self.problems is None:
            self.problems = problems
        else:
            both = zip(self.problems, problems, strict=True)
            self.problems = [one.joined(other) for one, other in both]

    def _replace(self, X, y, weight, problems, places):
        """New versions of stored rows: coefficients stay where the new box has room for them."""
        if len(places) == 0:
            return
        for o, (machine, problem) in enumerate(zip(self.machines, problems, strict=True)):
            old = self.dual_coef[places, o]
            new = np.clip(old, problem.lower, problem.upper)
            machine.tell(self.X[places], -old)
            machine.tell(X, new)
            self.dual_coef[places, o] = new
            self.problems[o] = self.problems[o].replaced(places, problem)
        self.X[places], self.y[places], self.weight[places] = X, y, weight
        self._balance()

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
        """Drop rows that support nothing, then those that support least, from both sides alike."""
        if self.max_support is None or len(self.X) <= self.max_support:
            return
        ranks = self._ranks()
        kept = np.sort(np.argsort(ranks, kind="stable")[: self.max_support])
        dropped = np.setdiff1d(np.arange(len(self.X)), kept)
        for o, machine in enumerate(self.machines):
            machine.tell(self.X[dropped], -self.dual_coef[dropped, o])
        self.X, self.y, self.weight = self.X[kept], self.y[kept], self.weight[kept]
        self.ids, self.has_id = self.ids[kept], self.has_id[kept]
        self.dual_coef = self.dual_coef[kept]
        self.problems = _take(self.problems, kept)
        self._balance()
        order = self.rng.permutation(len(self.X))
        for start in range(0, len(order), _LARGEST_STEP):
            self._ascend(np.sort(order[start : start + _LARGEST_STEP]))

    def _ranks(self):
        """How many rows on the same side support more; rows that support nothing come last.

        Many rows are at their bound and alike: chance decides among them.
        """
        shares = np.stack(
            [
                self.dual_coef[:, o] / np.maximum(problem.upper - problem.lower, 1e-300)
                for o, problem in enumerate(self.problems)
            ]
        )
        strongest = np.abs(shares).argmax(axis=0)
        shares = shares[strongest, np.arange(len(self.X))]
        ranks = np.full(len(self.X), len(self.X))
        for sign in (-1.0, 1.0):
            members = np.flatnonzero(np.sign(shares) == sign)
            order = np.lexsort((self.rng.uniform(size=len(members)), -np.abs(shares[members])))
            ranks[members[order]] = np.arange(len(members))
        return ranks

    def _balance(self):
        """After changes from outside: coefficients that the bias allows."""
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            if machine.steps.is_free:
                self.dual_coef[:, o] = machine.balance(self.X, problem, self.dual_coef[:, o])
            machine.set_bias(self.X, problem, self.dual_coef[:, o])


def _take(problems, rows):
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    return [problem.take(rows) for problem in problems]
