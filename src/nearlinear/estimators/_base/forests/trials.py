"""Plans held against each other on training rows that were held out.

Fewer than 5,000 rows are judged on four parts, which are all of them; more on a fifth. Held-out
rows are pooled.
"""

from dataclasses import replace

import numpy as np

from ....losses import LogLoss
from ....solvers.forests.refit import scores_of
from ..capacity import TOLERANCE, Verdict, about_best
from .boosting import BOOSTING
from .parts import Slopes, base_scores, fit_root, refit_along
from .plan import grow_plan, root_columns, slope_columns, with_pairs

_STAGES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 130, 160, 200, 250, 320, 400)
LAMBDAS = (np.inf, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
_FIRST_TREES, _RISING = 60, 0.6
# In standard errors: the best of many numbers of trees is flattered by the choice itself.
_LINEAR_STAYS = 1.0
# Trees with linear leaves, and leaves of one: more of them are better off with constants.
_MOST_SLOPED, _MOST_LEAVES = 20, 255


class Bench:
    """One split of the rows: what is grown on the first part is judged on the second."""

    def __init__(self, train, held, wishes, loss, seed):
        self.train, self.held, self.wishes, self.loss, self.seed = train, held, wishes, loss, seed
        self._kept, self._sizes = {}, set()

    def root(self):
        if "root" not in self._kept:
            numeric = root_columns(self.train, self.wishes.columns)
            self._kept["root"] = fit_root(self.train, self.loss, numeric)
        return self._kept["root"]

    def columns(self, n_pairs):
        key = "pairs", n_pairs
        if key not in self._kept:
            self._kept[key] = with_pairs(self.train, self.wishes, n_pairs, self.loss, self.seed)
        return self._kept[key]

    def grown(self, plan):
        """Trees; the first ones of a larger forest are those of a smaller one."""
        plan = replace(plan, lam=np.inf, has_slopes=False)
        if plan.grower in BOOSTING:
            for size in sorted(self._sizes):
                larger = replace(plan, shape=replace(plan.shape, n_trees=size))
                if size > plan.shape.n_trees and larger in self._kept:
                    grown = self._kept[larger]
                    return grown.first(plan.shape.n_trees * len(grown.intercept))
        if plan not in self._kept:
            columns, root = self.columns(plan.n_pairs), self.root() if plan.has_root else None
            self._kept[plan] = grow_plan(
                self.train, plan, columns, self.loss, root, self.wishes, self.seed
            )
            self._sizes.add(plan.shape.n_trees)
        return self._kept[plan]

    def staged(self, plan, stages):
        """Scores of held-out rows after so many rounds; after 0, those of the root."""
        grown, root = self.grown(plan), self.root() if plan.has_root else None
        leaves, scores = grown.gate(self.held.X), base_scores(grown, root, self.held.X)
        per_round = 1 if grown.values.shape[1] > 1 else len(grown.intercept)
        found, done = [], 0
        for stage in stages:
            for tree in range(done * per_round, stage * per_round):
                told = grown.values[leaves[:, tree]]
                scores[:, grown.outputs[tree] if told.shape[1] == 1 else slice(None)] += (
                    told[:, 0] if told.shape[1] == 1 else told
                )
            done = stage
            found.append(root.scores(self.held.X) if stage == 0 else scores.copy())
        return found

    def refitted(self, plan, lams):
        """Scores of held-out rows for each λ."""
        grown, root = self.grown(plan), self.root() if plan.has_root else None
        slopes = Z_held = None
        if plan.has_slopes:
            slopes = Slopes.of(self.train, slope_columns(self.train, self.wishes.columns))
            Z_held = slopes.seen(self.held.X)
        path = refit_along(
            grown, base_scores(grown, root, self.train.X), self.train, self.loss, lams,
            slopes=slopes, monotonic=self.wishes.columns.monotonic, n_jobs=self.wishes.n_jobs,
            max_passes=4,
        )  # fmt: skip
        leaves, base = grown.gate(self.held.X), base_scores(grown, root, self.held.X)
        for found in path:
            yield scores_of(
                leaves, grown.gate.leaf_starts, found.values, found.slopes, grown.outputs, Z_held,
                base,
            )  # fmt: skip


def benches(rows, wishes, loss, rng):
    """Parts with each class in its proportion, whose complements have every class."""
    n_rows = rows.X.shape[0]
    order = rng.permutation(n_rows)
    order = order[np.argsort(rows.labels[order], kind="stable")]
    n_parts, share = (4, 4) if n_rows < 5000 else (1, 5)
    n_classes, found = len(np.unique(rows.labels)), []
    for number in range(n_parts):
        held = np.sort(order[number::share])
        kept = np.setdiff1d(np.arange(n_rows), held)
        if len(held) >= 2 and len(kept) >= 2 and len(np.unique(rows.labels[kept])) == n_classes:
            seed = int(rng.randint(np.iinfo(np.int32).max))
            found.append(Bench(rows.take(kept), rows.take(held), wishes, loss, seed))
    return found


class Search:
    def __init__(self, benches, loss, counts_errors, tell):
        self.benches, self.tell, self.verdicts = benches, tell, []
        self.loss = _errors if counts_errors and isinstance(loss, LogLoss) else loss.value
        self.weight = np.concatenate([bench.held.weight for bench in benches])
        self._losses = {}

    def judged(self, plan, scores):
        """Take in the pooled held-out losses of a plan."""
        pairs = zip(scores, self.benches, strict=True)
        losses = np.concatenate([self.loss(one, bench.held.targets) for one, bench in pairs])
        losses = np.where(np.isfinite(losses), losses, np.inf)
        self._losses[plan] = losses
        mean = float(np.average(losses, weights=self.weight))
        self.verdicts.append(Verdict(plan, mean))
        self.tell(str(plan), {"held-out loss": mean})
        return mean

    def choose(self, plans, tolerance=TOLERANCE):
        """The first plan that is about as good as the best."""
        return about_best({plan: self._losses[plan] for plan in plans}, self.weight, tolerance)

    def structure(self, plans, wishes):
        """Shape, root and number of trees; a linear model where it is about as good."""
        linear, found = None, {}
        for plan in plans:
            if np.isfinite(plan.lam) or not isinstance(plan.grower, str):
                # such leaves are nothing before the refit, or all trees are there
                scores = [next(bench.refitted(plan, [plan.lam])) for bench in self.benches]
                found[plan] = self.judged(plan, scores)
            elif wishes.shape is not None or plan.grower not in BOOSTING:
                found |= self._staged(plan, [plan.shape.n_trees])
            else:
                staged = self._along(plan)
                linear = next((one for one in staged if one.shape.n_trees == 0), linear)
                found |= staged
        best = min(found, key=found.get)
        return best if linear is None else self.choose([linear, best], _LINEAR_STAYS)

    def _along(self, plan):
        """Numbers of trees; many are grown where more and more of a few were better."""
        most, found = plan.shape.n_trees, {}
        for size in sorted({min(_FIRST_TREES, most), most}):
            stages = [stage for stage in _STAGES if stage < size] + [size]
            grown = replace(plan, shape=replace(plan.shape, n_trees=size))
            found |= self._staged(grown, [0, *stages] if plan.has_root else stages)
            if min(found, key=found.get).shape.n_trees < _RISING * size:
                break
        return found

    def _staged(self, plan, stages):
        by_bench, found = [bench.staged(plan, stages) for bench in self.benches], {}
        for place, stage in enumerate(stages):
            one = replace(plan, shape=replace(plan.shape, n_trees=stage))
            scores = [scores[place] for scores in by_bench]
            found[one] = self.judged(one, scores)
        return found

    def best(self, plan, others):
        for other in others:
            if np.isfinite(other.lam):
                scores = [next(bench.refitted(other, [other.lam])) for bench in self.benches]
            else:
                last = [other.shape.n_trees]
                scores = [bench.staged(other, last)[0] for bench in self.benches]
            self.judged(other, scores)
        return self.choose([plan, *others])

    def penalty(self, plan, wishes):
        """λ of constants and, where trees are few, of linear leaves."""
        kinds = [wishes.has_slopes] if wishes.has_slopes is not None else [False]
        is_small = plan.grower in BOOSTING and plan.shape.max_leaves <= _MOST_LEAVES
        is_small = is_small and plan.shape.n_trees <= _MOST_SLOPED
        if wishes.has_slopes is None and is_small and wishes.columns.monotonic is None:
            kinds.append(True)
        lams, plans = LAMBDAS if wishes.lam is None else (wishes.lam,), []
        if len(kinds) == len(lams) == 1 or wishes.lam == np.inf:
            return replace(plan, lam=wishes.lam, has_slopes=kinds[0])
        for has_slopes in kinds:
            some = [replace(plan, lam=lam, has_slopes=has_slopes) for lam in lams]
            paths = [bench.refitted(some[0], lams) for bench in self.benches]
            lowest, waited = np.inf, 0
            for one, scores in zip(some, zip(*paths, strict=True), strict=True):
                mean = self.judged(one, scores)
                plans.append(one)
                waited = 0 if mean < lowest else waited + 1
                lowest = min(lowest, mean)
                if waited == 2:
                    break
        return self.choose(plans)


def _errors(scores, targets):
    if scores.shape[1] == 1:
        return ((scores[:, 0] > 0) != (targets[:, 0] > 0)).astype(np.float64)
    return (scores.argmax(axis=1) != targets.argmax(axis=1)).astype(np.float64)
