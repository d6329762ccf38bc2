"""Which plan is taken: root, trees, pairs and refit, one choice after another.

Each goes from the simplest on: another one must be better by half a standard error of the
difference, and trees better than a linear model by one and a half.
"""

from dataclasses import replace

import numpy as np

from ....losses import LogLoss, SquaredError
from .boosting import BOOSTING
from .orders import Shape
from .plan import BESIDE, Plan
from .trials import FEW, Search, benches

_MANY = 50_000  # rows from which on few deep trees are tried, and errors are counted
_SEARCH_ROWS = 100_000
_PAIRS = {False: 16, True: 24}  # by whether there are many rows
# Trees of few leaves for noise, of many for structure and for rows that come again; a split sees
# some of the columns alone.
_FEW_ROWS = (
    Shape(400, 6, 0.05, 5, 1.0, 0.5), Shape(200, 16, 0.1, 5, 1.0, 0.5),
    Shape(200, 127, 0.05, 3, 1.0, 0.3),
)  # fmt: skip
_SEVERAL_OUTPUTS = Shape(100, 4, 0.2, 5, 1.0, 0.2), Shape(100, 31, 0.1, 3, 1.0, 0.2)
_MORE_ROWS = Shape(200, 31, 0.1, 10, 1.0, 0.5), Shape(400, 8, 0.1, 5)
_MANY_ROWS = Shape(10, 4095, 0.6), Shape(200, 31, 0.1)
_SIDE_BY_SIDE = Shape(20, None, 1.0, 1, max_features=None)
_MOST_TREES = 1500
_REFIT_ROWS = 500  # fewer rows are not enough to say something better than the grower
_ROOT_CS = (0.1, 0.3, 1.0, 10.0)


def choose_plan(rows, wishes, loss, rng, tell):
    """A plan, and the verdicts that led to it."""
    n_rows = rows.X.shape[0]
    is_many = n_rows > _MANY
    plans, linears = _first_plans(wishes, n_rows, loss, rows.targets.shape[1])
    open_questions = len(plans) > 1 or None in (wishes.pairs, wishes.lam, wishes.has_slopes)
    first = replace(plans[0], lam=np.inf if wishes.lam is None else wishes.lam)
    if not open_questions:
        return first, []
    if n_rows > _SEARCH_ROWS:
        rows = rows.take(np.sort(rng.choice(n_rows, _SEARCH_ROWS, replace=False)))
    parts = benches(rows, wishes, loss, rng)
    if not parts:
        return first, []
    search, linear = Search(parts, loss, is_many, tell), None
    if linears:
        linear = search.linear(linears)
        plans = [replace(one, root_C=linear.root_C) if one.root else one for one in plans]
    plan = search.structure(plans, linear if wishes.shape is None else None, wishes)
    if linears and plan.shape.n_trees and isinstance(loss, SquaredError):
        # of the log loss a root is so sure of some rows that trees cannot undo it
        other = replace(plan, root=True, root_C=linear.root_C)
        plan = search.challenge(plan, other, None if wishes.shape is None else [plan.shape.n_trees])
    if wishes.pairs is None and plan.shape.n_trees:
        is_free = wishes.shape is None and FEW <= n_rows <= _MANY
        plan = _with_pairs(search, plan, plans, _PAIRS[is_many], is_free)
    is_own = isinstance(plan.grower, str) and wishes.lam is None and not wishes.has_slopes
    if plan.shape.n_trees and not (is_own and n_rows < _REFIT_ROWS):
        plan = search.penalty(plan, wishes)
    return plan, search.verdicts()


def _with_pairs(search, plan, plans, n_pairs, is_free):
    """The plan, or one with pair columns: of its shape, or of any where ``is_free``."""
    if not is_free or plan.grower not in BOOSTING:
        return search.challenge(plan, replace(plan, n_pairs=n_pairs), [plan.shape.n_trees])
    shapes = dict.fromkeys(one.shape for one in plans if one.grower == plan.grower)
    for shape in shapes:  # oblique splits want other trees
        plan = search.challenge(plan, replace(plan, shape=shape, n_pairs=n_pairs))
    return plan


def _first_plans(wishes, n_rows, loss, n_outputs):
    """What structure is chosen from, and linear models."""
    n_pairs = wishes.pairs if isinstance(wishes.pairs, int) else 0
    boosts = wishes.grower is None or wishes.grower in BOOSTING
    shapes = _shapes(n_rows, n_outputs) if boosts else [_SIDE_BY_SIDE]
    shapes = shapes if wishes.shape is None else [wishes.shape]
    if wishes.max_features is not None:
        shapes = [replace(shape, max_features=wishes.max_features) for shape in shapes]
    roots = [wishes.root]
    if wishes.root is None:
        can_root = boosts and isinstance(loss, LogLoss | SquaredError) and n_rows <= _MANY
        roots = [False, BESIDE] if can_root else [False]
    has_slopes = bool(wishes.has_slopes)
    grower = "hist" if wishes.grower is None else wishes.grower
    plans = [
        Plan(shape, root, 1.0, n_pairs, np.inf, has_slopes, grower)
        for shape in shapes
        for root in roots
    ]
    if wishes.grower is None and wishes.shape is None and n_outputs > 1 and wishes.columns.is_plain:
        plans.append(Plan(_SIDE_BY_SIDE, False, 1.0, n_pairs, np.inf, has_slopes, "extra_trees"))
    linears = []
    if wishes.root is None and any(roots):
        shape = replace(shapes[0], n_trees=0)
        linears = [Plan(shape, True, C, grower=grower) for C in _ROOT_CS]
    return plans, linears


def _shapes(n_rows, n_outputs):
    if n_rows > _MANY:
        shapes = _MANY_ROWS
    elif n_outputs > 1:
        shapes = _SEVERAL_OUTPUTS
    else:
        shapes = _FEW_ROWS if n_rows < FEW else _MORE_ROWS
    return [_within(shape, n_outputs) for shape in shapes]


def _within(shape, n_outputs):
    """No more rounds than a few thousand trees."""
    return replace(shape, n_trees=max(10, min(shape.n_trees, _MOST_TREES // n_outputs)))
