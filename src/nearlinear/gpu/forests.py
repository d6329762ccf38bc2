"""What the leaves of a given forest hold, found on a device.

The problem, the steps, the mixing of passes and the certificate are those of
``solvers/forests/refit.py``: a pass goes from tree to tree and takes a Newton step in all leaves of
a tree at once. Rows are sorted by leaf once for every tree, so that sums over leaves have an order
of their own, and all are in float64. Log losses and squared errors without monotone constraints.
"""

import numpy as np
import torch

from ..losses import LogLoss, SquaredError
from ..solvers.forests.mixing import PassMixing
from ..solvers.forests.problem import models_of, units_of
from ..solvers.forests.refit import LeafSolution, mix
from ..solvers.watch import Progress

_NEWTON_STEPS = 10  # of the length of a step, which converge from above
_PIECE = 128  # rows that one thread sums: all would wait for one that sums a long leaf


class _Tree:
    """Rows of one tree in the order of its leaves; ``seen`` has 1 and the columns of slopes."""

    def __init__(self, leaf, n_leaves, Z):
        self.leaf, self.order = torch.sort(leaf, stable=True)
        self.seen = None if Z is None else Z[self.order]
        lengths = torch.bincount(leaf, minlength=n_leaves)
        self._n_pieces = -(-lengths // _PIECE)
        owner = torch.repeat_interleave(self._n_pieces)
        number = torch.arange(len(owner), device=leaf.device)
        number -= (self._n_pieces.cumsum(0) - self._n_pieces)[owner]
        self._pieces = (lengths[owner] - number * _PIECE).clamp_max(_PIECE)

    def _reduced(self, values, how):
        """By leaf; values come in the order of leaves."""
        for lengths in (self._pieces, self._n_pieces):
            values = torch.segment_reduce(values, how, lengths=lengths, axis=0, unsafe=True)
        return values

    def sums(self, values):
        return self._reduced(values, "sum")

    def largest(self, values):
        return torch.where(self._n_pieces > 0, self._reduced(values, "max"), 0.0)


class LeafDescent:
    """Leaf models and scores on their way down, as tensors."""

    def __init__(self, problem, models, lam):
        self.problem, self.models, self.lam = problem, models, float(lam)
        self.scores = self.fresh_scores()

    def fresh_scores(self):
        problem, scores = self.problem, self.problem.base.clone()
        for unit in problem.units:
            tree, own = problem.trees[unit.tree], problem.own(self.models, unit)
            scores[unit.output, tree.order] += self._told(tree, own)
        return scores

    def go_to(self, models, scores):
        self.models.copy_(models)
        self.scores.copy_(scores)

    def _told(self, tree, own):
        """What leaf models say of rows in the order of leaves."""
        if tree.seen is None:
            return own[tree.leaf, 0]
        return (own[tree.leaf] * tree.seen).sum(1)

    def slopes(self, output):
        """First and second derivatives of the rows' losses by one output."""
        problem, scores = self.problem, self.scores
        if isinstance(problem.loss, SquaredError):
            return problem.weight * (scores[output] - problem.targets[output]), problem.weight
        if len(scores) == 1:
            chance = torch.sigmoid(scores[0])
        else:
            chance = torch.exp(scores[output] - torch.logsumexp(scores, 0))
        is_own = (problem.targets[output] > 0).double()
        return problem.weight * (chance - is_own), problem.weight * chance * (1.0 - chance)

    def objective(self):
        problem, scores = self.problem, self.scores
        if isinstance(problem.loss, SquaredError):
            loss = 0.5 * (scores - problem.targets).square().sum(0)
        elif len(scores) == 1:
            loss = torch.nn.functional.softplus(-problem.targets[0] * scores[0])
        else:
            loss = torch.logsumexp(scores, 0) - torch.where(problem.targets > 0, scores, 0.0).sum(0)
        loss = (problem.weight * loss).sum()
        return float(loss + 0.5 * self.lam * (self.models - problem.grown).square().sum())

    def take_pass(self):
        """A step in every leaf of one tree after another; Σ of squared slopes that they met."""
        squares = sum(self._step(unit) for unit in self.problem.units)
        self._balance()
        return float(squares)

    def _step(self, unit):
        problem, lam = self.problem, self.lam
        tree, own = problem.trees[unit.tree], problem.own(self.models, unit)
        grows = isinstance(problem.loss, LogLoss)
        g, h = (one[tree.order] for one in self.slopes(unit.output))
        behind = lam * (own - problem.own(problem.grown, unit))
        if tree.seen is None:
            slope = tree.sums(g)[:, None] + behind
            curve = tree.sums(h)
            size = slope[:, 0].abs()
            step = _least_of_bound(curve, lam, size) if grows else size / (curve + lam)
            moves = -torch.sign(slope[:, 0]) * step
            own[:, 0] += moves
            self.scores[unit.output, tree.order] += moves[tree.leaf]
            return slope.square().sum()
        slope = tree.sums(g[:, None] * tree.seen) + behind
        pairs = tree.seen[:, problem.first] * tree.seen[:, problem.second]
        moments = tree.sums(h[:, None] * pairs)
        matrix = torch.zeros(
            len(own), own.shape[1], own.shape[1], dtype=own.dtype, device=own.device
        )
        matrix[:, problem.first, problem.second] = moments
        matrix[:, problem.second, problem.first] = moments
        matrix.diagonal(dim1=1, dim2=2).add_(lam)
        move = torch.cholesky_solve(slope[:, :, None], torch.linalg.cholesky(matrix))[:, :, 0]
        along = (move[tree.leaf] * tree.seen).sum(1)
        step = torch.ones_like(move[:, 0])
        if grows:
            curve = tree.sums(h * along * along)
            farthest = tree.largest(torch.where(h > 0.0, along.abs(), 0.0))
            fall, norm = (slope * move).sum(1), move.square().sum(1)
            bound = _least_of_bound(curve, lam * norm, farthest * fall)
            step = torch.where(farthest > 0.0, bound / farthest.clamp_min(1e-300), step)
        own -= step[:, None] * move
        self.scores[unit.output, tree.order] -= step[tree.leaf] * along
        return slope.square().sum()

    def gap(self):
        """‖slope‖² / (2 λ): how far the optimum can be below."""
        problem, total, slopes = self.problem, 0.0, {}
        for unit in problem.units:
            if unit.output not in slopes:
                slopes[unit.output] = self.slopes(unit.output)[0]
            tree, own = problem.trees[unit.tree], problem.own(self.models, unit)
            g = slopes[unit.output][tree.order]
            found = tree.sums(g[:, None] if tree.seen is None else g[:, None] * tree.seen)
            found = found + self.lam * (own - problem.own(problem.grown, unit))
            total = total + found.square().sum()
        return float(total) / (2.0 * self.lam)

    def _balance(self):
        """Shift leaves by what changes no loss, to where the penalty is least; see ``descent``."""
        problem, n_outputs = self.problem, len(self.scores)
        shared = n_outputs > 1 and isinstance(problem.loss, LogLoss)
        if shared and self.models.shape[1] > 1:
            self.models -= (self.models - problem.grown).mean(1, keepdim=True)
        pairs = [(problem.own(self.models, unit), problem.own(problem.grown, unit))
                 for unit in problem.units]  # fmt: skip
        means = torch.stack([(own - grown).mean(0) for own, grown in pairs])
        share = torch.tensor([1.0 / len(own) for own, _ in pairs]).to(means)
        outputs = torch.tensor([unit.output for unit in problem.units], device=means.device)
        member = torch.nn.functional.one_hot(outputs, n_outputs).to(means)
        room, offset = (member.T @ share)[:, None], member.T @ means
        if shared and bool((room > 0).all()):
            offset = offset - (offset / room).sum(0) / (1.0 / room).sum()
        shifts = share[:, None] * (offset / room.clamp_min(1e-300))[outputs] - means
        for (own, _), shift in zip(pairs, shifts):
            own += shift


class LeafProblem:
    """What is given to a refit, on the device."""

    def __init__(
        self, leaves, leaf_starts, values, outputs, base, targets, weight, *, loss, device, Z=None,
        slopes=None, tree_orders=(),
    ):  # fmt: skip
        if tree_orders or not isinstance(loss, LogLoss | SquaredError):
            raise ValueError(
                "On a device leaves are refitted for log losses and squared errors without "
                "monotone constraints: leave device out."
            )

        def put(array, dtype=torch.float64):
            return torch.as_tensor(np.ascontiguousarray(array), device=device).to(dtype)

        self.loss, self.starts = loss, [int(one) for one in leaf_starts]
        n_slopes = 0 if Z is None else Z.shape[1]
        if slopes is None:
            slopes = np.zeros((*np.shape(values), n_slopes))
        self.grown = put(models_of(values, slopes))
        self.units = units_of(outputs, self.grown.shape[1])
        self.base, self.targets = put(np.asarray(base).T), put(np.asarray(targets).T)
        self.weight = put(np.ones(len(leaves)) if weight is None else weight)
        if n_slopes:
            Z = put(Z)
            Z = torch.cat([torch.ones_like(Z[:, :1]), Z], 1)
        pairs = torch.triu_indices(n_slopes + 1, n_slopes + 1, device=device)
        self.first, self.second = pairs
        by_tree = put(np.asarray(leaves).T, torch.int64)
        self.trees = [
            _Tree(leaf - first, last - first, Z if n_slopes else None)
            for leaf, first, last in zip(by_tree, self.starts, self.starts[1:])
        ]

    def own(self, models, unit):
        return models[self.starts[unit.tree] : self.starts[unit.tree + 1], unit.told]


def _least_of_bound(curve, lam, slope):
    """The root s ≥ 0 of curve (exp s − 1) + lam s = slope, elementwise."""
    tiny = 1e-300
    s = torch.minimum(slope / (curve + lam + tiny), torch.log1p(slope / curve.clamp_min(tiny)))
    for _ in range(_NEWTON_STEPS):
        grown = torch.expm1(s)
        s = s - (curve * grown + lam * s - slope) / (curve * (grown + 1.0) + lam + tiny)
    return torch.where(slope > 0.0, s.clamp_min(0.0), 0.0)


def refit_path(
    *forest, lams, device="cuda", max_passes=5, tol=1e-3, watch=None, n_jobs=None, **more
):
    """Yields a ``LeafSolution`` for each of ``lams``, each started from the one before."""
    problem, found = LeafProblem(*forest, device=device, **more), None
    for lam in lams:
        found = solve(problem, lam, found, max_passes, tol, watch)
        yield found


def refit_leaves(*forest, lam, start=None, device="cuda", max_passes=10, tol=1e-3, watch=None,
                 n_jobs=None, **more):  # fmt: skip
    """Leaf models for one λ; ``start`` is a ``LeafSolution`` to go on from."""
    return solve(LeafProblem(*forest, device=device, **more), lam, start, max_passes, tol, watch)


def solve(problem, lam, start=None, max_passes=10, tol=1e-3, watch=None):
    """``refit_leaves`` for a problem that is at hand."""
    if not lam > 0:
        raise ValueError(f"lam must be above 0, it is {lam}.")
    if start is None or np.isinf(lam):
        models = problem.grown.clone()
    else:
        models = torch.as_tensor(models_of(start.values, start.slopes)).to(problem.grown)
    descent, mixing = LeafDescent(problem, models, lam), PassMixing()
    if np.isinf(lam) or not problem.units:
        descent.lam = 0.0
        return _solution(descent, descent.objective(), 0.0, 0, lam)
    objective, n_iter, least = descent.objective(), 0, -np.inf
    while n_iter < max_passes:
        n_iter += 1
        before = models.clone()
        nearly = descent.take_pass() / (2.0 * lam)
        found = descent.objective()
        mixing.add(before, models, descent.scores)
        found = mix(descent, mixing, found)
        if watch is not None or n_iter == max_passes or nearly <= 10.0 * tol * abs(found):
            least = max(least, found - descent.gap())
        objective = min(found, objective)
        gap = max(objective - least, 0.0)
        if watch is not None and watch(
            Progress(n_iter, objective, gap, state=_solution(descent, objective, gap, n_iter, lam))
        ):
            break
        if gap <= tol * abs(objective):
            break
    return _solution(descent, objective, max(objective - least, 0.0), n_iter, lam)


def _solution(descent, objective, gap, n_iter, lam):
    models = descent.models.cpu().numpy()
    scores = np.ascontiguousarray(descent.fresh_scores().T.cpu().numpy())
    values, slopes = models[:, :, 0].copy(), models[:, :, 1:].copy()
    return LeafSolution(values, slopes, scores, float(lam), objective, gap, n_iter)
