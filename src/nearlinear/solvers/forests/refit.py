"""What the leaves of a given forest hold, found for all trees together.

Minimizes over the leaf models w, with λ > 0 and w₀ = (grown value, grown slopes),

    Σ_i weight_i loss(y_i, f_i) + ½ λ Σ_leaves ‖w − w₀‖²,    f_i = base_i + Σ_t ⟨w_leaf(t, i), z_i⟩,

where z is 1, or 1 and some columns. The leaves of one tree share no row, so with all other trees
held, each leaf is a small problem of its own: a pass goes from tree to tree and takes a Newton step
in every leaf, which never makes the objective larger (``leaf_steps.py``). A leaf of several outputs
is that many leaves of one output, one after the other. λ = ∞ leaves the forest as it was grown.

The certificate: the penalty is strongly convex, so the optimum is at most ‖slope‖² / (2 λ) below.
That is the duality gap, too. For absolute and quantile errors, whose corner is rounded off more
narrowly from pass to pass, the gap has one more term: what the loss is above its tangents.

Sums over rows are of blocks that do not depend on the number of threads; all are in float64.
"""

from dataclasses import dataclass

import numpy as np

from ..._compile import run_blocks
from ..watch import Progress
from .leaf_steps import (
    add_by_leaf,
    add_scores,
    add_slopes_by_leaf,
    constant_moves,
    linear_moves,
    rows_by_leaf,
)
from .row_losses import row_loss

_BLOCK_ROWS, _BLOCK_LEAVES = 1 << 14, 64


@dataclass(frozen=True)
class LeafSolution:
    """Leaf models, the training rows' scores under them, and what they are worth.

    ``values`` (n_leaves, n_told), ``slopes`` (n_leaves, n_told, n_slopes), ``scores``
    (n_rows, n_outputs). The optimum is at most ``gap`` below ``objective``.
    """

    values: np.ndarray
    slopes: np.ndarray
    scores: np.ndarray
    lam: float
    objective: float
    gap: float
    n_iter: int


def refit_leaves(
    leaves, leaf_starts, values, outputs, base, targets, weight, *,
    loss, lam, Z=None, slopes=None, max_passes=10, tol=1e-3, start=None, watch=None, n_jobs=None,
):  # fmt: skip
    """``refit_path`` for one λ; ``start`` is a ``LeafSolution`` to go on from."""
    forest = LeafProblem.of(
        leaves, leaf_starts, values, outputs, base, targets, weight, loss, Z, slopes
    )
    return forest.solve(lam, max_passes, tol, start, watch, n_jobs)


def refit_path(
    leaves, leaf_starts, values, outputs, base, targets, weight, *,
    loss, lams, Z=None, slopes=None, max_passes=5, tol=1e-3, watch=None, n_jobs=None,
):  # fmt: skip
    """Yields a ``LeafSolution`` for each of ``lams``, each started from the one before.

    ``leaves`` (n_rows, n_trees) has the leaf of each row in every tree, counted through all trees;
    tree t has those from ``leaf_starts[t]`` on. ``values`` (n_leaves, n_told) and ``slopes``
    (n_leaves, n_told, n_slopes) are as grown; tree t adds to the output ``outputs[t]`` if n_told
    is 1, and to all outputs otherwise. ``base`` (n_rows, n_outputs) is what comes before the trees,
    ``Z`` (n_rows, n_slopes) the columns that slopes see, on scales that are alike. ``targets`` are
    those of ``losses.py``. A pass of a solver ends where the gap is at most ``tol`` times the
    objective, or after ``max_passes``.
    """
    forest = LeafProblem.of(
        leaves, leaf_starts, values, outputs, base, targets, weight, loss, Z, slopes
    )
    found = None
    for lam in lams:
        found = forest.solve(lam, max_passes, tol, found, watch, n_jobs)
        yield found


