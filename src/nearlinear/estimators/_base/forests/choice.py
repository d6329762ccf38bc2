"""Which plan is taken: root, trees, pairs and refit, one choice after another.

Each goes from the simplest on: another one must be better by half a standard error of the
difference, and trees better than a linear model by a whole one.
"""

from dataclasses import replace

import numpy as np

from ....losses import LogLoss, SquaredError
from .boosting import BOOSTING
from .orders import Shape
from .plan import Plan
from .trials import Search, benches

_MANY = 50_000  # rows from which on few deep trees are tried, and errors are counted
_SEARCH_ROWS = 100_000
_PAIRS = {False: 16, True: 24}  # by whether there are many rows
_SHALLOW, _SMALL, _DEEP = Shape(200, 31, 0.1), Shape(400, 8, 0.1, 5), Shape(10, 4095, 0.6)
_SIDE_BY_SIDE = Shape(20, None, 1.0, 1, max_features=None)
_MOST_TREES, _FEW_OUTPUTS = 1500, 4


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
    parts = benches(rows, wishes, loss, rng)
    if not parts:
        return first, []
    search = Search(parts, loss, is_many, tell)
    plan = search.structure(alternatives, wishes)
    if wishes.pairs is None and plan.shape.n_trees:
        plan = search.best(plan, [replace(plan, n_pairs=_PAIRS[is_many])])
    if plan.shape.n_trees:
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
        plans.append(Plan(_SIDE_BY_SIDE, False, n_pairs, np.inf, has_slopes, "extra_trees"))
    return replace(plans[0], lam=lam), plans


def _within(shape, n_outputs):
    """No more rounds than a few thousand trees."""
    return replace(shape, n_trees=max(10, min(shape.n_trees, _MOST_TREES // n_outputs)))
