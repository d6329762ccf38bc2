"""Leaf models and scores on their way down: passes over all trees, and what is left to go."""

import numpy as np

from ..._compile import run_blocks
from .leaf_steps import (
    add_by_leaf,
    add_scores,
    add_slopes_by_leaf,
    constant_moves,
    linear_moves,
    part_of_moves,
)
from .row_losses import row_loss

_BLOCK_ROWS, _BLOCK_LEAVES = 1 << 14, 64


class LeafDescent:
    """Steps from some models of a ``LeafProblem``; sums are the same for any ``n_jobs``."""

    def __init__(self, problem, models, lam, n_jobs=None):
        self.problem, self.models, self._n_jobs = problem, models, n_jobs
        self.lam = float(lam)  # a pass is not compiled again for a whole number
        if problem.tree_orders:
            self._put_in_order()
        self.scores = self.fresh_scores()
        self.rows = row_loss(problem.loss, self.scores, problem.targets, problem.weight)
        self.rows.begin(self.scores)
        n_kept = len(problem.weight) if problem.Z.shape[1] else 0
        self._g, self._h, self._moves = np.empty((3, n_kept))

    def fresh_scores(self):
        """Scores of the models, (n_outputs, n_rows)."""
        problem, scores = self.problem, self.problem.base.copy()
        for unit in problem.units:
            leaf, own = problem.leaves[unit.tree], problem.own(self.models, unit)

            def work(part, leaf=leaf, own=own, output=unit.output):
                add_scores(leaf[part], own, problem.Z[part], scores[output, part])

            self._blocks(work)
        return scores

    def take_pass(self):
        """A step in every leaf; Σ of squared slopes that the steps have met."""
        step = self._linear_step if self.problem.Z.shape[1] else self._constant_step
        squares = sum(step(unit) for unit in self.problem.units)
        self._balance()
        self.rows.begin(self.scores)
        return squares

    def go_to(self, models, scores):
        self.models[:], self.scores[:] = models, scores
        self.rows.begin(self.scores)

    def objective(self):
        loss = self._loss()[0]
        if np.isinf(self.lam):
            return float(loss)
        return float(loss + 0.5 * self.lam * ((self.models - self.problem.grown) ** 2).sum())

    def gap(self):
        """Its two parts: from the slopes of the leaf models, and from corners of the loss."""
        problem, total, of_output = self.problem, 0.0, None
        g, h = np.empty((2, len(problem.weight)))
        for unit in sorted(problem.units, key=lambda unit: unit.output):
            if unit.output != of_output:
                of_output = unit.output
                self._fill_slopes(of_output, g, h)
            leaf, own = problem.leaves[unit.tree], problem.own(self.models, unit)

            def add(part, sums, leaf=leaf):
                add_slopes_by_leaf(leaf[part], g[part], problem.Z[part], sums)

            slope = self._sums(own.shape, add)
            slope += self.lam * (own - problem.own(problem.grown, unit))
            # what the slope and the least curvature λ leave to gain, at best
            best = own - slope / self.lam
            if problem.tree_orders:
                order = problem.tree_orders[unit.tree]
                best[:, 0] = order.nearest(best[:, 0], np.ones(len(best)))
            total += (slope * (own - best)).sum() - 0.5 * self.lam * ((own - best) ** 2).sum()
        return float(total), self._loss()[1]

    def _constant_step(self, unit):
        problem = self.problem
        leaf, own = problem.leaves[unit.tree], problem.own(self.models, unit)
        grown, moves = problem.own(problem.grown, unit), np.empty(len(own))

        def add(part, sums):
            g, h = np.empty((2, part.stop - part.start))
            self.rows.slopes(self.scores, unit.output, part, g, h)
            add_by_leaf(leaf[part], g, h, sums)

        sums = self._sums((len(own), 2), add)
        squares = constant_moves(sums, own, grown, self.lam, self.rows.grows, moves)
        if problem.tree_orders:
            order = problem.tree_orders[unit.tree]
            ordered = self._in_order(order, sums, own[:, 0], grown[:, 0], moves)
            moves, own[:, 0] = ordered - own[:, 0], ordered
        else:
            own[:, 0] += moves
        self._blocks(lambda part: self.rows.move(self.scores, unit.output, part, moves[leaf[part]]))
        return squares

    def _in_order(self, order, sums, now, grown, moves):
        """Values in order, where a quadratic model that has its least at ``moves`` is least."""
        slope, curve = sums[:, 0] + self.lam * (now - grown), sums[:, 1]
        model = curve + self.lam
        np.divide(np.abs(slope), np.abs(moves), out=model, where=moves != 0)
        ordered = order.nearest(now + moves, model)
        part = part_of_moves(slope, curve, self.lam, self.rows.grows, ordered - now)
        if part < 1.0:
            # between two ordered vectors, up to rounding
            ordered = order.nearest(now + part * (ordered - now), model)
        return ordered

    def _linear_step(self, unit):
        problem, g, h, moves = self.problem, self._g, self._h, self._moves
        own, grown = problem.own(self.models, unit), problem.own(problem.grown, unit)
        order, bounds = problem.by_leaf[unit.tree]
        squares = np.zeros(-(-len(own) // _BLOCK_LEAVES))

        def work(first, last):
            squares[first // _BLOCK_LEAVES] = linear_moves(
                order, bounds, first, last, g, h, problem.Z, own, grown,
                self.lam, self.rows.grows, moves,
            )  # fmt: skip

        self._fill_slopes(unit.output, g, h)
        run_blocks(work, len(own), _BLOCK_LEAVES, self._n_jobs)
        self._blocks(lambda part: self.rows.move(self.scores, unit.output, part, moves[part]))
        return float(squares.sum())

    def _balance(self):
        """Shift leaves by what changes no loss, to where the penalty is least.

        Steps in single leaves would take long for that. Trees of one output may pass on a constant:
        leaves of tree t are shifted by c_t with Σ c_t = 0. A softmax does not see what is added to
        all classes: to all values of a leaf, or by the trees of every class.
        """
        problem, shared = self.problem, self.rows.sees_differences
        if shared and self.models.shape[1] > 1 and not problem.tree_orders:
            self.models -= (self.models - problem.grown).mean(axis=1, keepdims=True)
        pairs = [
            (problem.own(self.models, unit), problem.own(problem.grown, unit))
            for unit in problem.units
        ]
        outputs = np.array([unit.output for unit in problem.units])
        means = np.array([(own - grown).mean(axis=0) for own, grown in pairs])
        share = 1.0 / np.array([len(own) for own, _ in pairs])
        room = np.bincount(outputs, share, len(self.scores))[:, None]
        offset = np.zeros((len(self.scores), means.shape[1]))
        np.add.at(offset, outputs, means)
        if shared and room.all():
            offset -= (offset / room).sum(axis=0) / (1.0 / room).sum()
        for (own, _), mean, part, output in zip(pairs, means, share, outputs, strict=True):
            own += part * offset[output] / room[output] - mean

    def _put_in_order(self):
        for unit in self.problem.units:
            own = self.problem.own(self.models, unit)
            order = self.problem.tree_orders[unit.tree]
            own[:, 0] = order.nearest(own[:, 0], np.ones(len(own)))

    def _fill_slopes(self, output, g, h):
        self._blocks(lambda part: self.rows.slopes(self.scores, output, part, g[part], h[part]))

    def _sums(self, shape, add):
        """Sums over rows, by leaf: ``add(part, sums)`` for each block, then those of blocks."""
        n_rows = len(self.problem.weight)
        block = max(_BLOCK_ROWS, int(np.prod(shape)))  # so that all sums take no more than rows do
        of_blocks = np.zeros((-(-n_rows // block), *shape))
        run_blocks(
            lambda start, stop: add(slice(start, stop), of_blocks[start // block]),
            n_rows, block, self._n_jobs,
        )  # fmt: skip
        return of_blocks.sum(axis=0)

    def _loss(self):
        found = np.zeros((-(-len(self.problem.weight) // _BLOCK_ROWS), 2))

        def work(part):
            found[part.start // _BLOCK_ROWS] = self.rows.value(self.scores, part)

        self._blocks(work)
        return found.sum(axis=0)

    def _blocks(self, work):
        n_rows = len(self.problem.weight)
        run_blocks(lambda start, stop: work(slice(start, stop)), n_rows, _BLOCK_ROWS, self._n_jobs)
