"""The fit of a local forest, from rows to what is kept."""

import numbers

import numpy as np
from sklearn.utils import check_random_state

from ....losses import PoissonLoss
from ....predictors.combined import Exponential
from ....solvers.forests.refit import refit_memory
from ..capacity import Verdict
from ..checks import require_memory, row_copies
from ..model import Learned
from ..outputs import Teller
from .choice import choose_plan
from .pair_screening import screening_memory
from .plan import fit_plan
from .refit import first_of_stream, move_leaves, require_counts
from .wishes import wishes_of


def learn_forest(model, rows):
    """A ``Learned`` of the plan that validation has chosen."""
    loss = model._loss
    n_rows, n_features = rows.X.shape
    n_pairs = model.pairs if isinstance(model.pairs, numbers.Integral) else 24
    n_trees = 100 if model.n_trees == "auto" else model.n_trees
    size = 8 * 3 * n_rows * (n_features + n_pairs)
    if _screens_pairs(model):
        size = max(size, screening_memory(n_rows, n_features))
    size += row_copies(rows.X) + refit_memory(n_rows, n_trees, rows.targets.shape[1], 0)
    advice = "lower n_trees or pairs, or give fewer rows"
    require_memory(size, advice)
    require_counts(rows, loss)
    rng = check_random_state(model.random_state)
    wishes = wishes_of(model, rows)
    plan, tried = choose_plan(rows, wishes, loss, rng, Teller(model))
    seed = int(rng.randint(np.iinfo(np.int32).max))
    found = fit_plan(rows, plan, wishes, loss, seed)
    attributes = {
        "plan_": {**plan.settings(), "pairs": len(found.pairs)},
        "settings_tried_": [Verdict(one.setting.settings(), one.loss) for one in tried],
        "pairs_": np.column_stack([found.pairs.pairs, found.pairs.factors]),
        "refit_gap_": found.gap,
    }
    predictor = found.predictor
    if isinstance(loss, PoissonLoss):
        predictor = Exponential(predictor)
    return Learned(predictor, attributes)


def _screens_pairs(model):
    """Whether ``fit`` selects pairs from all candidates, or may do so."""
    asks = isinstance(model.pairs, str) or (
        isinstance(model.pairs, numbers.Integral) and model.pairs > 0
    )
    return asks and isinstance(model.grower, str) and model.interaction_cst is None


def learn_forest_on(model, rows):
    """The same from rows of a stream, of which the first ones grow the trees."""
    if hasattr(model, "predictor_"):
        return move_leaves(model, rows)
    return learn_forest(model, first_of_stream(rows))
