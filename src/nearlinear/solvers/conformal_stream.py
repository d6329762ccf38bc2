"""Rows and kernels that stream together: what is stored, what is dropped, who may enter."""

import numpy as np

from .conformal_online import OnlineMachine

_BLOCK = 64
# After this many rows the kernels are reconsidered.
_PERIOD = 128
# Recent rows around which kernels are tried then.
_MOST_TRIED = 64


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
        self.problems = None
        self._n_seen = 0
        self._tried = self.X
        self._since = 0

    def resume(self, X, y, weight, problems, dual_coef, machines, ids=None):
        """Go on from a solution: stored rows, and (bank, evaluation) of every output."""
        self._add(X, y, weight, problems, self.new_ids(len(X)) if ids is None else ids)
        self.dual_coef = dual_coef
        for o, (bank, evaluation) in enumerate(machines):
            self.machines[o].resume(X, bank, evaluation, dual_coef[:, o])
        self._n_seen = max(self._n_seen, int(self.ids.max(initial=-1)) + 1)

    def new_ids(self, count):
        """Numbers that no row has."""
        return self._n_seen + np.arange(count)

    def process(self, X, y, weight, problems, ids):
        """Take in rows, their targets and weights, one dual problem per output, and their ids.

        A row whose id is stored already replaces the stored one.
        """
        self._n_seen = max(self._n_seen, int(ids.max(initial=-1)) + 1)
        for start in range(0, len(X), _BLOCK):
            part = slice(start, min(start + _BLOCK, len(X)))
            rows = np.arange(part.start, part.stop)
            self._process_block(
                X[part], y[part], weight[part], [one.take(rows) for one in problems], ids[part]
            )
        if len(self.X):
            for o, machine in enumerate(self.machines):
                machine.set_bias(self.X, self.problems[o], self.dual_coef[:, o])

    def _process_block(self, X, y, weight, problems, ids):
        ids, last = np.unique(ids[::-1], return_index=True)  # of one id the latest row
        rows = len(X) - 1 - last
        X, y, weight = X[rows], y[rows], weight[rows]
        problems = [one.take(rows) for one in problems]
        known = np.isin(ids, self.ids)
        wanted = ~known & self._is_wanted(X, problems)
        for chosen, store in ((known, self._replace), (wanted, self._add)):
            part = [problem.take(chosen) for problem in problems]
            store(X[chosen], y[chosen], weight[chosen], part, ids[chosen])
        if len(self.X) == 0:
            return
        places = np.flatnonzero(np.isin(self.ids, ids))
        if len(self.machines[0].bank) == 0:
            self._begin()
        else:
            self._ascend(places)
            count = min(_BLOCK, len(self.X))
            self._ascend(np.sort(self.rng.choice(len(self.X), count, replace=False)))
        self._tried = np.concatenate([self._tried, X[~known]])[-_MOST_TRIED:]
        self._since += len(X)
        if self._since >= _PERIOD:
            self.reconsider()
        self._keep_to_budget()

    def _is_wanted(self, X, problems):
        if self.max_support is None or len(self.machines[0].bank) == 0:
            return np.ones(len(X), dtype=bool)
        pairs = zip(self.machines, problems, strict=True)
        return np.any([machine.violators(X, problem) for machine, problem in pairs], axis=0)

    def _add(self, X, y, weight, problems, ids):
        self.X = np.concatenate([self.X, X])
        self.y, self.weight = np.concatenate([self.y, y]), np.concatenate([self.weight, weight])
        self.ids = np.concatenate([self.ids, ids])
        fresh = np.zeros((len(X), len(self.machines)))
        self.dual_coef = np.concatenate([self.dual_coef, fresh])
        if self.problems is None:
            self.problems = problems
        else:
            both = zip(self.problems, problems, strict=True)
            self.problems = [one.joined(other) for one, other in both]

    def _replace(self, X, y, weight, problems, ids):
        """New versions of stored rows: coefficients stay where the new box has room for them."""
        if len(ids) == 0:
            return
        order = np.argsort(self.ids, kind="stable")
        places = order[np.searchsorted(self.ids, ids, sorter=order)]
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
        bank = self.scales.bank(self.X)
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
        """Drop rows that support nothing, then those that support least."""
        if self.max_support is None or len(self.X) <= self.max_support:
            return
        sizes = np.zeros(len(self.X))
        for o, problem in enumerate(self.problems):
            box = np.maximum(problem.upper - problem.lower, 1e-300)
            sizes = np.maximum(sizes, np.abs(self.dual_coef[:, o]) / box)
        kept = np.sort(np.argsort(-sizes, kind="stable")[: self.max_support])
        dropped = np.setdiff1d(np.arange(len(self.X)), kept)
        for o, machine in enumerate(self.machines):
            machine.tell(self.X[dropped], -self.dual_coef[dropped, o])
        self.X, self.y, self.weight = self.X[kept], self.y[kept], self.weight[kept]
        self.ids, self.dual_coef = self.ids[kept], self.dual_coef[kept]
        self.problems = [problem.take(kept) for problem in self.problems]
        self._balance()

    def _balance(self):
        """After changes from outside: coefficients that the bias allows."""
        for o, (machine, problem) in enumerate(zip(self.machines, self.problems, strict=True)):
            if machine.steps.is_free:
                self.dual_coef[:, o] = machine.balance(self.X, problem, self.dual_coef[:, o])
            machine.set_bias(self.X, problem, self.dual_coef[:, o])
