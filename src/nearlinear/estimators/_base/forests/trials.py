"""Plans held against each other on training rows that were held out.

Fewer than 5,000 rows are judged on four parts, which are all of them, or with many classes on two;
more on a fifth. After a part only the better half of the plans goes on to the next, from 100
held-out rows on. Held-out rows are pooled.
"""

from dataclasses import replace

import numpy as np

from ....losses import LogLoss
from ....solvers.forests.refit import scores_of
from ..capacity import TOLERANCE, Verdict, about_best
from ..rows import copies_of
from .boosting import BOOSTING
from .parts import Slopes, base_scores, fit_root, refit_along
from .plan import BESIDE, grow_plan, root_columns, root_of, slope_columns, with_pairs

FEW = 5000  # rows
_MOST_COPIES = 8  # more would be in every part, too
_MOST_GROWN = 40_000  # rows of all parts and outputs
_STAGES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 130, 160, 200, 250, 320, 400)
LAMBDAS = (np.inf, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
# A part of the trees is grown first; more of them if the last ones of these were still better.
_FIRST, _RISING, _BEYOND = 4, 0.6, 2
# Plans that go on to the next part, and held-out rows before some do not.
_FEWEST, _ENOUGH = 2, 100
# In standard errors: the best of many numbers of trees is flattered by the choice itself, and the
# parts share rows to learn from, which makes the error of four of them 1.5 times what it seems.
_LINEAR_STAYS = 1.5
# Trees with linear leaves, and leaves of one: more of them are better off with constants.
_MOST_SLOPED, _MOST_LEAVES = 20, 255


class Bench:
    """One split of the rows: what is grown on the first part is judged on the second."""

    def __init__(self, train, held, wishes, loss, seed):
        self.train, self.held = train, held
        self.wishes, self.loss, self.seed = wishes, loss, seed
        self._kept, self._sizes = {}, set()

    def root(self, plan):
        """The linear model as it is in the scores of a plan."""
        key = "root", plan.root_C
        if plan.root and key not in self._kept:
            numeric = root_columns(self.train, self.wishes.columns)
            self._kept[key] = fit_root(self.train, self.loss, numeric, plan.root_C)
        return root_of(plan, self._kept.get(key))

    def columns(self, n_pairs):
        key = "pairs", n_pairs
        if key not in self._kept:
            self._kept[key] = with_pairs(self.train, self.wishes, n_pairs, self.loss, self.seed)
        return self._kept[key]

    def grown(self, plan):
        """Trees; the first ones of a larger forest are those of a smaller one."""
        plan = replace(plan, lam=np.inf, has_slopes=False)
        if plan.root == BESIDE:
            return self.grown(replace(plan, root=False, root_C=1.0)).times(0.5)
        if plan.grower in BOOSTING:
            for size in sorted(self._sizes):
                larger = replace(plan, shape=replace(plan.shape, n_trees=size))
                if size > plan.shape.n_trees and larger in self._kept:
                    grown = self._kept[larger]
                    return grown.first(plan.shape.n_trees * len(grown.intercept))
        if plan not in self._kept:
            columns = self.columns(plan.n_pairs)
            self._kept[plan] = grow_plan(
                self.train, plan, columns, self.loss, self.root(plan), self.seed
            )
            self._sizes.add(plan.shape.n_trees)
        return self._kept[plan]

    def staged(self, plan, stages):
        """Scores of held-out rows after so many rounds."""
        grown, root = self.grown(plan), self.root(plan)
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
            found.append(scores.copy())
        return found

    def refitted(self, plan, lams):
        """Scores of held-out rows for each λ."""
        grown, root = self.grown(plan), self.root(plan)
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
    """Parts with each class in its proportion, whose complements have every class.

    Copies of a row are dealt to different parts, as all rows are: where rows come again and again,
    it pays to know them by heart.
    """
    n_rows = rows.X.shape[0]
    order = rng.permutation(n_rows)
    order = order[np.argsort(rows.labels[order], kind="stable")]
    copies = copies_of(rows, _MOST_COPIES)
    dealt = np.repeat(order, copies[order])
    n_parts, share = (4, 4) if n_rows < FEW else (1, 5)
    if n_parts * n_rows * rows.targets.shape[1] > _MOST_GROWN:
        n_parts = max(1, n_parts // 2)
    n_classes, found = len(np.unique(rows.labels)), []
    for number in range(n_parts):
        n_held = np.bincount(dealt[number::share], minlength=n_rows)
        train, held = _some(rows, copies - n_held, copies), _some(rows, n_held, copies)
        is_whole = len(np.unique(train.labels)) == n_classes
        if is_whole and min(len(train.labels), len(held.labels)) >= 2:
            seed = int(rng.randint(np.iinfo(np.int32).max))
            found.append(Bench(train, held, wishes, loss, seed))
    return found


def _some(rows, counts, copies):
    """Some copies of the rows."""
    places = np.flatnonzero(counts)
    found = rows.take(places)
    return replace(found, weight=found.weight * (counts[places] / copies[places]))


class Search:
    """Losses of plans by part, and the choices that they lead to."""

    def __init__(self, benches, loss, counts_errors, tell):
        self.benches, self.tell = benches, tell
        self.loss = _errors if counts_errors and isinstance(loss, LogLoss) else loss.value
        self._losses = {}  # by plan and number of the part

    def verdicts(self):
        return [Verdict(plan, self.mean(plan)) for plan in self._losses]

    def linear(self, plans):
        """The best one of linear models."""
        for number, bench in enumerate(self.benches):
            for plan in plans:
                self._judge([plan], number, bench.staged(plan, [0]))
        best = min(plans, key=self.mean)
        self._tell(best)
        return best

    def structure(self, plans, linear, wishes):
        """Shape, root and number of trees; ``linear`` (or None) where it is about as good."""
        stages = {}
        if wishes.shape is not None:
            stages = {plan: [plan.shape.n_trees] for plan in plans}
        found, running = {}, plans
        for number in range(len(self.benches)):
            for plan in running:
                found[plan] = self._try(plan, number, stages)
            running = sorted(running, key=lambda plan: self.mean(found[plan]))
            if len(self._weight(range(number + 1))) >= _ENOUGH:
                running = running[: max(_FEWEST, -(-len(running) // 2))]
        best = found[running[0]]
        return best if linear is None else self.choose([linear, best], _LINEAR_STAYS)

    def challenge(self, plan, other, stages=None):
        """The other plan where it is better; it is given up where it falls behind.

        Its number of trees is free, unless ``stages`` has some.
        """
        stages = {} if stages is None else {other: stages}
        for number in range(len(self.benches)):
            best = self._try(other, number, stages)
            if self.mean(best) >= self.mean(plan, range(number + 1)):
                return plan
        return self.choose([plan, best])

    def _try(self, plan, number, stages):
        """Judge numbers of trees of one plan on a part; the best one of all parts so far.

        ``stages`` has the numbers by plan. The first part finds out how many are worth a trial.
        """
        bench = self.benches[number]
        if np.isfinite(plan.lam) or plan.grower not in BOOSTING:
            # such leaves are nothing before the refit, or all trees are there
            self._judge([plan], number, bench.refitted(plan, [plan.lam]))
            self._tell(plan)
            return plan
        most, is_free = plan.shape.n_trees, plan not in stages
        if is_free:
            stages[plan] = [stage for stage in _STAGES if stage < most] + [most]
        most = stages[plan][-1]
        for size in sorted({-(-most // _FIRST), most}) if is_free else [most]:
            some = [_of_size(plan, stage) for stage in stages[plan] if stage <= size]
            scores = bench.staged(_of_size(plan, size), [one.shape.n_trees for one in some])
            self._judge(some, number, scores)
            best = min(some, key=self.mean)
            if best.shape.n_trees < _RISING * size:
                break
        if is_free:
            far = max(_BEYOND * best.shape.n_trees, stages[plan][0])
            stages[plan] = [one.shape.n_trees for one in some if one.shape.n_trees <= far]
        self._tell(best)
        return best

    def penalty(self, plan, wishes):
        """λ of constants and, where trees are few, of linear leaves."""
        kinds = [wishes.has_slopes] if wishes.has_slopes is not None else [False]
        is_small = plan.grower in BOOSTING and plan.shape.max_leaves <= _MOST_LEAVES
        is_small = is_small and plan.shape.n_trees <= _MOST_SLOPED
        if wishes.has_slopes is None and is_small and wishes.columns.monotonic is None:
            kinds.append(True)
        if wishes.lam is not None:
            given = [replace(plan, lam=wishes.lam, has_slopes=kind) for kind in kinds]
            if len(given) == 1 or wishes.lam == np.inf:
                return given[0]
            for one in given:
                self._path([one], range(len(self.benches)))
            return self.choose(given)
        plans = [plan] if not wishes.has_slopes else []
        for has_slopes in kinds:
            some = [replace(plan, lam=lam, has_slopes=has_slopes) for lam in LAMBDAS[1:]]
            some = self._path(some, [0])
            best = min(some, key=self.mean)
            if not plans or self.mean(best) < self.mean(plan, [0]):
                self._path(some, range(1, len(self.benches)))
                plans += some
            for one in some:
                self._tell(one)
        return self.choose(plans)

    def _path(self, plans, numbers):
        """Judge plans that differ in λ alone; those before the losses went up twice."""
        for number in numbers:
            found = self.benches[number].refitted(plans[0], [one.lam for one in plans])
            lowest, waited = np.inf, 0
            for place, (one, scores) in enumerate(zip(plans, found, strict=True)):
                mean = self._judge([one], number, [scores])
                waited = 0 if mean < lowest else waited + 1
                lowest = min(lowest, mean)
                if waited == 2 and number == 0:
                    plans = plans[: place + 1]
                    break
        return plans

    def _judge(self, plans, number, scores):
        """Take in scores of the rows of a part; the mean loss of the last plan."""
        for plan, found in zip(plans, scores, strict=True):
            losses = self.loss(found, self.benches[number].held.targets)
            losses = np.where(np.isfinite(losses), losses, np.inf)
            self._losses.setdefault(plan, {})[number] = losses
        return self.mean(plan, [number])

    def _pooled(self, plan, numbers):
        return np.concatenate([self._losses[plan][number] for number in numbers])

    def _weight(self, numbers):
        return np.concatenate([self.benches[number].held.weight for number in numbers])

    def mean(self, plan, numbers=None):
        """The mean loss of some parts; of all that the plan was judged on."""
        numbers = list(self._losses[plan]) if numbers is None else numbers
        return float(np.average(self._pooled(plan, numbers), weights=self._weight(numbers)))

    def choose(self, plans, tolerance=TOLERANCE):
        """The first plan that is about as good as the best."""
        numbers = range(len(self.benches))
        losses = {plan: self._pooled(plan, numbers) for plan in plans}
        return about_best(losses, self._weight(numbers), tolerance)

    def _tell(self, plan):
        self.tell(str(plan), {"held-out loss": self.mean(plan)})


def _of_size(plan, n_trees):
    return replace(plan, shape=replace(plan.shape, n_trees=n_trees))


def _errors(scores, targets):
    if scores.shape[1] == 1:
        return ((scores[:, 0] > 0) != (targets[:, 0] > 0)).astype(np.float64)
    return (scores.argmax(axis=1) != targets.argmax(axis=1)).astype(np.float64)
