"""Local models with a gate that stays: how many there are, found on held-out rows."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from ...losses import LOSSES
from ...predictors.locally_linear import LocallyLinear
from ...solvers.anchors.dual import warn_if_loose
from ...solvers.trees.model import RowScaling
from .capacity import are_many, choose_setting, errors, given, searched_rows, tell_verdicts
from .model import Learned
from .outputs import Teller

_MOST_NUMBERS = 2_000_000  # of all models of a setting
_ROWS_A_MODEL = 10
_SEARCH_TOL = 1e-2
_STEPS = 100  # fewer make rich models look worse than they are
_CHOSEN = "setting_", "settings_tried_", "loss_"


@dataclass(frozen=True)
class LocalSetting:
    """How many local models there are, and the weight and kind of their losses.

    One model alone is linear, or a constant. A ``C`` that was found is relative: for rows about
    their mean, in units of their spread.
    """

    n_models: int
    C: float
    loss: str = "hinge"


def _grid(**by_number):
    return [LocalSetting(int(n[1:]), C) for n, values in by_number.items() for C in values]


# Simplest first; the very first is taken where rows are too few to hold some out.
AFFINE = _grid(
    n1=(1.0, 0.1, 10.0, 0.01), n6=(0.1, 1.0, 10.0), n16=(0.1, 1.0, 10.0), n48=(1.0, 10.0, 100.0),
    n100=(1.0, 10.0, 100.0),
)  # fmt: skip
CONSTANT = _grid(n16=(1.0, 10.0), n48=(1.0, 10.0, 100.0), n100=(1.0, 10.0, 100.0), n250=(1.0, 10.0))


@dataclass(frozen=True)
class Scaled:
    """Rows about their mean, in units of their spread, for the local models alone; or as they are.

    So neither their origin nor a common unit decides how strong a C is, and biases are as free as
    slopes. Weights are in units of their mean.
    """

    scaling: RowScaling | None = None

    def weight(self, weight):
        return weight if self.scaling is None else weight / weight.mean()

    def rows(self, X):
        if self.scaling is None:
            return X
        X = X if issparse(X) else X - self.scaling.center.astype(X.dtype)
        return X * X.dtype.type(1.0 / self.scaling.scale)

    def predictor(self, gate, weights, biases):
        """Of rows as they are, with slopes (n_models, n_features, n_outputs), maybe of none."""
        if self.scaling is None or weights.shape[1] == 0:
            return LocallyLinear(gate, weights, biases)
        slopes = weights.astype(np.float64) / self.scaling.scale
        center = self.scaling.center.astype(weights.dtype).astype(np.float64)
        moved = biases - np.einsum("mdo,d->mo", slopes, center)
        return LocallyLinear(gate, slopes.astype(weights.dtype), moved.astype(biases.dtype))


@dataclass(frozen=True)
class Solved:
    """Local models that were found, and what certifies them."""

    predictor: LocallyLinear
    solution: object
    certified: list


def learn_local(model, rows, settings, solve: Callable):
    """``solve(model, rows, scaled)`` with what the user has set, or what held-out rows find best.

    The parameter that ``model._searched`` names has the number of local models; "auto" leaves it
    open.
    """
    setting, tried, scaled = _setting(model, rows, settings, solve)
    found = solve(_with(model, setting), rows, scaled)
    warn_if_loose(found.certified, model.tol, type(model).__name__)
    solution = found.solution
    figures = {"objective": float(solution.objective), "gap": float(solution.gap)}
    Teller(model)(f"epoch {solution.n_iter}", figures)
    attributes = {"duality_gap_": solution.gap, "n_iter_": solution.n_iter}
    setting = replace(setting, n_models=len(found.predictor.biases))
    return Learned(found.predictor, attributes | _told(setting, tried))


def usual(model, loss="hinge"):
    """The model with what it has where rows come in parts: nothing is searched there."""
    return _with(model, LocalSetting(getattr(model, model._searched), 1.0, loss))


def chosen_before(model):
    """What stays true of a model that goes on with more rows."""
    return {name: value for name, value in vars(model).items() if name in _CHOSEN}


def _setting(model, rows, settings, solve):
    """The setting, what was tried for it, and the scale of rows that it is relative to."""
    number = getattr(model, model._searched)
    if number != "auto":
        setting = LocalSetting(number, 1.0)
        return replace(setting, **given(model, "C", "loss")), [], Scaled()
    scaled = Scaled() if model.C != "auto" else Scaled(RowScaling.of(rows.X, rows.weight))
    loss = "hinge" if are_many(rows) else "log_loss"
    settings = [replace(one, loss=loss) for one in settings]
    settings = [replace(one, **given(model, "C", "loss")) for one in settings]
    rng = check_random_state(model.random_state)
    sample = searched_rows(rows, rng)
    settings = _affordable(list(dict.fromkeys(settings)), sample)
    if sample is not rows:  # all rows bear more than a sample: of about equal ones the fullest
        settings = settings[::-1]

    def losses(train, held_out, setting, seed):
        quick = {"tol": _SEARCH_TOL, "max_iter": min(model.max_iter, _STEPS)}
        one = _with(model, setting, random_state=seed, **quick)
        scores = solve(one, train, scaled).predictor(held_out.X, model.n_jobs)
        if setting.loss != "log_loss":  # hinges grow with scores, and punish full models
            return errors(scores, held_out.targets)
        return LOSSES[setting.loss].value(scores, held_out.targets)

    setting, tried = choose_setting(sample, settings, losses, rng)
    tell_verdicts(Teller(model), tried)
    return setting, tried, scaled


def _with(model, setting, **parameters):
    """The model with other parameters; what it has learned comes along."""
    one = copy(model)
    found = {model._searched: setting.n_models, "C": setting.C, "loss": setting.loss}
    vars(one).update(found | given(model, "C", "loss") | parameters)
    return one


def _affordable(settings, rows):
    """Those with rows and memory enough, the first in any case."""
    n_rows, n_features = rows.X.shape
    most = min(n_rows // _ROWS_A_MODEL, _MOST_NUMBERS // ((n_features + 1) * rows.targets.shape[1]))
    found = [one for one in settings if one.n_models <= most]
    fewest = min(settings[0].n_models, max(1, n_rows // 2))
    return found or [replace(settings[0], n_models=fewest)]


def _told(setting, tried):
    return dict(zip(_CHOSEN, (setting, tried, setting.loss), strict=True))