def refit_memory(n_rows, n_trees, n_outputs, n_slopes):
    """Bytes that a refit takes beside what it is given, in the main."""
    per_row = 4 * n_trees + 8 * 3 * n_outputs + 8
    if n_slopes:
        per_row += 4 * n_trees + 4 * n_slopes + 8 * 3 + 4
    return n_rows * per_row


def scores_of(leaves, leaf_starts, values, slopes, outputs, Z, base):
    """Scores of other rows, shape (n_rows, n_outputs), from their leaves."""
    scores = np.array(np.asarray(base).T, dtype=np.float64, order="C")
    models = _models_of(values, slopes)
    Z = _seen(Z, len(leaves))
    for tree, output, told in _units(outputs, models.shape[1]):
        own = models[leaf_starts[tree] : leaf_starts[tree + 1], told]
        leaf = np.ascontiguousarray(leaves[:, tree] - leaf_starts[tree])
        add_scores(leaf, own, Z, scores[output])
    return scores.T


@dataclass(frozen=True)
class LeafProblem:
    """The arrays of a refit in the order that its passes read them."""

    leaves: np.ndarray  # (n_trees, n_rows), counted in each tree
    leaf_starts: np.ndarray
    grown: np.ndarray  # (n_leaves, n_told, 1 + n_slopes), as are all models here
    units: tuple  # (tree, output, which of the told): what a step moves
    base: np.ndarray  # (n_outputs, n_rows)
    targets: np.ndarray
    weight: np.ndarray
    loss: object
    Z: np.ndarray
    rows: np.ndarray  # numbers of rows in the order they are kept in; empty: their own
    order: np.ndarray  # (n_trees, n_rows), rows by leaf; no rows without slopes
    bounds: tuple  # of leaves in it, an array for each tree

    @classmethod
    def of(cls, leaves, leaf_starts, values, outputs, base, targets, weight, loss, Z, slopes):
        starts = np.asarray(leaf_starts, dtype=np.int64)
        by_tree = np.ascontiguousarray(np.asarray(leaves, dtype=np.int32).T)
        by_tree -= starts[:-1, None].astype(np.int32)
        Z = _seen(Z, len(leaves))
        if slopes is None:
            slopes = np.zeros((*np.shape(values), Z.shape[1]))
        grown = _models_of(values, slopes)
        weight = np.ones(len(leaves)) if weight is None else weight
        base, targets, weight = (
            np.array(np.asarray(one).T, dtype=np.float64, order="C")
            for one in (base, targets, weight)
        )
        rows, order, bounds = np.empty(0, dtype=np.int32), np.empty((len(by_tree), 0)), ()
        if Z.shape[1]:
            # neighbors in one tree are often neighbors in another: their rows are read together
            rows = _rows_by_leaves(by_tree, starts)
            by_tree, base, targets = (
                np.ascontiguousarray(one[:, rows]) for one in (by_tree, base, targets)
            )
            weight, Z = weight[rows], Z[rows]
            order, bounds = _orders(by_tree, starts)
        units = _units(outputs, grown.shape[1])
        return cls(
            by_tree, starts, grown, units, base, targets, weight, loss, Z, rows, order, bounds
        )

    def solve(self, lam, max_passes, tol, start=None, watch=None, n_jobs=None):
        models = self.grown.copy() if start is None else _models_of(start.values, start.slopes)
        if not np.isfinite(lam):
            models = self.grown.copy()
        state = _State(self, models, lam, n_jobs)
        if not np.isfinite(lam):
            return state.solution(state.objective(), 0.0, 0)
        for n_iter in range(1, max_passes + 1):
            nearly = state.take_pass() / (2.0 * lam)
            objective = state.objective()
            gap = np.inf
            if nearly <= 4.0 * tol * objective or n_iter == max_passes or watch is not None:
                gap = state.gap()
            if watch is not None:
                found = state.solution(objective, gap, n_iter)
                if watch(Progress(n_iter, objective, gap, state=found)):
                    break
            if gap <= tol * objective:
                break
        return state.solution(objective, gap, n_iter)


