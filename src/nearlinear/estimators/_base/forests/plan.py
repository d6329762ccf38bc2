"""What a forest is to be made of, found on held-out training rows: root, trees, pairs, refit.

One choice after another, each from the simplest on: another one must be better by half a standard
error of the difference. Fewer than 5,000 rows are judged on four parts, which are all of them; more
on a fifth. Scores of rows that were held out are pooled.
"""

from dataclasses import dataclass, replace

import numpy as np

from ....losses import LogLoss, SquaredError
from ....solvers.forests.pairs import PairColumns
from ....solvers.forests.refit import scores_of
from ..capacity import Verdict, about_best
from .growers import BOOSTING, Shape
from .pair_screening import numeric_columns, screen_pairs
from .parts import (
    Slopes,
    base_scores,
    fit_root,
    forest_from,
    grow,
    no_trees,
    refit_along,
)

_MANY = 50_000  # rows from which on few deep trees are tried, and errors are counted
_SEARCH_ROWS = 100_000
_PAIRS = {False: 16, True: 24}  # by whether there are many rows
_SHALLOW, _SMALL, _DEEP = Shape(200, 31, 0.1), Shape(400, 8, 0.1, 5), Shape(10, 4095, 0.6)
_STAGES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 130, 160, 200, 250, 320, 400)
LAMBDAS = (np.inf, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
_SIDE_BY_SIDE = Shape(20, None, 1.0, 1)
_MOST_TREES, _FEW_OUTPUTS = 1500, 4
_FIRST_TREES, _RISING = 60, 0.6
_MOST_SLOPED = 20  # trees with linear leaves: more of them are better off with constants


@dataclass(frozen=True)
class Plan:
    """``n_trees`` counts rounds; 0 with a root is the linear model. λ = ∞ leaves trees as grown."""

    shape: Shape
    has_root: bool
    n_pairs: int = 0
    lam: float = np.inf
    has_slopes: bool = False
    grower: object = "hist"

    def settings(self):
        """In the words of the parameters; of a fitted forest, what was done to it."""
        found = {
            "leaf_penalty": None if np.isinf(self.lam) else float(self.lam),
            "leaf_model": "linear" if self.has_slopes else "constant",
        }
        if not isinstance(self.grower, str):
            return {"grower": type(self.grower).__name__, **found}
        return {
            "grower": self.grower, "n_trees": self.shape.n_trees,
            "max_leaves": self.shape.max_leaves, "learning_rate": self.shape.learning_rate,
            "min_samples_leaf": self.shape.min_rows, "pairs": self.n_pairs,
            "linear_root": self.has_root, **found,
        }  # fmt: skip

    def __str__(self):
        root = "a linear root" if self.has_root else "no root"
        shape = f"{self.shape.n_trees} trees of {self.shape.max_leaves} leaves"
        refit = "as grown" if np.isinf(self.lam) else f"refitted with {self.lam:g}"
        kind = ", linear leaves" if self.has_slopes else ""
        grower = self.grower if isinstance(self.grower, str) else type(self.grower).__name__
        return f"{grower}: {shape}, {root}, {self.n_pairs} pairs, {refit}{kind}"


class Bench:
    """One split of the rows: what is grown on the first part is judged on the second."""

    def __init__(self, train, held, wishes, loss, seed):
        self.train, self.held, self.wishes, self.loss, self.seed = train, held, wishes, loss, seed
        self._kept = {}

    def root(self):
        if "root" not in self._kept:
            numeric = _root_columns(self.train, self.wishes.columns)
            self._kept["root"] = fit_root(self.train, self.loss, numeric)
        return self._kept["root"]

    def columns(self, n_pairs):
        key = "pairs", n_pairs
        if key not in self._kept:
            self._kept[key] = _with_pairs(self.train, self.wishes, n_pairs, self.loss, self.seed)
        return self._kept[key]

    def grown(self, plan):
        key = replace(plan, lam=np.inf, has_slopes=False)
        if key not in self._kept:
            self._kept[key] = grow_plan(self.train, plan, self.columns(plan.n_pairs), self.loss,
                                        self.root() if plan.has_root else None, self.wishes,
                                        self.seed)  # fmt: skip
        return self._kept[key]

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
            slopes = Slopes.of(self.train, _slope_columns(self.train, self.wishes.columns))
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


def grow_plan(rows, plan, columns, loss, root, wishes, seed):
    if plan.shape.n_trees == 0:
        return no_trees(rows.X.shape[1], rows.targets.shape[1])
    return grow(rows, plan.shape, columns, loss, root, grower=plan.grower, seed=seed, l2=wishes.l2)


def _with_pairs(rows, wishes, n_pairs, loss, seed):
    if isinstance(wishes.pairs, PairColumns):
        return replace(wishes.columns, pairs=wishes.pairs)
    if n_pairs == 0:
        return wishes.columns
    pairs = screen_pairs(rows, wishes.columns, n_pairs, loss, seed)
    return replace(wishes.columns, pairs=pairs)


def _root_columns(rows, columns):
    every = np.arange(rows.X.shape[1])
    return every if columns.categorical is None else every[~columns.categorical]


def _slope_columns(rows, columns):
    return numeric_columns(rows.X, columns.categorical)


def choose_plan(rows, wishes, loss, rng, tell):
    """A plan, and the verdicts that led to it."""
    n_rows = rows.X.shape[0]
    is_many = n_rows > _MANY
    first, alternatives = _first_plans(wishes, is_many, loss, rows.targets.shape[1])
    open_questions = len(alternatives) > 1 or None in (wishes.pairs, wishes.lam, wishes.has_slopes)
    if not open_questions:
        return first, []
    if n_rows > _SEARCH_ROWS:
        rows = rows.take(np.sort(rng.choice(n_rows, _SEARCH_ROWS, replace=False)))
    benches = _benches(rows, wishes, loss, rng)
    if not benches:
        return first, []
    search = _Search(benches, loss, is_many, tell)
    plan = search.structure(alternatives, wishes)
    if wishes.pairs is None and plan.shape.n_trees:
        plan = search.best(plan, [replace(plan, n_pairs=_PAIRS[is_many])])
    if wishes.lam is None and plan.shape.n_trees:
        plan = search.penalty(plan, wishes)
    return plan, search.verdicts


def _first_plans(wishes, is_many, loss, n_outputs):
    """What is taken if nothing can be tried, and what structure is chosen from."""
    n_pairs = wishes.pairs if isinstance(wishes.pairs, int) else 0
    lam = 1.0 if wishes.lam is None else wishes.lam
    boosts = wishes.grower is None or wishes.grower in BOOSTING
    shapes = [wishes.shape] if wishes.shape is not None else None
    if shapes is None:
        shapes = [_DEEP, _SHALLOW] if is_many else [_SHALLOW, _SMALL]
        shapes = [_within(shape, n_outputs) for shape in shapes] if boosts else [_SIDE_BY_SIDE]
    can_root = boosts and isinstance(loss, LogLoss | SquaredError)
    roots = [wishes.has_root] if wishes.has_root is not None else [False, True]
    if not can_root or ((is_many or n_outputs > _FEW_OUTPUTS) and wishes.has_root is None):
        roots = [False]
    has_slopes = bool(wishes.has_slopes)
    grower = "hist" if wishes.grower is None else wishes.grower
    plans = [
        Plan(shape, root, n_pairs, np.inf, has_slopes, grower) for shape in shapes for root in roots
    ]
    if wishes.grower is None and wishes.shape is None and n_outputs > 1 and wishes.columns.is_plain:
        plans.append(Plan(_SIDE_BY_SIDE, False, n_pairs, 1.0, has_slopes, "extra_trees"))
    return replace(plans[0], lam=lam), plans


def _within(shape, n_outputs):
    """No more rounds than a few thousand trees."""
    return replace(shape, n_trees=max(10, min(shape.n_trees, _MOST_TREES // n_outputs)))


def _benches(rows, wishes, loss, rng):
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


class _Search:
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

    def choose(self, plans):
        """The first plan that is about as good as the best."""
        return about_best({plan: self._losses[plan] for plan in plans}, self.weight)

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
        return best if linear is None else self.choose([linear, best])

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
        is_free = wishes.columns.monotonic is None
        if wishes.has_slopes is None and plan.shape.n_trees <= _MOST_SLOPED and is_free:
            kinds.append(True)
        plans = []
        for has_slopes in kinds:
            some = [replace(plan, lam=lam, has_slopes=has_slopes) for lam in LAMBDAS]
            paths = [bench.refitted(some[0], LAMBDAS) for bench in self.benches]
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


@dataclass(frozen=True)
class Fitted:
    predictor: object
    gap: float
    pairs: PairColumns


def fit_plan(rows, plan, wishes, loss, seed):
    """The whole model on all rows."""
    columns = _with_pairs(rows, wishes, plan.n_pairs, loss, seed)
    root = fit_root(rows, loss, _root_columns(rows, columns)) if plan.has_root else None
    grown = grow_plan(rows, plan, columns, loss, root, wishes, seed)
    if np.isinf(plan.lam) or plan.shape.n_trees == 0:
        return Fitted(forest_from(grown, root), 0.0, columns.pairs)
    slopes = Slopes.of(rows, _slope_columns(rows, columns)) if plan.has_slopes else None
    found = next(
        refit_along(
            grown, base_scores(grown, root, rows.X), rows, loss, [plan.lam], slopes=slopes,
            monotonic=columns.monotonic, n_jobs=wishes.n_jobs, max_passes=8,
        )
    )  # fmt: skip
    predictor = forest_from(grown, root, found.values, found.slopes, slopes)
    return Fitted(predictor, found.relative_gap, columns.pairs)