class _State:
    """Models and scores on their way down."""

    def __init__(self, problem, models, lam, n_jobs):
        self.problem, self.models, self.lam, self.n_jobs = problem, models, lam, n_jobs
        self.scores = self._scores()
        self.rows = row_loss(problem.loss, self.scores, problem.targets, problem.weight)
        self.rows.begin(self.scores)
        n_kept = len(problem.weight) if problem.Z.shape[1] else 0
        self._g, self._h, self._moves = np.empty((3, n_kept))

    def _scores(self):
        problem, scores = self.problem, self.problem.base.copy()
        for unit in problem.units:
            leaf, own, output = problem.leaves[unit[0]], self._own(self.models, unit), unit[1]

            def work(part, leaf=leaf, own=own, output=output):
                add_scores(leaf[part], own, problem.Z[part], scores[output, part])

            self._blocks(work)
        return scores

    def _own(self, models, unit):
        starts = self.problem.leaf_starts
        return models[starts[unit[0]] : starts[unit[0] + 1], unit[2]]

    def _blocks(self, work):
        n_rows = len(self.problem.weight)
        run_blocks(lambda start, stop: work(slice(start, stop)), n_rows, _BLOCK_ROWS, self.n_jobs)

    def take_pass(self):
        """A step in every leaf; Σ of squared slopes that the steps have met."""
        squares = 0.0
        for unit in self.problem.units:
            step = self._linear if self.problem.Z.shape[1] else self._constant
            squares += step(unit)
        self._balance()
        self.rows.begin(self.scores)
        return squares

    def _balance(self):
        """Shift leaves by what changes no loss, to where the penalty is least.

        Steps in single leaves would take long for that. Trees of one output may pass on a constant:
        leaves of tree t are shifted by c_t with Σ c_t = 0. A softmax does not see what is added to
        all classes: to all values of a leaf, or by the trees of every class.
        """
        problem, shared = self.problem, self.rows.sees_differences
        if shared and self.models.shape[1] > 1:
            moved = self.models - problem.grown
            self.models -= moved.mean(axis=1, keepdims=True)
        units = [u for u in problem.units]
        outputs = np.array([output for _, output, _ in units])
        pairs = [(self._own(self.models, u), self._own(problem.grown, u)) for u in units]
        means = np.array([(own - grown).mean(axis=0) for own, grown in pairs])
        share = 1.0 / np.array([len(own) for own, _ in pairs])
        n_outputs = len(self.scores)
        room = np.bincount(outputs, share, n_outputs)[:, None]
        offset = np.zeros((n_outputs, means.shape[1]))
        np.add.at(offset, outputs, means)
        if shared and room.all():
            offset -= (offset / room).sum(axis=0) / (1.0 / room).sum()
        for (own, _), mean, part, output in zip(pairs, means, share, outputs, strict=True):
            own += part * offset[output] / room[output] - mean

    def _constant(self, unit):
        leaf, own = self.problem.leaves[unit[0]], self._own(self.models, unit)
        sums = self._sums(
            leaf,
            (len(own), 2),
            lambda part, g, h, total: add_by_leaf(leaf[part], g, h, total),
            unit[1],
        )
        moves = np.empty(len(own))
        grown = self._own(self.problem.grown, unit)
        squares = constant_moves(sums, own, grown, self.lam, self.rows.grows, moves)
        self._blocks(lambda part: self.rows.move(self.scores, unit[1], part, moves[leaf[part]]))
        return squares

    def _linear(self, unit):
        problem = self.problem
        own, grown = self._own(self.models, unit), self._own(problem.grown, unit)
        order, bounds = problem.order[unit[0]], problem.bounds[unit[0]]
        g, h, moves = self._g, self._h, self._moves
        self._blocks(lambda part: self.rows.slopes(self.scores, unit[1], part, g[part], h[part]))
        squares = np.zeros(-(-len(own) // _BLOCK_LEAVES))

        def work(first, last):
            squares[first // _BLOCK_LEAVES] = linear_moves(
                order, bounds, first, last, g, h, problem.Z, own, grown,
                self.lam, self.rows.grows, moves,
            )  # fmt: skip

        run_blocks(work, len(own), _BLOCK_LEAVES, self.n_jobs)
        self._blocks(lambda part: self.rows.move(self.scores, unit[1], part, moves[part]))
        return float(squares.sum())

    def _sums(self, leaf, shape, add, output):
        """Sums over rows, by leaf: of each block, then of blocks."""
        of_blocks = np.zeros((-(-len(leaf) // _BLOCK_ROWS), *shape))

        def work(part):
            g, h = np.empty((2, len(leaf[part])))
            self.rows.slopes(self.scores, output, part, g, h)
            add(part, g, h, of_blocks[part.start // _BLOCK_ROWS])

        self._blocks(work)
        return of_blocks.sum(axis=0)

    def _loss(self):
        found = {}

        def work(part):
            found[part.start] = self.rows.value(self.scores, part)

        self._blocks(work)
        return [sum(found[start][which] for start in sorted(found)) for which in (0, 1)]

    def objective(self):
        moved = ((self.models - self.problem.grown) ** 2).sum()
        return float(self._loss()[0] + (0.5 * self.lam * moved if moved else 0.0))

    def gap(self):
        squares = 0.0
        Z = self.problem.Z
        for unit in self.problem.units:
            leaf, own = self.problem.leaves[unit[0]], self._own(self.models, unit)
            sums = self._sums(
                leaf,
                own.shape,
                lambda part, g, h, total, leaf=leaf: add_slopes_by_leaf(
                    leaf[part], g, Z[part], total
                ),
                unit[1],
            )
            slope = sums + self.lam * (own - self._own(self.problem.grown, unit))
            squares += (slope**2).sum()
        return float(squares / (2.0 * self.lam) + self._loss()[1])

    def solution(self, objective, gap, n_iter):
        values = self.models[:, :, 0].copy()
        slopes = self.models[:, :, 1:].copy()
        scores = np.ascontiguousarray(self._scores().T)
        if len(self.problem.rows):
            kept, scores = scores, np.empty_like(scores)
            scores[self.problem.rows] = kept
        return LeafSolution(values, slopes, scores, float(self.lam), objective, gap, n_iter)


def _units(outputs, n_told):
    if n_told == 1:
        return tuple((tree, int(output), 0) for tree, output in enumerate(outputs))
    return tuple((tree, told, told) for tree in range(len(outputs)) for told in range(n_told))


def _orders(leaves, starts):
    """Rows by leaf in every tree, and where leaves begin and end in them."""
    order, bounds = np.empty(leaves.shape, dtype=np.int32), []
    for leaf, rows, n_leaves in zip(leaves, order, np.diff(starts), strict=True):
        bounds.append(np.empty(n_leaves + 1, dtype=np.int64))
        rows_by_leaf(leaf, n_leaves, rows, bounds[-1])
    return order, tuple(bounds)


def _rows_by_leaves(leaves, starts):
    """Rows sorted by their leaf in the first tree, those of one leaf by the second, and so on."""
    rows = np.arange(leaves.shape[1], dtype=np.int32)
    for leaf, n_leaves in zip(leaves[::-1], np.diff(starts)[::-1], strict=True):
        rows = rows[_orders(leaf[rows][None], [0, n_leaves])[0][0]]
    return rows


def _models_of(values, slopes):
    values = np.asarray(values, dtype=np.float64)
    return np.concatenate([values[:, :, None], np.asarray(slopes, dtype=np.float64)], axis=2)


def _seen(Z, n_rows):
    return np.empty((n_rows, 0), dtype=np.float32) if Z is None else np.ascontiguousarray(Z)
